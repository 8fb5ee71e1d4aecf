/* The least an SMTP client in lockstep can do: a write and a read for each command.
 *
 * usage: smtp_client PORT SESSIONS SECONDS BYTES
 */
#include "least.h"

static const char *const SAYS[] = {"MAIL FROM:<sender@steelyard.test>\r\n",
                                   "RCPT TO:<user1@steelyard.test>\r\n", "DATA\r\n"};
enum { MAIL, RCPT, DATA, CONTENT };
struct session {
    int fd, awaits;
};

/* A reply of one line that says yes. */
static void hear(int fd, char *room, char wanted) {
    ssize_t got = recv(fd, room, ROOM, 0);
    if (got < 5 || room[0] != wanted || room[3] != ' ' || room[got - 1] != '\n') refuse("reply");
}

/* So many bytes in lines, and the dot. */
static char *content(size_t bytes) {
    char *text = malloc(bytes + 6);
    if (text == NULL) refuse("malloc");
    for (size_t at = 0; at < bytes; at++) text[at] = at % 72 == 70 ? '\r' : at % 72 == 71 ? '\n' : 'x';
    memcpy(text + bytes, "\r\n.\r\n", 6);
    return text;
}

static void greet(struct session *one, int port, char *room) {
    one->fd = dialled(port);
    undelayed(one->fd);
    hear(one->fd, room, '2');
    say(one->fd, "HELO steelyard.test\r\n", 21);
    hear(one->fd, room, '2');
}

int main(int count, char **words) {
    static struct session all[MOST];
    static char room[ROOM];
    struct epoll_event events[MOST];
    int sessions = count == 5 ? atoi(words[2]) : 0, poll = epoll_create1(0);
    if (sessions < 1 || sessions > MOST) return fputs("PORT SESSIONS SECONDS BYTES\n", stderr), 2;
    char *text = content(strtoul(words[4], NULL, 10));
    size_t text_length = strlen(text), lengths[3];
    unsigned long messages = 0;
    for (int i = 0; i < 3; i++) lengths[i] = strlen(SAYS[i]);
    for (int i = 0; i < sessions; i++) {
        greet(&all[i], atoi(words[1]), room);
        watch(poll, all[i].fd, &all[i]);
        all[i].awaits = MAIL;
        say(all[i].fd, SAYS[MAIL], lengths[MAIL]);
    }
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (; last < end; last = now()) {
        int ready = epoll_wait(poll, events, MOST, 100);
        for (int i = 0; i < ready; i++) {
            struct session *one = events[i].data.ptr;
            hear(one->fd, room, one->awaits == DATA ? '3' : '2');
            messages += one->awaits == CONTENT;
            one->awaits = (one->awaits + 1) % 4;
            if (one->awaits == CONTENT) say(one->fd, text, text_length);
            else say(one->fd, SAYS[one->awaits], lengths[one->awaits]);
        }
    }
    printf("%lu messages in %.6f s\n", messages, last - begun);
    return 0;
}
