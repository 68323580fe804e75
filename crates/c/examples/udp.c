/*
 * A small UDP sender with congestion control and pacing, and its receiver.
 *
 *   udp receive PORT
 *   udp send PORT BYTES CONTROLLER      (to 127.0.0.1; bbr1, bbr3, cubic or reno)
 *
 * Each packet has a number and carries one chunk; the receiver acknowledges each packet by its number. A lost chunk is
 * sent again in a new packet. A real protocol has authentication, a handshake and acknowledgements of ranges, too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fullpipe.h"

enum { PACKET = 1200, HEADER = 16, CHUNK = PACKET - HEADER, THRESHOLD = 3 };
#define SECOND UINT64_C(1000000000)
/* The longest late wake-up that pacing makes up for. A longer one causes a burst that BBR takes for bandwidth; a shorter one costs rate on a busy machine. */
#define SLACK (SECOND / 1000)
/* The time without an acknowledgement after which the sender gives up. */
#define ACK_TIMEOUT (10 * SECOND)
#define MOST_BYTES UINT64_C(100000000000)

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/*
 * Receives a datagram with the kernel's time of arrival, on the clock of now_ns(). A process that wakes late reads several at once,
 * and BBR would take the time of reading for that of the arrival. Returns the size; 0 if it is longer than `size`, and -1 if there is none.
 */
static ssize_t receive(int socket, void *bytes, size_t size, uint64_t *at) {
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control;
    struct iovec part = {bytes, size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
    *at = now_ns();
    if (count < 0 || message.msg_flags & MSG_TRUNC)
        return count < 0 ? -1 : 0;
    struct cmsghdr *told = CMSG_FIRSTHDR(&message);
    if (told && told->cmsg_level == SOL_SOCKET && told->cmsg_type == SCM_TIMESTAMPNS) {
        struct timespec then, now;
        memcpy(&then, CMSG_DATA(told), sizeof then);
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t age = ((int64_t)now.tv_sec - then.tv_sec) * (int64_t)SECOND + now.tv_nsec - then.tv_nsec;
        /* The time of day may have been set meanwhile. */
        if (age > 0 && age < (int64_t)SECOND)
            *at -= (uint64_t)age;
    }
    return count;
}

/* A packet that was sent. Its index is its number modulo the size of the table. */
enum state { FREE, IN_FLIGHT, LOST };
struct sent {
    struct fullpipe_packet packet;
    uint64_t number, chunk, at;
    enum state state;
};

struct sender {
    int socket;
    struct fullpipe_flow *flow;
    struct sent *table;
    uint64_t size, oldest, next_number;
    /* The chunks to send again, and those that have arrived. */
    uint64_t *again, again_from, again_to;
    unsigned char *arrived;
    uint64_t chunks, next_chunk, arrivals, last_heard;
    /* The retransmission timeout, doubled each time until an acknowledgement arrives (RFC 8961). */
    uint64_t timeout, timed_out_at;
    /* The socket had no room for a packet. */
    int is_full;
    /* The time of the newest event: it never runs backwards. */
    uint64_t now;
    /* A histogram of round-trip times, in steps of 100 us. */
    uint64_t rtts[100000], rtt_count;
};

/* The next chunk to send; `chunks` if none waits. */
static uint64_t next_chunk(struct sender *s) {
    while (s->again_from < s->again_to) {
        uint64_t chunk = s->again[s->again_from % s->size];
        if (!s->arrived[chunk])
            return chunk;
        s->again_from++;
    }
    return s->next_chunk;
}

static void transmit(struct sender *s, uint64_t now) {
    s->is_full = 0;
    for (;;) {
        uint64_t chunk = next_chunk(s);
        if (chunk == s->chunks) {
            fullpipe_on_no_data(s->flow, now);
            return;
        }
        if (s->next_number - s->oldest == s->size || !fullpipe_may_send(s->flow, now, PACKET))
            return;
        unsigned char bytes[PACKET] = {0};
        memcpy(bytes, &s->next_number, 8);
        memcpy(bytes + 8, &chunk, 8);
        if (send(s->socket, bytes, sizeof bytes, MSG_DONTWAIT) < 0) {
            /* It has not left, so it is not reported to the library. */
            if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
                fail("send");
            s->is_full = 1;
            return;
        }
        if (s->again_from < s->again_to)
            s->again_from++;
        else
            s->next_chunk++;
        if (s->oldest == s->next_number) {
            s->timed_out_at = now;
            if (s->timeout == SECOND)
                s->last_heard = now;
        }
        struct sent *sent = &s->table[s->next_number % s->size];
        sent->number = s->next_number++;
        sent->chunk = chunk;
        sent->at = now;
        sent->state = IN_FLIGHT;
        fullpipe_on_sent(s->flow, now, PACKET, &sent->packet);
    }
}

/* Declares lost all packets in flight below `end`. */
static void declare_lost(struct sender *s, uint64_t now, uint64_t end) {
    for (; s->oldest < end; s->oldest++) {
        struct sent *sent = &s->table[s->oldest % s->size];
        if (sent->state != IN_FLIGHT)
            continue;
        sent->state = LOST;
        s->again[s->again_to++ % s->size] = sent->chunk;
        fullpipe_on_lost(s->flow, now, &sent->packet);
    }
}

static void on_ack(struct sender *s, uint64_t now, uint64_t number) {
    struct sent *sent = &s->table[number % s->size];
    if (number >= s->next_number || sent->number != number || sent->state == FREE)
        return;
    if (!s->arrived[sent->chunk]) {
        s->arrived[sent->chunk] = 1;
        s->arrivals++;
    }
    s->last_heard = s->timed_out_at = now;
    s->timeout = SECOND;
    if (sent->state == IN_FLIGHT)
        fullpipe_on_acked(s->flow, now, &sent->packet);
    else
        fullpipe_on_acked_late(s->flow, now, &sent->packet);
    sent->state = FREE;
    uint64_t rtt = (now - sent->at) / 100000;
    s->rtts[rtt < 100000 ? rtt : 99999]++;
    s->rtt_count++;
    if (number + 1 > THRESHOLD)
        declare_lost(s, now, number + 1 - THRESHOLD);
    while (s->oldest < s->next_number && s->table[s->oldest % s->size].state != IN_FLIGHT)
        s->oldest++;
    fullpipe_settle(s->flow, now);
}

static double median_rtt_ms(const struct sender *s) {
    uint64_t seen = 0;
    for (int i = 0; i < 100000; i++)
        if ((seen += s->rtts[i]) * 2 >= s->rtt_count)
            return i / 10.0;
    return 0;
}

static int run_sender(int socket, uint64_t bytes, uint32_t controller) {
    static struct sender s;
    s.socket = socket;
    s.size = 1 << 16;
    s.timeout = SECOND;
    s.chunks = (bytes + CHUNK - 1) / CHUNK;
    s.table = calloc(s.size, sizeof *s.table);
    s.again = calloc(s.size, sizeof *s.again);
    s.arrived = calloc(s.chunks + 1, 1);
    void *memory = malloc(fullpipe_flow_size());
    if (!s.table || !s.again || !s.arrived || !memory)
        fail("memory");
    uint64_t start = now_ns();
    struct fullpipe_config config = {
        .size = sizeof config,
        .controller = controller,
        .now_ns = start,
        .seed = start,
        .timer_slack_ns = SLACK,
        .mss = PACKET,
    };
    if (fullpipe_flow_init(memory, fullpipe_flow_size(), &config, &s.flow) != FULLPIPE_STATUS_OK) {
        fprintf(stderr, "udp: the library does not take this configuration\n");
        exit(1);
    }
    while (s.arrivals < s.chunks) {
        uint64_t number, at;
        ssize_t count;
        while ((count = receive(s.socket, &number, sizeof number, &at)) >= 0) {
            s.now = at > s.now ? at : s.now;
            if (count == sizeof number)
                on_ack(&s, s.now, number);
        }
        if (errno == ECONNREFUSED)
            fail("send");
        uint64_t now = s.now = now_ns();
        if (s.oldest < s.next_number && now > s.last_heard + ACK_TIMEOUT) {
            fprintf(stderr, "udp: no acknowledgement for ten seconds\n");
            exit(1);
        }
        if (s.oldest < s.next_number && now > s.timed_out_at + s.timeout) {
            s.timed_out_at = now;
            s.timeout *= 2;
            declare_lost(&s, now, s.next_number);
            fullpipe_on_timeout(s.flow, now);
        }
        transmit(&s, now);
        uint64_t wake = now + SECOND / 10;
        if (next_chunk(&s) != s.chunks && !s.is_full) {
            uint64_t departure = fullpipe_next_departure(s.flow, now, PACKET);
            wake = departure < wake ? departure : wake;
        }
        struct timespec wait = {0, wake > now ? (long)(wake - now) : 0};
        struct pollfd ready = {.fd = s.socket, .events = s.is_full ? POLLIN | POLLOUT : POLLIN};
        ppoll(&ready, 1, &wait, NULL);
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    struct fullpipe_snapshot snapshot = {.size = sizeof snapshot};
    fullpipe_snapshot_of(s.flow, &snapshot);
    printf("%.2f s, goodput %.2f Mbit/s, median RTT %.1f ms, least %.1f ms, lost %" PRIu64 " of %" PRIu64 " packets\n",
           seconds, (double)s.chunks * CHUNK * 8 / seconds / 1e6, median_rtt_ms(&s),
           (double)snapshot.min_rtt_ns / 1e6, snapshot.lost / PACKET, s.next_number);
    free(memory);
    free(s.table);
    free(s.again);
    free(s.arrived);
    return 0;
}

/* Acknowledges packets until none arrives for three seconds. */
static int run_receiver(int socket) {
    unsigned char bytes[2048];
    struct sockaddr_in from;
    int patience = 30000;
    for (;;) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        if (poll(&ready, 1, patience) <= 0)
            return 0;
        socklen_t length = sizeof from;
        ssize_t count = recvfrom(socket, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length);
        if (count < HEADER)
            continue;
        patience = 3000;
        sendto(socket, bytes, 8, 0, (struct sockaddr *)&from, length);
    }
}

static uint32_t controller_of(const char *name) {
    if (!strcmp(name, "bbr1"))
        return FULLPIPE_CONTROLLER_BBR1;
    if (!strcmp(name, "bbr3"))
        return FULLPIPE_CONTROLLER_BBR3;
    if (!strcmp(name, "cubic"))
        return FULLPIPE_CONTROLLER_CUBIC;
    return !strcmp(name, "reno") ? FULLPIPE_CONTROLLER_RENO : 0;
}

/* Parses a number from 1 to `most`. Anything else is refused with the argument's name. */
static uint64_t number_of(const char *text, const char *name, uint64_t most) {
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || !number || number > most) {
        fprintf(stderr, "udp: %s is a number from 1 to %" PRIu64 ", and not \"%s\"\n", name, most, text);
        exit(2);
    }
    return number;
}

int main(int argc, char **argv) {
    int is_sender = argc == 5 && !strcmp(argv[1], "send");
    if (!is_sender && !(argc == 3 && !strcmp(argv[1], "receive"))) {
        fprintf(stderr, "usage: udp receive PORT | udp send PORT BYTES bbr1|bbr3|cubic|reno\n");
        return 2;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)number_of(argv[2], "PORT", 65535));
    uint64_t bytes = is_sender ? number_of(argv[3], "BYTES", MOST_BYTES) : 0;
    uint32_t controller = is_sender ? controller_of(argv[4]) : 0;
    if (is_sender && !controller) {
        fprintf(stderr, "udp: the controller is bbr1, bbr3, cubic or reno, and not \"%s\"\n", argv[4]);
        return 2;
    }
    int s = socket(AF_INET, SOCK_DGRAM, 0), buffer = 4 << 20, on = 1;
    if (s < 0)
        fail("socket");
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (is_sender) {
        if (connect(s, (struct sockaddr *)&address, sizeof address) < 0)
            fail("connect");
        setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
        return run_sender(s, bytes, controller);
    }
    if (bind(s, (struct sockaddr *)&address, sizeof address) < 0)
        fail("bind");
    return run_receiver(s);
}
