/* The least an HTTP/1.1 client can do: 64 connections, one epoll, write, read, look for the end.
 *
 * usage: epoll_client PORT CONNECTIONS SECONDS
 *
 * It learns the length of a reply from the first one and then only counts bytes: no latency, no
 * status beyond the first. What the kernel charges for this is what the sockets alone cost.
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

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
enum { MOST = 1024, ROOM = 65536 };
struct connection {
    int fd;
    size_t left;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void refuse(const char *what) {
    perror(what);
    exit(1);
}

static int dialled(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) refuse("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void ask(int fd) {
    if (write(fd, REQUEST, sizeof REQUEST - 1) != sizeof REQUEST - 1) refuse("write");
}

/* Bytes of a whole reply: its head, and the body that Content-Length tells. */
static size_t reply_length(int fd, char *room) {
    size_t have = 0;
    for (;;) {
        ssize_t got = read(fd, room + have, ROOM - 1 - have);
        if (got <= 0) refuse("read");
        room[have += (size_t)got] = 0;
        char *end = strstr(room, "\r\n\r\n"), *length = strcasestr(room, "content-length:");
        if (end == NULL) continue;
        if (length == NULL || strncmp(room, "HTTP/1.1 200", 12) != 0) refuse("reply");
        size_t whole = (size_t)(end + 4 - room) + strtoul(length + 15, NULL, 10);
        while (have < whole && (got = read(fd, room, ROOM)) > 0) have += (size_t)got;
        if (have != whole) refuse("reply");
        return whole;
    }
}

int main(int count, char **words) {
    static struct connection all[MOST];
    static char room[ROOM];
    struct epoll_event events[MOST];
    int connections = count == 4 ? atoi(words[2]) : 0, poll = epoll_create1(0);
    unsigned long requests = 0;
    if (connections < 1 || connections > MOST) return fputs("PORT CONNECTIONS SECONDS\n", stderr), 2;
    for (int i = 0; i < connections; i++) all[i].fd = dialled(atoi(words[1]));
    ask(all[0].fd);
    size_t length = reply_length(all[0].fd, room);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (int i = 0; i < connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event);
        all[i].left = length;
        ask(all[i].fd);
    }
    for (; last < end; last = now()) {
        int ready = epoll_wait(poll, events, MOST, 100);
        for (int i = 0; i < ready; i++) {
            struct connection *one = events[i].data.ptr;
            ssize_t got = read(one->fd, room, ROOM);
            if (got <= 0 || (size_t)got > one->left) refuse("read");
            if ((one->left -= (size_t)got) != 0) continue;
            requests++;
            one->left = length;
            ask(one->fd);
        }
    }
    printf("%lu requests in %.6f s\n", requests, last - begun);
    return 0;
}
