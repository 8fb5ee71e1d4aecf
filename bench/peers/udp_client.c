/* The least two ends of UDP can do: datagrams out by the batch, in by the batch, counted.
 *
 * usage: udp_client CORE BYTES SECONDS
 *
 * The receiving end is a process of its own on core CORE. What it counts is told.
 */
#include "least.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

enum { BATCH = 64, LONGEST = 1500 };
static struct mmsghdr heads[BATCH];
static struct iovec pieces[BATCH];
static char bytes[BATCH][LONGEST];

static void prepare(size_t length) {
    for (int i = 0; i < BATCH; i++) {
        pieces[i] = (struct iovec){bytes[i], length};
        heads[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    }
}

static int bound(struct sockaddr_in *at) {
    socklen_t length = sizeof *at;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)at, length) != 0) refuse("bind");
    if (getsockname(fd, (struct sockaddr *)at, &length) != 0) refuse("getsockname");
    return fd;
}

/* Until half a second passes without a datagram. */
static void count(int fd, int core, int result) {
    struct timeval quiet = {.tv_usec = 500000};
    int room = 8 << 20;
    unsigned long arrived = 0;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
    for (int got; (got = recvmmsg(fd, heads, BATCH, MSG_WAITFORONE, NULL)) > 0;) arrived += (unsigned)got;
    if (write(result, &arrived, sizeof arrived) != sizeof arrived) _exit(1);
    _exit(0);
}

int main(int words_count, char **words) {
    struct sockaddr_in at;
    int result[2], status;
    size_t length = words_count == 4 ? strtoul(words[2], NULL, 10) : 0;
    if (length < 1 || length > LONGEST) return fputs("CORE BYTES SECONDS\n", stderr), 2;
    prepare(length);
    int in = bound(&at), out = socket(AF_INET, SOCK_DGRAM, 0);
    if (pipe(result) != 0 || connect(out, (struct sockaddr *)&at, sizeof at) != 0) refuse("connect");
    pid_t child = fork();
    if (child == 0) count(in, atoi(words[1]), result[1]);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (; last < end; last = now())
        if (sendmmsg(out, heads, BATCH, 0) < 0) refuse("sendmmsg");
    unsigned long arrived = 0;
    if (read(result[0], &arrived, sizeof arrived) != sizeof arrived) refuse("result");
    waitpid(child, &status, 0);
    printf("%lu datagrams in %.6f s\n", arrived, last - begun);
    return status;
}
