/* connect_client with io_uring: close, socket, connect, send, recv of a request are one chain.
 *
 * usage: uring_connect_client PORT CONNECTIONS SECONDS
 *
 * Sockets live in the table of the ring only and are never descriptors of the process.
 */
#include "uring.h"

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
struct connection {
    int file;
    char reply[BUFFER];
};
static struct sockaddr_in to = {.sin_family = AF_INET};
static size_t length;
static unsigned long done;

static void ask(struct connection *one) {
    ask_connection(one->file, &to);
    ask_send(one->file, REQUEST, sizeof REQUEST - 1, IOSQE_IO_LINK);
    ask_whole(one->file, one->reply, length, 0, one);
}

static void heard(answer *it) {
    struct connection *one = (struct connection *)(uintptr_t)it->user_data;
    if ((size_t)it->res != length) refuse("recv");
    done++;
    ask_close(one->file, IOSQE_IO_LINK);
    ask(one);
}

int main(int count, char **words) {
    static struct connection all[MOST];
    static int files[MOST];
    int connections = count == 4 ? atoi(words[2]) : 0;
    if (connections < 1 || connections > MOST) return fputs("PORT CONNECTIONS SECONDS\n", stderr), 2;
    to.sin_port = htons((unsigned short)atoi(words[1]));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int first = dialled(atoi(words[1]));
    say(first, REQUEST, sizeof REQUEST - 1);
    length = (size_t)recv(first, all[0].reply, BUFFER, MSG_WAITALL);
    if (strncmp(all[0].reply, "HTTP/1.1 200", 12) != 0 || length == BUFFER) refuse("reply");
    close(first);
    for (int i = 0; i < connections; i++) files[all[i].file = i] = NO_FILE;
    open_ring(files, (unsigned)connections);
    double begun = now(), end = begun + atof(words[3]), last = begun;
    for (int i = 0; i < connections; i++) ask(&all[i]);
    for (; last < end; last = now()) wait_and(heard);
    printf("%lu requests in %.6f s\n", done, last - begun);
    return 0;
}
