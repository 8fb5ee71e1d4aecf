/* ftp_client with io_uring: replies by multishot recv; socket, connect, RETR, data are one chain.
 *
 * usage: uring_ftp_client PORT NAME CONNECTIONS SECONDS
 */
#include "uring.h"

enum { EPSV = 1, FILE_SENT = 2, FILE_SAID = 4, MOST_DATA = 1 << 24 };
struct user {
    int control, data, state;
    struct sockaddr_in to;
};
static struct user all[MOST];
static char retrieve[ROOM];
static unsigned long done;

/* A connection on which somebody is logged in. */
static int greeted(int port) {
    static const char *const LINES[] = {"", "USER anonymous\r\n", "PASS x\r\n", "TYPE I\r\n"};
    static char room[ROOM];
    int fd = dialled(port);
    undelayed(fd);
    for (int i = 0; i < 4; i++) {
        if (i > 0) say(fd, LINES[i], strlen(LINES[i]));
        ssize_t got = recv(fd, room, ROOM, 0);
        if (got < 5 || strchr("23", room[0]) == NULL || room[got - 1] != '\n') refuse("reply");
    }
    return fd;
}

static void begin(struct user *one) {
    one->state = EPSV;
    ask_send(one->control, "EPSV\r\n", 6, 0);
}

/* Data are thrown away unseen, and told of once: at their end. */
static void fetch(struct user *one, int port) {
    one->to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    one->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    one->state = 0;
    ask_connection(one->data, &one->to);
    ask_send(one->control, retrieve, strlen(retrieve), IOSQE_IO_LINK);
    ask_whole(one->data, NULL, MOST_DATA, MSG_TRUNC, &one->data);
}

/* 229: opens the data connection and asks for the file. Otherwise 150 and 226, apart or at once. */
static void told(struct user *one, char *words, int length) {
    if (length < 5 || strchr("12", words[0]) == NULL || words[length - 1] != '\n') refuse("reply");
    words[length] = 0;
    char *at = strstr(words, "|||");
    if (one->state == EPSV && at == NULL) refuse("EPSV");
    if (one->state == EPSV) fetch(one, atoi(at + 3));
    else if (words[0] == '2' || strstr(words, "\n226")) one->state |= FILE_SAID;
}

static void heard(answer *it) {
    int *which = (int *)(uintptr_t)it->user_data;
    struct user *one = &all[*which / 2];
    if (which == &one->control) {
        unsigned id = it->flags >> IORING_CQE_BUFFER_SHIFT;
        told(one, buffers + (size_t)id * BUFFER, it->res);
        lend(id);
        if (!(it->flags & IORING_CQE_F_MORE)) ask_all(*which, which);
    } else {
        ask_close(*which, 0);
        one->state |= FILE_SENT;
    }
    if (one->state != (FILE_SENT | FILE_SAID)) return;
    done++;
    begin(one);
}

int main(int count, char **words) {
    static int files[2 * MOST];
    int users = count == 5 ? atoi(words[3]) : 0;
    if (users < 1 || users > MOST) return fputs("PORT NAME CONNECTIONS SECONDS\n", stderr), 2;
    snprintf(retrieve, ROOM, "RETR %s\r\n", words[2]);
    for (int i = 0; i < users; i++) {
        all[i].control = 2 * i, all[i].data = 2 * i + 1;
        files[2 * i] = greeted(atoi(words[1])), files[2 * i + 1] = NO_FILE;
    }
    open_ring(files, 2 * (unsigned)users);
    double begun = now(), end = begun + atof(words[4]), last = begun;
    for (int i = 0; i < users; i++) {
        ask_all(all[i].control, &all[i].control);
        begin(&all[i]);
    }
    for (; last < end; last = now()) wait_and(heard);
    printf("%lu files in %.6f s\n", done, last - begun);
    return 0;
}
