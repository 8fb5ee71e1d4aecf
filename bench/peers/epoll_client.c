/* The least an HTTP/1.1 client can do: 64 connections, one epoll, write, read, look for the end.
 *
 * usage: epoll_client PORT CONNECTIONS SECONDS
 *
 * It learns the length of a reply from the first one and then only counts bytes: no latency, no
 * status beyond the first. What the kernel charges for this is what the sockets alone cost.
 */
#include "least.h"

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
struct connection {
    int fd;
    size_t left;
};

static void ask(int fd) { say(fd, REQUEST, sizeof REQUEST - 1); }

/* Bytes of a whole reply: its head, and the body that Content-Length tells. */
static size_t reply_length(int fd, char *room) {
    size_t have = 0;
    for (;;) {
        ssize_t got = recv(fd, room + have, ROOM - 1 - have, 0);
        if (got <= 0) refuse("read");
        room[have += (size_t)got] = 0;
        char *end = strstr(room, "\r\n\r\n"), *length = strcasestr(room, "content-length:");
        if (end == NULL) continue;
        if (length == NULL || strncmp(room, "HTTP/1.1 200", 12) != 0) refuse("reply");
        size_t whole = (size_t)(end + 4 - room) + strtoul(length + 15, NULL, 10);
        while (have < whole && (got = recv(fd, room, ROOM, 0)) > 0) have += (size_t)got;
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
    for (int i = 0; i < connections; i++) {
        all[i].fd = dialled(atoi(words[1]));
        undelayed(all[i].fd);
    }
    ask(all[0].fd);
    size_t length = reply_length(all[0].fd, room);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (int i = 0; i < connections; i++) {
        watch(poll, all[i].fd, &all[i]);
        all[i].left = length;
        ask(all[i].fd);
    }
    for (; last < end; last = now()) {
        int ready = epoll_wait(poll, events, MOST, 100);
        for (int i = 0; i < ready; i++) {
            struct connection *one = events[i].data.ptr;
            ssize_t got = recv(one->fd, room, ROOM, 0);
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
