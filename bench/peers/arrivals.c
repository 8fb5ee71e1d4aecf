/* An HTTP/1.1 server that does nothing but write down when each request came.
 *
 * One thread, one epoll. Each request is stamped with CLOCK_MONOTONIC right after the read that
 * brought its last byte, and answered at that stamp plus a fixed delay. Stamps of arrival and answer
 * are written at SIGTERM: pairs of 64-bit integers, or with -c one count for each second.
 *
 * With -s it never sleeps: what it stamps and delays is then exact to the length of a system call,
 * unless its core is taken away. Pauses between two turns of the loop above 20 us are added up and
 * told at the end, for the reader to know.
 *
 * Requests must have no body. Build: cc -O2 -o arrivals arrivals.c
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FDS = 65536, EVENTS = 256, REPLIES = 64, MOST_STAMPS = 1 << 26, QUEUE = 1 << 20 };

static const char REPLY[] = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"
                            "Content-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World\n";
enum { REPLY_BYTES = sizeof REPLY - 1 };

struct connection {
    uint64_t owed;       /* bytes of replies that still have to be sent */
    uint32_t sent;       /* bytes of the reply under way that were sent already */
    uint32_t generation; /* so that a reply which was delayed never reaches a successor */
    uint8_t matched;     /* how much of CR LF CR LF was seen */
    uint8_t waits;       /* for room in the send buffer */
};
struct stamp { int64_t read_ns, reply_ns; };
struct due { int64_t at_ns; int fd; uint32_t generation; uint64_t stamp; };

static struct connection connections[MOST_FDS];
static struct due queue[QUEUE];
static uint64_t queue_head, queue_tail;
static struct stamp *stamps;
static uint64_t requests, accepted;
static int64_t *counts, first_ns;
static char replies[REPLIES * (sizeof REPLY - 1)];
static int64_t delay_ns;
static int poller, counting, spinning;
static volatile sig_atomic_t ended;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void on_end(int signal) { (void)signal; ended = 1; }

static void watch(int fd, uint32_t events, int how)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(poller, how, fd, &event) < 0) die("epoll_ctl");
}

static void drop(int fd)
{
    connections[fd].generation++;
    close(fd);
}

/* Sends what is owed; replies follow each other without a gap, so one buffer of many serves. */
static void send_owed(int fd)
{
    struct connection *c = &connections[fd];
    while (c->owed > 0) {
        uint64_t room = sizeof replies - c->sent;
        ssize_t n = send(fd, replies + c->sent, c->owed < room ? c->owed : room, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            if (!c->waits) watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            c->waits = 1;
            return;
        }
        if (n < 0) { drop(fd); return; }
        c->owed -= n;
        c->sent = (c->sent + n) % REPLY_BYTES;
    }
    if (c->waits) watch(fd, EPOLLIN, EPOLL_CTL_MOD);
    c->waits = 0;
}

static void note(int64_t read_ns)
{
    if (requests >= MOST_STAMPS && !counting) { fputs("arrivals: too many requests\n", stderr); exit(1); }
    if (first_ns == 0) first_ns = read_ns;
    if (counting) counts[(read_ns - first_ns) / 1000000000 % MOST_STAMPS]++;
    else stamps[requests].read_ns = read_ns;
    requests++;
}

static void answer_later(int fd, int64_t read_ns)
{
    if (queue_tail - queue_head == QUEUE) { fputs("arrivals: too many at once\n", stderr); exit(1); }
    queue[queue_tail++ % QUEUE] =
        (struct due){read_ns + delay_ns, fd, connections[fd].generation, requests - 1};
}

static void read_requests(int fd)
{
    static char bytes[65536];
    static const char END[] = "\r\n\r\n";
    struct connection *c = &connections[fd];
    uint32_t generation = c->generation;
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    int64_t read_ns = now_ns();
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) { drop(fd); return; }
    uint64_t at_once = 0;
    for (ssize_t i = 0; i < n; i++) {
        c->matched = bytes[i] == END[c->matched] ? c->matched + 1 : bytes[i] == '\r';
        if (c->matched < 4) continue;
        c->matched = 0;
        note(read_ns);
        if (delay_ns > 0) answer_later(fd, read_ns);
        else at_once++;
    }
    if (at_once == 0) return;
    c->owed += at_once * REPLY_BYTES;
    if (!counting) {
        int64_t reply_ns = now_ns();
        for (uint64_t i = requests - at_once; i < requests; i++) stamps[i].reply_ns = reply_ns;
    }
    if (generation == c->generation) send_owed(fd);
}

/* Answers what is due; the delay is the same for all, so the queue is in order of time. */
static void answer_due(void)
{
    while (queue_head < queue_tail) {
        struct due *due = &queue[queue_head % QUEUE];
        int64_t now = now_ns();
        if (due->at_ns > now) return;
        queue_head++;
        if (!counting) stamps[due->stamp].reply_ns = now;
        if (due->generation != connections[due->fd].generation) continue;
        connections[due->fd].owed += REPLY_BYTES;
        send_owed(due->fd);
    }
}

static void accept_all(int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
        if (fd < 0) return;
        if (fd >= MOST_FDS) { close(fd); continue; }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        uint32_t generation = connections[fd].generation;
        connections[fd] = (struct connection){.generation = generation};
        watch(fd, EPOLLIN, EPOLL_CTL_ADD);
        accepted++;
    }
}

static int listening(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 4096) < 0)
        die("listen");
    getsockname(fd, (struct sockaddr *)&address, &length);
    printf("127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void *reserve(size_t bytes)
{
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("mmap");
    return place;
}

static int wait_for(struct epoll_event *events, const sigset_t *open)
{
    struct timespec until = {0, 0}, *timeout = &until;
    if (!spinning && queue_head == queue_tail) timeout = NULL;
    else if (!spinning) {
        int64_t left = queue[queue_head % QUEUE].at_ns - now_ns();
        if (left > 0) until = (struct timespec){left / 1000000000, left % 1000000000};
    }
    return epoll_pwait2(poller, events, EVENTS, timeout, open);
}

static void store(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) die(path);
    size_t seconds = 0;
    if (counting) while (seconds < MOST_STAMPS && counts[seconds]) seconds++;
    if (counting) fwrite(counts, sizeof *counts, seconds, file);
    else fwrite(stamps, sizeof *stamps, requests, file);
    if (fclose(file) != 0) die(path);
}

int main(int count, char **words)
{
    const char *path = NULL;
    int option, wrong = 0;
    while ((option = getopt(count, words, "o:d:sc")) != -1) {
        if (option == 'o') path = optarg;
        else if (option == 'd') delay_ns = atoll(optarg);
        else if (option == 's') spinning = 1;
        else if (option == 'c') counting = 1;
        else wrong = 1;
    }
    if (path == NULL || wrong) {
        fputs("usage: arrivals -o FILE [-d DELAY_NS] [-s: never sleep] [-c: counts]\n", stderr);
        return 2;
    }
    for (int i = 0; i < REPLIES; i++) memcpy(replies + i * REPLY_BYTES, REPLY, REPLY_BYTES);
    if (counting) counts = reserve(MOST_STAMPS * sizeof *counts);
    else stamps = reserve(MOST_STAMPS * sizeof *stamps);
    prctl(PR_SET_TIMERSLACK, 1);

    sigset_t closed, open;
    sigemptyset(&closed);
    sigaddset(&closed, SIGTERM);
    /* A wait without timeout never lets a blocked signal in, so one that spins must not block it. */
    sigprocmask(spinning ? SIG_UNBLOCK : SIG_BLOCK, &closed, &open);
    sigdelset(&open, SIGTERM);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_end}, NULL);

    poller = epoll_create1(0);
    int listener = listening();
    watch(listener, EPOLLIN, EPOLL_CTL_ADD);
    struct epoll_event events[EVENTS];
    int64_t lost_ns = 0, longest_ns = 0;
    while (!ended) {
        int64_t before = spinning ? now_ns() : 0;
        int ready = wait_for(events, &open);
        int64_t pause = spinning ? now_ns() - before : 0;
        if (pause > 20000) lost_ns += pause;
        if (pause > longest_ns) longest_ns = pause;
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) accept_all(listener);
            else if (events[i].events & EPOLLOUT) send_owed(fd);
            else read_requests(fd);
        }
        answer_due();
    }
    store(path);
    printf("{\"requests\":%llu,\"connections\":%llu,\"lost_ns\":%lld,\"longest_ns\":%lld}\n",
           (unsigned long long)requests, (unsigned long long)accepted, (long long)lost_ns,
           (long long)longest_ns);
    return 0;
}
