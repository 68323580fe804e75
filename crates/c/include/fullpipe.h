/* Congestion control for any transport. Made by cbindgen of crates/c/src: do not edit. */

#ifndef FULLPIPE_H
#define FULLPIPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * How a call ended.
 */
typedef enum fullpipe_status {
  /**
   * It did what it says.
   */
  FULLPIPE_STATUS_OK = 0,
  /**
   * A pointer is null or misaligned, a size is too small, a value makes no sense, or the flow is not initialised.
   */
  FULLPIPE_STATUS_INVALID = 1,
  /**
   * The library has an error of its own. Every later call refuses the flow with the same.
   */
  FULLPIPE_STATUS_PANICKED = 2,
} fullpipe_status;

/**
 * The controllers.
 */
typedef enum fullpipe_controller {
  /**
   * BBRv1.
   */
  FULLPIPE_CONTROLLER_BBR1 = 1,
  /**
   * BBRv3.
   */
  FULLPIPE_CONTROLLER_BBR3 = 3,
  /**
   * CUBIC.
   */
  FULLPIPE_CONTROLLER_CUBIC = 10,
  /**
   * Reno.
   */
  FULLPIPE_CONTROLLER_RENO = 11,
} fullpipe_controller;

/**
 * A connection's congestion control, in memory of the caller's.
 */
typedef struct fullpipe_flow fullpipe_flow;

/**
 * What a new flow is to be.
 */
typedef struct fullpipe_config {
  /**
   * `sizeof(struct fullpipe_config)`.
   */
  uint32_t size;
  /**
   * One of `enum fullpipe_controller`.
   */
  uint32_t controller;
  /**
   * The present, in nanoseconds of a clock that never runs backwards.
   */
  uint64_t now_ns;
  /**
   * Seeds what the controller randomizes. Different for each connection.
   */
  uint64_t seed;
  /**
   * How late the caller's timers may be, in nanoseconds. Pacing makes up for so much.
   */
  uint64_t timer_slack_ns;
  /**
   * The largest packet, in bytes.
   */
  uint32_t mss;
  /**
   * The initial window, in bytes; 0 for ten packets.
   */
  uint32_t initial_cwnd;
} fullpipe_config;

/**
 * What belongs to a packet in flight. The caller keeps it with the packet, and does not look inside.
 */
typedef struct fullpipe_packet {
  /**
   * The library's own.
   */
  uint64_t words[9];
} fullpipe_packet;

/**
 * The state of a flow. What is not known is 0.
 */
typedef struct fullpipe_snapshot {
  /**
   * `sizeof(struct fullpipe_snapshot)`, set by the caller.
   */
  uint32_t size;
  /**
   * Whether losses are being recovered from.
   */
  uint32_t is_recovering;
  /**
   * The congestion window, in bytes.
   */
  uint64_t cwnd;
  /**
   * Bytes in flight.
   */
  uint64_t inflight;
  /**
   * The pacing rate, in bytes a second.
   */
  uint64_t pacing_rate;
  /**
   * The longest burst, in bytes.
   */
  uint64_t send_quantum;
  /**
   * The estimate of the bottleneck bandwidth, in bytes a second.
   */
  uint64_t btl_bw;
  /**
   * The least round-trip time, in nanoseconds.
   */
  uint64_t min_rtt_ns;
  /**
   * Bytes delivered so far.
   */
  uint64_t delivered;
  /**
   * Bytes declared lost so far.
   */
  uint64_t lost;
  /**
   * The name of the controller's state, as characters with a zero at the end.
   */
  uint8_t state[32];
} fullpipe_snapshot;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0".
 */
const char *fullpipe_version(void);

/**
 * How much memory a flow takes, in bytes.
 */
size_t fullpipe_flow_size(void);

/**
 * How that memory has to be aligned, in bytes. What malloc gives is.
 */
size_t fullpipe_flow_align(void);

/**
 * Makes a flow in `memory`, which has `size` bytes, and writes the pointer to it to `flow`. The memory may be freed or used
 * for something else whenever the flow is no longer wanted.
 *
 * # Safety
 * The pointers are null, or to what is said here.
 */
enum fullpipe_status fullpipe_flow_init(void *memory,
                                        size_t size,
                                        const struct fullpipe_config *config,
                                        struct fullpipe_flow **flow);

/**
 * Whether a packet of `bytes`, whose data waits, may leave now: 1 or 0. Window and pacer decide. 0 too if the flow is none.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
int32_t fullpipe_may_send(struct fullpipe_flow *flow,
                          uint64_t now_ns,
                          uint32_t bytes);

/**
 * When to ask `fullpipe_may_send` again, in nanoseconds of the caller's clock: `now_ns` if a packet of `bytes` may leave at once,
 * later if the pacer holds it back, and `UINT64_MAX` if only an ACK or a loss makes room in the window.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
uint64_t fullpipe_next_departure(const struct fullpipe_flow *flow,
                                 uint64_t now_ns,
                                 uint32_t bytes);

/**
 * A packet of `bytes`, more than none, leaves. Writes to `packet` what is kept with it.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`; `packet` is null or writable.
 */
enum fullpipe_status fullpipe_on_sent(struct fullpipe_flow *flow,
                                      uint64_t now_ns,
                                      uint32_t bytes,
                                      struct fullpipe_packet *packet);

/**
 * No data waits. Called whenever there is none to send.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_no_data(struct fullpipe_flow *flow, uint64_t now_ns);

/**
 * An ACK acknowledges this packet, and tells nothing else. The same as `fullpipe_on_acked` and `fullpipe_settle`, in one call.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_ack(struct fullpipe_flow *flow,
                                     uint64_t now_ns,
                                     const struct fullpipe_packet *packet);

/**
 * A packet was acknowledged. `fullpipe_settle` ends the ACK.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`; `packet` is null, or from `fullpipe_on_sent`.
 */
enum fullpipe_status fullpipe_on_acked(struct fullpipe_flow *flow,
                                       uint64_t now_ns,
                                       const struct fullpipe_packet *packet);

/**
 * A packet was acknowledged that had been declared lost.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_acked_late(struct fullpipe_flow *flow,
                                            uint64_t now_ns,
                                            const struct fullpipe_packet *packet);

/**
 * A packet was declared lost, by an ACK or a timer; once. `fullpipe_settle` or `fullpipe_on_timeout` follows.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_lost(struct fullpipe_flow *flow,
                                      uint64_t now_ns,
                                      const struct fullpipe_packet *packet);

/**
 * A packet is neither acknowledged nor lost, and not waited for any more: in QUIC, of a number space that is discarded.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_forgotten(struct fullpipe_flow *flow,
                                           const struct fullpipe_packet *packet);

/**
 * The caller has measured the round-trip time of the ACK in progress itself; or, with zero, it knows that there is none to be
 * had, because what is acknowledged was sent more than once under the same name. `is_ack_delayed` is not 0 if the receiver may have
 * held the ACK back. Without this call, the newest packet's counts.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_rtt(struct fullpipe_flow *flow,
                                     uint64_t rtt_ns,
                                     uint32_t is_ack_delayed);

/**
 * The ACK in progress reports `bytes` more as marked "congestion experienced" (ECN).
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_marked(struct fullpipe_flow *flow, uint64_t bytes);

/**
 * An ACK or the loss timer has been processed: all that it acknowledged, marked and lost has been told.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_settle(struct fullpipe_flow *flow,
                                     uint64_t now_ns);

/**
 * A retransmission timeout, after the losses that it declared; or persistent congestion in QUIC, after `fullpipe_settle` of the
 * ACK that shows it. A probe timeout is none.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_timeout(struct fullpipe_flow *flow,
                                         uint64_t now_ns);

/**
 * Whether the controller answers marks (ECN), so that packets may be sent as capable of them: 1 or 0.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
int32_t fullpipe_responds_to_ecn(const struct fullpipe_flow *flow);

/**
 * The largest packet now has `mss` bytes.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_mtu_change(struct fullpipe_flow *flow, uint32_t mss);

/**
 * Writes the state of `flow` to `snapshot`, whose `size` the caller has set.
 *
 * # Safety
 * The pointers are null, or to what their types say.
 */
enum fullpipe_status fullpipe_snapshot_of(const struct fullpipe_flow *flow,
                                          struct fullpipe_snapshot *snapshot);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FULLPIPE_H */
