//! The order in which a kernel calls the hooks, and the events that an algorithm then receives. The orders are those of
//! `net/ipv4/tcp_input.c`, `tcp_output.c` and `tcp_timer.c`.

use crate::host::Host;

const OPEN: u8 = 0;
const CWR: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// The events of a connection that has begun, if the hooks are called in this order.
fn told(script: &[String]) -> Vec<String> {
    let begin = lines(&["sack_ok 1", "tcp_clock_cache 1000", "init 0"]);
    let mut told = answers(&[&begin, script].concat());
    assert_eq!(told.remove(0), "new");
    told
}

fn answers(script: &[String]) -> Vec<String> {
    let host = Host::compile("hooks.c", &[]);
    let script = format!("{}\n", script.join("\n"));
    let answer = String::from_utf8(host.answer(script.as_bytes())).expect("text");
    answer.lines().map(str::to_owned).collect()
}

fn at(clock: u64) -> String {
    format!("tcp_clock_cache {clock}")
}

fn state(state: u8) -> String {
    format!("set_state {state}")
}

/// The total numbers of arrived and lost packets, and the numbers that the ACK has shown.
fn ack(clock: u64, delivered: u32, newly: u32, lost: u32, losses: u32) -> Vec<String> {
    vec![
        at(clock),
        format!("delivered {delivered}"),
        format!("lost {lost}"),
        format!("acked_sacked {newly}"),
        format!("losses {losses}"),
        "cong_control 0".to_owned(),
    ]
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

/// The bit `TCP_SACK_SEEN`; `TCP_DSACK_SEEN` is another.
#[test]
fn a_peer_without_sack_is_told() {
    assert_eq!(answers(&lines(&["init 0"])), ["new, without SACK"]);
    assert_eq!(answers(&lines(&["sack_ok 1", "init 0"])), ["new"]);
    assert_eq!(answers(&lines(&["sack_ok 5", "init 0"])), ["new"]);
}

#[test]
fn a_mark_is_no_loss() {
    let script = [vec![at(2000)], lines(&["delivered_ce 1"]), vec![state(CWR)]];
    assert_eq!(told(&script.concat()), ["marked"]);
}

#[test]
fn a_loss_that_a_probe_of_the_tail_has_repaired_is_told() {
    assert_eq!(
        told(&[at(2000), state(CWR), state(OPEN)]),
        ["repaired_loss"]
    );
}

#[test]
fn a_packet_that_the_hosts_own_queue_dropped_is_no_loss() {
    let full = vec![at(2000), state(CWR)];
    let over = vec![at(9000), state(OPEN)];
    let script = [full, ack(5000, 1, 1, 0, 0), over].concat();
    assert_eq!(told(&script), ["ack of 1, lost since its packet left 0"]);
}

#[test]
fn a_timeout_is_told_with_its_losses() {
    let script = [
        vec![at(2000)],
        lines(&["packets_out 8", "lost 6", "lost_out 6", "snd_cwnd 3"]),
        vec![state(LOSS)],
    ];
    assert_eq!(
        told(&script.concat()),
        ["lost 6 at 2000", "timeout, 2 in flight"]
    );
}

/// `tcp_simple_retransmit`, as if the path now takes only smaller packets.
#[test]
fn packets_sent_again_for_another_reason_are_no_timeout() {
    let again = lines(&["packets_out 8", "lost 6", "lost_out 6"]);
    let script = [
        vec![at(2000)],
        again,
        vec![state(LOSS)],
        ack(5000, 1, 1, 6, 0),
    ];
    let told = told(&script.concat());
    assert_eq!(told, ["ack of 1, lost since its packet left 0"]);
}

#[test]
fn a_timer_finds_losses_before_the_ack_that_finds_more() {
    let script = [
        vec![at(2000), "lost 2".to_owned(), state(RECOVERY)],
        ack(5000, 1, 1, 3, 1),
    ];
    assert_eq!(
        told(&script.concat()),
        [
            "lost 2 at 4999",
            "lost 1 at 5000",
            "entered",
            "ack of 1, lost since its packet left 1"
        ]
    );
}

#[test]
fn a_recovery_that_follows_another_within_an_ack_is_the_same() {
    let script = [
        vec![state(RECOVERY)],
        ack(2000, 1, 1, 1, 1),
        vec![state(OPEN), state(RECOVERY)],
        ack(5000, 2, 1, 2, 1),
        vec![state(OPEN)],
        ack(9000, 3, 1, 2, 0),
    ];
    let told = told(&script.concat());
    let changes: Vec<&str> = told
        .iter()
        .map(String::as_str)
        .filter(|event| ["entered", "left"].contains(event))
        .collect();
    assert_eq!(changes, ["entered", "left"], "{told:?}");
    assert!(told[told.len() - 1].starts_with("ack"), "{told:?}");
}

#[test]
fn what_is_undone_has_been_told() {
    let found = vec![at(2000), "lost 2".to_owned(), state(RECOVERY)];
    let undone = vec![at(5000), "undo_cwnd 0".to_owned(), state(OPEN)];
    let script = [found, undone, ack(5000, 1, 1, 2, 0)].concat();
    assert_eq!(
        told(&script),
        [
            "lost 2 at 4999",
            "entered",
            "undone",
            "ack of 1, lost since its packet left 0"
        ]
    );
}

#[test]
fn a_recovery_after_an_undo_within_an_ack_is_told() {
    let script = [
        vec![state(RECOVERY)],
        ack(2000, 1, 1, 1, 1),
        vec![
            at(5000),
            "undo_cwnd 0".to_owned(),
            state(OPEN),
            state(RECOVERY),
        ],
        ack(5000, 2, 1, 2, 1),
    ];
    let told = told(&script.concat());
    let changes: Vec<&str> = told
        .iter()
        .map(String::as_str)
        .filter(|event| ["entered", "undone", "left"].contains(event))
        .collect();
    assert_eq!(changes, ["entered", "undone", "entered"], "{told:?}");
}

/// Its packet left before the ACK that shows the losses.
#[test]
fn losses_of_the_ack_that_enters_recovery_are_after_what_was_sent_before_it() {
    let script = [
        ack(2000, 10, 10, 0, 0),
        vec![at(3000), "lost 2".to_owned(), state(RECOVERY)],
        ack(3000, 11, 1, 2, 2),
        lines(&["sampled 2"]),
        ack(5000, 12, 1, 2, 0),
    ];
    let told = told(&script.concat());
    let last = told.last().expect("an event");
    assert_eq!(last, "ack of 1, lost since its packet left 2", "{told:?}");
}

#[test]
fn who_was_idle_begins_anew_whichever_hook_tells() {
    for hook in ["cwnd_event 0", "cwnd_event_tx_start 0"] {
        for (limited, expected) in [
            ("app_limited 7", vec!["idle_restart"]),
            ("app_limited 0", vec![]),
        ] {
            assert_eq!(told(&lines(&[limited, hook])), expected, "{hook}");
        }
    }
    assert!(told(&lines(&["app_limited 7", "cwnd_event 1"])).is_empty());
}

#[test]
fn a_window_is_full_if_the_kernel_says_so() {
    let script = [lines(&["is_cwnd_limited 1"]), ack(2000, 1, 1, 0, 0)];
    assert_eq!(
        told(&script.concat()),
        ["ack of 1, lost since its packet left 0, window full"]
    );
}
