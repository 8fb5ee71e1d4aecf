/* The least a client can do that sends at a rate: it never sleeps, and sends when the clock says so.
 *
 * usage: pace_client PORT CONNECTIONS RATE SECONDS constant|poisson
 *
 * Every instant is fixed before the first request: begun + i / RATE, or with exponential gaps of that
 * mean. Connections take turns. Answers are read, and dropped, while the next instant is far enough
 * away. How even this is at the server is what machine and kernel leave of a perfect schedule.
 */
#include "least.h"
#include <math.h>

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
static const double CLEAR_S = 20e-6; /* longer than a look at the answers takes */

static void drop_answers(int poll) {
    static char room[ROOM];
    struct epoll_event events[MOST];
    int ready = epoll_wait(poll, events, MOST, 0);
    for (int i = 0; i < ready; i++)
        if (recv(*(int *)events[i].data.ptr, room, ROOM, MSG_DONTWAIT) == 0) refuse("read");
}

int main(int count, char **words) {
    static int all[MOST];
    int connections = count == 6 ? atoi(words[2]) : 0, poll = epoll_create1(0);
    if (connections < 1 || connections > MOST)
        return fputs("PORT CONNECTIONS RATE SECONDS constant|poisson\n", stderr), 2;
    for (int i = 0; i < connections; i++) {
        all[i] = dialled(atoi(words[1]));
        undelayed(all[i]);
        watch(poll, all[i], &all[i]);
    }
    double gap = 1 / atof(words[3]), begun = now(), due = begun, end = begun + atof(words[4]);
    int poisson = strcmp(words[5], "poisson") == 0;
    unsigned long requests = 0;
    while (due < end) {
        for (double left; (left = due - now()) > 0;)
            if (left > CLEAR_S) drop_answers(poll);
        say(all[requests++ % (unsigned)connections], REQUEST, sizeof REQUEST - 1);
        due = poisson ? due - gap * log(1 - drand48()) : begun + (double)requests * gap;
    }
    while (now() < end + 0.2) drop_answers(poll);
    printf("%lu requests in %.6f s\n", requests, now() - begun);
    return 0;
}
