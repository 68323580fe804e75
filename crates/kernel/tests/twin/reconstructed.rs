//! Compares the reconstructed state at sending, which mainline's rate sample does not have, with the simulator's.

use congestion::{Ack, Bytes, Ratio};

use crate::event::Event;
use crate::host::Host;
use crate::recorded;
use crate::twins::Twins;

/// The payload of a packet in the simulator.
const MSS: u64 = 1_448;

/// The maximum share of losses in a round that BBRv3 tolerates.
const LOSS_THRESHOLD: Ratio = Ratio::new(2, 100);

/// The error of the reconstruction.
#[derive(Default)]
struct Errors {
    /// The error of inflight, as a share of it.
    inflight: Vec<f64>,
    /// The number of rounds judged to have too many losses, and the number that should have been.
    judged: usize,
    judged_otherwise: usize,
}

#[test]
fn what_is_remembered_of_the_sending_is_near_the_truth() {
    let host = Host::compile("history.c", &[]);
    let mut errors = Errors::default();
    for script in recorded::scripts(&Twins::bbr3()) {
        compare(&host, &script, &mut errors);
    }
    errors.inflight.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| errors.inflight[errors.inflight.len() * percent / 100];
    let otherwise = errors.judged_otherwise as f64 / errors.judged as f64;
    println!(
        "{} ACKs: inflight off by {:.2} % (median), {:.2} % (95th percentile), {:.2} % (99th); losses judged otherwise {:.2} %",
        errors.judged,
        at(50) * 100.0,
        at(95) * 100.0,
        at(99) * 100.0,
        otherwise * 100.0
    );
    assert!(errors.judged > 100_000);
    assert!(at(50) < 0.02 && at(95) < 0.15 && otherwise < 0.02);
}

fn compare(host: &Host, script: &[Event], errors: &mut Errors) {
    let acks = script.iter().filter_map(|event| match event {
        Event::Ack(ack) => Some(&**ack),
        _ => None,
    });
    let acks: Vec<&Ack> = acks.collect();
    let mut questions = Vec::new();
    let (mut delivered, mut lost) = (0, 0);
    for ack in &acks {
        for bytes in [
            delivered,
            lost,
            ack.prior_inflight.get(),
            ack.rate.total_delivered.get(),
            ack.rate.total_lost.get(),
            ack.rate.prior_delivered.get(),
        ] {
            questions.extend(packets(bytes).to_ne_bytes());
        }
        delivered = ack.rate.total_delivered.get();
        lost = ack.rate.total_lost.get();
    }
    let answers = host.answer(&questions);
    for (ack, answer) in acks.iter().zip(answers.chunks_exact(8)) {
        let word = |at: usize| {
            let bytes = answer[at..at + 4].try_into().expect("a word");
            Bytes::new(MSS * u64::from(u32::from_ne_bytes(bytes)))
        };
        if ack.rate.delivery_rate.is_some() {
            errors.add(ack, word(4), word(0));
        }
    }
}

impl Errors {
    fn add(&mut self, ack: &Ack, inflight: Bytes, lost: Bytes) {
        let truth = ack.rate.inflight_at_send;
        let off = inflight.get().abs_diff(truth.get());
        self.inflight.push(off as f64 / truth.get() as f64);
        let is_too_much = |lost: Bytes, inflight| lost > LOSS_THRESHOLD.of_bytes(inflight);
        self.judged += 1;
        self.judged_otherwise += usize::from(
            is_too_much(lost, inflight) != is_too_much(ack.rate.lost_since_send, truth),
        );
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the kernel's counters wrap, too"
)]
fn packets(bytes: u64) -> u32 {
    (bytes / MSS) as u32
}
