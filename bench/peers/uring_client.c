/* epoll_client with a ring of io_uring in the place of epoll_wait, recv and send.
 *
 * usage: uring_client PORT CONNECTIONS SECONDS
 *
 * Each connection has one multishot recv for good. Requests that follow what one wait brought leave
 * together with the next one: one system call for all of them.
 */
#include "uring.h"

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
struct connection {
    int file;
    size_t left;
};
static size_t length;
static unsigned long done;

static void ask(struct connection *one) {
    one->left = length;
    ask_send(one->file, REQUEST, sizeof REQUEST - 1, 0);
}

static void heard(answer *it) {
    struct connection *one = (struct connection *)(uintptr_t)it->user_data;
    if (it->res == 0 || (size_t)it->res > one->left) refuse("recv");
    lend(it->flags >> IORING_CQE_BUFFER_SHIFT);
    if (!(it->flags & IORING_CQE_F_MORE)) ask_all(one->file, one);
    if ((one->left -= (size_t)it->res) != 0) return;
    done++;
    ask(one);
}

int main(int count, char **words) {
    static struct connection all[MOST];
    static int files[MOST];
    static char room[ROOM];
    int connections = count == 4 ? atoi(words[2]) : 0;
    if (connections < 1 || connections > MOST) return fputs("PORT CONNECTIONS SECONDS\n", stderr), 2;
    for (int i = 0; i < connections; i++) undelayed(files[i] = dialled(atoi(words[1])));
    say(files[0], REQUEST, sizeof REQUEST - 1);
    length = (size_t)recv(files[0], room, ROOM, 0); /* a small reply comes whole */
    if (strncmp(room, "HTTP/1.1 200", 12) != 0) refuse("reply");
    open_ring(files, (unsigned)connections);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (int i = 0; i < connections; i++) {
        ask_all(all[i].file = i, &all[i]);
        ask(&all[i]);
    }
    for (; last < end; last = now()) wait_and(heard);
    printf("%lu requests in %.6f s\n", done, last - begun);
    return 0;
}
