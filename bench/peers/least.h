/* What the minimal clients share: a clock, a loud end, a connection.
 *
 * They do what a protocol cannot be spoken without, and nothing else: no latency, no timeouts, no
 * errors but the end. What the kernel charges for them is the floor below every client of an epoll.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, ROOM = 65536 };

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void refuse(const char *what) {
    perror(what);
    exit(1);
}

/* A blocking connection: over the loopback interface it is there when the call returns. */
static inline int dialled(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) refuse("connect");
    return fd;
}

static inline void undelayed(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static inline void say(int fd, const char *words, size_t length) {
    if (send(fd, words, length, MSG_NOSIGNAL) != (ssize_t)length) refuse("send");
}

static inline void watch(int poll, int fd, void *whose) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = whose};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) refuse("epoll_ctl");
}
