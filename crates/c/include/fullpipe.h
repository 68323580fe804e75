/* Congestion control for any transport. Made by cbindgen of crates/c/src: do not edit. */

#ifndef FULLPIPE_H
#define FULLPIPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * The result of a call.
 */
typedef enum fullpipe_status {
  /**
   * Success.
   */
  FULLPIPE_STATUS_OK = 0,
  /**
   * A pointer is null or misaligned, a size is too small, a value is invalid, or the flow is not initialised.
   */
  FULLPIPE_STATUS_INVALID = 1,
  /**
   * The library failed by an error of its own. Every later call with the flow returns this, too.
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
 * The configuration of a new flow.
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
   * The current time, in nanoseconds of a clock that never runs backwards.
   */
  uint64_t now_ns;
  /**
   * The seed of the controller's random choices. Different for each connection.
   */
  uint64_t seed;
  /**
   * The largest delay of the caller's timers, in nanoseconds. Pacing makes up for it.
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
 * The state of a packet in flight. The caller keeps it with the packet and does not interpret it.
 */
typedef struct fullpipe_packet {
  /**
   * Internal to the library.
   */
  uint64_t words[9];
} fullpipe_packet;

/**
 * The state of a flow. Unknown values are 0.
 */
typedef struct fullpipe_snapshot {
  /**
   * `sizeof(struct fullpipe_snapshot)`, set by the caller.
   */
  uint32_t size;
  /**
   * Whether the flow is recovering from losses.
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
   * The name of the controller's state, as a zero-terminated string.
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
 * The size of a flow in bytes.
 */
size_t fullpipe_flow_size(void);

/**
 * The alignment of a flow in bytes. Memory from malloc has it.
 */
size_t fullpipe_flow_align(void);

/**
 * Initialises a flow in `memory`, which has `size` bytes, and writes the pointer to it to `flow`. The memory may be
 * freed or reused whenever the flow is no longer needed.
 *
 * # Safety
 * The pointers are null, or valid as described.
 */
enum fullpipe_status fullpipe_flow_init(void *memory,
                                        size_t size,
                                        const struct fullpipe_config *config,
                                        struct fullpipe_flow **flow);

/**
 * Whether a waiting packet of `bytes` may leave now: 1 or 0. Window and pacer decide. Also 0 if the flow is invalid.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
int32_t fullpipe_may_send(struct fullpipe_flow *flow,
                          uint64_t now_ns,
                          uint32_t bytes);

/**
 * The time at which to call `fullpipe_may_send` again, in nanoseconds of the caller's clock: `now_ns` if a packet of
 * `bytes` may leave at once, later if the pacer holds it back, and `UINT64_MAX` if only an ACK or a loss makes room in
 * the window.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
uint64_t fullpipe_next_departure(const struct fullpipe_flow *flow,
                                 uint64_t now_ns,
                                 uint32_t bytes);

/**
 * Reports that a packet of `bytes` leaves; `bytes` is not 0. Writes the packet's state to `packet`.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`; `packet` is null or writable.
 */
enum fullpipe_status fullpipe_on_sent(struct fullpipe_flow *flow,
                                      uint64_t now_ns,
                                      uint32_t bytes,
                                      struct fullpipe_packet *packet);

/**
 * Reports that no data waits. Called whenever there is none to send.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_no_data(struct fullpipe_flow *flow, uint64_t now_ns);

/**
 * Reports an ACK of only this packet. The same as `fullpipe_on_acked` and `fullpipe_settle`, in one call.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_ack(struct fullpipe_flow *flow,
                                     uint64_t now_ns,
                                     const struct fullpipe_packet *packet);

/**
 * Reports that a packet was acknowledged. `fullpipe_settle` ends the ACK.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`; `packet` is null, or from `fullpipe_on_sent`.
 */
enum fullpipe_status fullpipe_on_acked(struct fullpipe_flow *flow,
                                       uint64_t now_ns,
                                       const struct fullpipe_packet *packet);

/**
 * Reports that a packet was acknowledged after it had been declared lost.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_acked_late(struct fullpipe_flow *flow,
                                            uint64_t now_ns,
                                            const struct fullpipe_packet *packet);

/**
 * Reports that a packet was declared lost, by an ACK or a timer; once. `fullpipe_settle` or `fullpipe_on_timeout`
 * follows.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_lost(struct fullpipe_flow *flow,
                                      uint64_t now_ns,
                                      const struct fullpipe_packet *packet);

/**
 * Reports that a packet is neither acknowledged nor lost, and no longer awaited: in QUIC, of a discarded number space.
 *
 * # Safety
 * As for `fullpipe_on_acked`.
 */
enum fullpipe_status fullpipe_on_forgotten(struct fullpipe_flow *flow,
                                           const struct fullpipe_packet *packet);

/**
 * Reports the caller's own measurement of the round-trip time of the ACK in progress. Zero means that there is none,
 * because the acknowledged data was sent more than once under the same name. `is_ack_delayed` is not 0 if the receiver
 * may have held the ACK back. Without this call, the newest packet's time is used.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_rtt(struct fullpipe_flow *flow,
                                     uint64_t rtt_ns,
                                     uint32_t is_ack_delayed);

/**
 * Reports `bytes` more as marked "congestion experienced" (ECN) by the ACK in progress.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_marked(struct fullpipe_flow *flow, uint64_t bytes);

/**
 * Ends an ACK or a check of the loss timer, after all its acknowledgements, marks and losses are reported.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_settle(struct fullpipe_flow *flow,
                                     uint64_t now_ns);

/**
 * Reports a retransmission timeout, after the losses that it declared; or persistent congestion in QUIC, after
 * `fullpipe_settle` of the ACK that shows it. A probe timeout is not one.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_timeout(struct fullpipe_flow *flow,
                                         uint64_t now_ns);

/**
 * Whether the controller responds to marks (ECN), so that packets may be sent as ECN-capable: 1 or 0.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
int32_t fullpipe_responds_to_ecn(const struct fullpipe_flow *flow);

/**
 * Reports that the largest packet now has `mss` bytes.
 *
 * # Safety
 * `flow` is null, or from `fullpipe_flow_init`.
 */
enum fullpipe_status fullpipe_on_mtu_change(struct fullpipe_flow *flow, uint32_t mss);

/**
 * Writes the state of `flow` to `snapshot`, whose `size` the caller has set.
 *
 * # Safety
 * The pointers are null, or valid for their types.
 */
enum fullpipe_status fullpipe_snapshot_of(const struct fullpipe_flow *flow,
                                          struct fullpipe_snapshot *snapshot);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FULLPIPE_H */
