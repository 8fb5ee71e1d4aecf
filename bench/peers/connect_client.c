/* The least an HTTP client can do that opens a connection for each request: seven calls.
 *
 * usage: connect_client PORT CONNECTIONS SECONDS
 *
 * It learns the length of a reply from the first one and then only counts bytes. The server closes.
 */
#include "least.h"

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
struct connection {
    int fd;
    size_t left;
};

static void ask(struct connection *one, int poll, int port, size_t length) {
    one->fd = dialled(port);
    one->left = length;
    say(one->fd, REQUEST, sizeof REQUEST - 1);
    watch(poll, one->fd, one);
}

static size_t reply_length(int port, char *room) {
    int fd = dialled(port);
    size_t length = 0;
    ssize_t got;
    say(fd, REQUEST, sizeof REQUEST - 1);
    while ((got = recv(fd, room, ROOM, 0)) > 0) {
        if (length == 0 && strncmp(room, "HTTP/1.1 200", 12) != 0) refuse("reply");
        length += (size_t)got;
    }
    close(fd);
    return length;
}

int main(int count, char **words) {
    static struct connection all[MOST];
    static char room[ROOM];
    struct epoll_event events[MOST];
    int connections = count == 4 ? atoi(words[2]) : 0, poll = epoll_create1(0);
    unsigned long requests = 0;
    if (connections < 1 || connections > MOST) return fputs("PORT CONNECTIONS SECONDS\n", stderr), 2;
    int port = atoi(words[1]);
    size_t length = reply_length(port, room);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (int i = 0; i < connections; i++) ask(&all[i], poll, port, length);
    for (; last < end; last = now()) {
        int ready = epoll_wait(poll, events, MOST, 100);
        for (int i = 0; i < ready; i++) {
            struct connection *one = events[i].data.ptr;
            ssize_t got = recv(one->fd, room, ROOM, 0);
            if (got <= 0 || (size_t)got > one->left) refuse("read");
            if ((one->left -= (size_t)got) != 0) continue;
            requests++;
            close(one->fd);
            ask(one, poll, port, length);
        }
    }
    printf("%lu requests in %.6f s\n", requests, last - begun);
    return 0;
}
