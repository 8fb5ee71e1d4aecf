/* The least a client can do that wants to know how long an answer takes: write, read, two stamps.
 *
 * usage: delay_client PORT SECONDS [poll]
 *
 * One user. The read blocks, so that what it tells holds one wake-up by the kernel (and, on a
 * virtual machine that went idle, by its hypervisor); with `poll` it asks again and again, and holds
 * none. Prints each time in nanoseconds, after the last.
 */
#include "least.h"
#include <errno.h>

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/* Reads until the empty line and the body that arrivals.c always sends with it. */
static void hear(int fd, char *room, int flags) {
    for (size_t have = 0;;) {
        ssize_t got = recv(fd, room + have, ROOM - 1 - have, flags);
        if (got < 0 && errno == EAGAIN) continue;
        if (got <= 0) refuse("read");
        room[have += (size_t)got] = 0;
        if (strstr(room, "\r\n\r\nHello World\n") != NULL) return;
    }
}

int main(int count, char **words) {
    static char room[ROOM];
    static double took[1 << 20];
    if (count < 3) return fputs("PORT SECONDS [poll]\n", stderr), 2;
    int fd = dialled(atoi(words[1])), answers = 0, flags = count > 3 ? MSG_DONTWAIT : 0;
    undelayed(fd);
    for (double begun = now(), last = begun; last < begun + atof(words[2]) && answers < 1 << 20;) {
        double sent = now();
        say(fd, REQUEST, sizeof REQUEST - 1);
        hear(fd, room, flags);
        took[answers++] = (last = now()) - sent;
    }
    for (int i = 0; i < answers; i++) printf("%.0f\n", took[i] * 1e9);
    return 0;
}
