/* A ring of io_uring by its three system calls: what the minimal clients that use one share.
 *
 * One thread submits and takes (SINGLE_ISSUER), and the kernel works for it only within its own wait
 * (DEFER_TASKRUN). Sockets and the ring itself are registered; what is received lands in buffers
 * that were lent before; a send, connect or close that succeeds makes no completion.
 */
#include "least.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { ENTRIES = 4096, BUFFERS = 1024, BUFFER = 4096, NO_FILE = -1 };
typedef struct io_uring_sqe request;
typedef const struct io_uring_cqe answer;

static int ring;
static unsigned *sq_tail, sq_mask, filled, submitted, *cq_head, *cq_tail, cq_mask;
static request *requests;
static answer *answers;
static struct io_uring_buf_ring *lent;
static uint16_t lent_tail;
static char *buffers;

static inline void enrol(int fd, unsigned what, void *with, unsigned count) {
    if (syscall(SYS_io_uring_register, fd, what, with, count) < 0) refuse("io_uring_register");
}

static inline void *mapped(size_t bytes, int fd, off_t at) {
    int how = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
    void *where = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, fd, at);
    if (where == MAP_FAILED) refuse("mmap");
    return where;
}

/* Lends a buffer to the kernel, which may fill all of it but the last byte. */
static inline void lend(unsigned id) {
    struct io_uring_buf *one = &lent->bufs[lent_tail & (BUFFERS - 1)];
    one->addr = (uintptr_t)(buffers + (size_t)id * BUFFER);
    one->len = BUFFER - 1;
    one->bid = (uint16_t)id;
    __atomic_store_n(&lent->tail, ++lent_tail, __ATOMIC_RELEASE);
}

/* The ring and its table of sockets: descriptors, or NO_FILE for a place that is filled later. */
static inline void open_ring(int *files, unsigned count) {
    struct io_uring_params is = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    int fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &is);
    if (fd < 0) refuse("io_uring_setup");
    size_t asks = is.sq_off.array + is.sq_entries * sizeof(unsigned);
    size_t tells = is.cq_off.cqes + is.cq_entries * sizeof(answer);
    char *at = mapped(asks > tells ? asks : tells, fd, IORING_OFF_SQ_RING);
    requests = mapped(is.sq_entries * sizeof(request), fd, IORING_OFF_SQES);
    answers = (answer *)(at + is.cq_off.cqes);
    sq_tail = (unsigned *)(at + is.sq_off.tail), sq_mask = is.sq_entries - 1;
    cq_head = (unsigned *)(at + is.cq_off.head), cq_tail = (unsigned *)(at + is.cq_off.tail);
    cq_mask = is.cq_entries - 1;
    for (unsigned i = 0; i < is.sq_entries; i++) ((unsigned *)(at + is.sq_off.array))[i] = i;
    enrol(fd, IORING_REGISTER_FILES, files, count);
    struct io_uring_rsrc_update own = {.offset = -1U, .data = (unsigned)fd};
    enrol(fd, IORING_REGISTER_RING_FDS, &own, 1);
    ring = (int)own.offset;
    lent = mapped(BUFFERS * sizeof(struct io_uring_buf), NO_FILE, 0);
    buffers = mapped((size_t)BUFFERS * BUFFER, NO_FILE, 0);
    struct io_uring_buf_reg group = {.ring_addr = (uintptr_t)lent, .ring_entries = BUFFERS};
    enrol(fd, IORING_REGISTER_PBUF_RING, &group, 1);
    for (unsigned id = 0; id < BUFFERS; id++) lend(id);
}

/* A request that leaves with the next wait; there is always room. */
static inline request *asked(uint8_t what, int file, unsigned flags, void *whose) {
    request *one = &requests[filled++ & sq_mask];
    *one = (request){.opcode = what, .fd = file, .flags = (uint8_t)flags};
    one->user_data = (uintptr_t)whose;
    return one;
}

static inline void ask_send(int file, const char *words, size_t length, unsigned flags) {
    flags |= IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
    request *one = asked(IORING_OP_SEND, file, flags, NULL);
    one->addr = (uintptr_t)words, one->len = (unsigned)length, one->msg_flags = MSG_NOSIGNAL;
}

/* Everything that comes, in lent buffers, until an answer says that no more will. */
static inline void ask_all(int file, void *whose) {
    unsigned flags = IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    asked(IORING_OP_RECV, file, flags, whose)->ioprio = IORING_RECV_MULTISHOT;
}

/* One answer when `length` bytes are there, or the end. */
static inline void ask_whole(int file, void *room, size_t length, int how, void *whose) {
    request *one = asked(IORING_OP_RECV, file, IOSQE_FIXED_FILE, whose);
    one->addr = (uintptr_t)room, one->len = (unsigned)length, one->msg_flags = MSG_WAITALL | how;
}

/* The first links of a chain: a socket in a place of the table, and its connection. */
static inline void ask_connection(int file, const struct sockaddr_in *to) {
    unsigned flags = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
    request *one = asked(IORING_OP_SOCKET, AF_INET, flags, NULL);
    one->off = SOCK_STREAM, one->file_index = (unsigned)file + 1;
    one = asked(IORING_OP_CONNECT, file, flags | IOSQE_FIXED_FILE, NULL);
    one->addr = (uintptr_t)to, one->off = sizeof *to;
}

static inline void ask_close(int file, unsigned flags) {
    flags |= IOSQE_CQE_SKIP_SUCCESS;
    asked(IORING_OP_CLOSE, 0, flags, NULL)->file_index = (unsigned)file + 1;
}

/* Sends what was asked off, waits for an answer, and gives all that are there to `take`. */
static inline void wait_and(void (*take)(answer *)) {
    const unsigned how = IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING;
    __atomic_store_n(sq_tail, filled, __ATOMIC_RELEASE);
    long count = syscall(SYS_io_uring_enter, ring, filled - submitted, 1, how, NULL, 0);
    if (count < 0) refuse("io_uring_enter");
    submitted += (unsigned)count;
    unsigned head = *cq_head, tail = __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE);
    for (; head != tail; head++) {
        answer *one = &answers[head & cq_mask];
        errno = one->res < 0 ? -one->res : 0;
        if (errno != 0) refuse("io_uring");
        take(one);
    }
    __atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
}
