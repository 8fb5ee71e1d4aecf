/* The least an FTP client can do for a file: EPSV, a connection, RETR, its bytes, two replies.
 *
 * usage: ftp_client PORT NAME CONNECTIONS SECONDS
 */
#include "least.h"

enum { EPSV = 1, FILE_SENT = 2, FILE_SAID = 4 };
struct channel {
    int fd;
    struct user *of;
};
struct user {
    struct channel control, data;
    int state;
};
static char room[ROOM], retrieve[ROOM];
static int poll_fd;

/* A whole reply, or several; refused unless it begins with one of the digits wanted. */
static char *hear(int fd, const char *wanted) {
    ssize_t got = recv(fd, room, ROOM - 1, 0);
    if (got < 5 || strchr(wanted, room[0]) == NULL || room[got - 1] != '\n') refuse("reply");
    room[got] = 0;
    return room;
}

static void greet(struct user *one, int port) {
    one->control = (struct channel){dialled(port), one};
    one->data = (struct channel){-1, one};
    undelayed(one->control.fd);
    hear(one->control.fd, "2");
    say(one->control.fd, "USER anonymous\r\n", 16);
    if (hear(one->control.fd, "23")[0] == '3') {
        say(one->control.fd, "PASS x\r\n", 8);
        hear(one->control.fd, "2");
    }
    say(one->control.fd, "TYPE I\r\n", 8);
    hear(one->control.fd, "2");
    watch(poll_fd, one->control.fd, &one->control);
}

static void begin(struct user *one) {
    one->state = EPSV;
    say(one->control.fd, "EPSV\r\n", 6);
}

/* 229: opens the data connection and asks for the file. Otherwise 150 and 226, apart or at once. */
static void told(struct user *one) {
    if (one->state == EPSV) {
        char *at = strstr(hear(one->control.fd, "2"), "|||");
        if (at == NULL) refuse("EPSV");
        one->data.fd = dialled(atoi(at + 3));
        one->state = 0;
        say(one->control.fd, retrieve, strlen(retrieve));
        watch(poll_fd, one->data.fd, &one->data);
        return;
    }
    hear(one->control.fd, "12");
    if (room[0] == '2' || strstr(room, "\n226")) one->state |= FILE_SAID;
}

/* Bytes are thrown away unseen; the event tells whether the end is behind them. */
static void taken(struct user *one, unsigned events) {
    ssize_t got = recv(one->data.fd, NULL, 1 << 24, MSG_TRUNC);
    if (got < 0) refuse("data");
    if (got > 0 && !(events & EPOLLRDHUP)) return;
    close(one->data.fd);
    one->state |= FILE_SENT;
}

int main(int count, char **words) {
    static struct user all[MOST];
    struct epoll_event events[MOST];
    int users = count == 5 ? atoi(words[3]) : 0;
    unsigned long files = 0;
    if (users < 1 || users > MOST) return fputs("PORT NAME CONNECTIONS SECONDS\n", stderr), 2;
    poll_fd = epoll_create1(0);
    snprintf(retrieve, ROOM, "RETR %s\r\n", words[2]);
    for (int i = 0; i < users; i++) greet(&all[i], atoi(words[1]));
    double begun = now(), end = begun + atof(words[4]), last = begun;
    for (int i = 0; i < users; i++) begin(&all[i]);
    for (; last < end; last = now()) {
        int ready = epoll_wait(poll_fd, events, MOST, 100);
        for (int i = 0; i < ready; i++) {
            struct channel *which = events[i].data.ptr;
            struct user *one = which->of;
            if (which == &one->control) told(one);
            else taken(one, events[i].events);
            if (one->state != (FILE_SENT | FILE_SAID)) continue;
            files++;
            begin(one);
        }
    }
    printf("%lu files in %.6f s\n", files, last - begun);
    return 0;
}
