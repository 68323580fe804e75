//! Controllers in JavaScript, which the host of the module has. The module imports nothing else, except in `memory.rs`.
//!
//! An event is numbers in an array, in which the host leaves its answer. `web/controller.js` has the same order of events, numbers and
//! answers. What the host answers is of somebody's text: it is kept within what the simulator works with.
#![expect(unsafe_code, reason = "functions of the host")]

use congestion::pacing::{NOMINAL_RTT, send_quantum};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration, Lost, Rate,
    Recovery, Sent, Snapshot, State, Time, loss_based,
};
use document::DocumentError;
use scenario::Scenario;
use simulate::MakeController;

/// The numbers of an event, and then those of its answer.
type Values = [f64; ANSWER + 4];

/// The place of the answer: the window in bytes, the pacing rate in bits per second, the index of the state, and the slow-start
/// threshold in bytes. NaN means unchanged, and no threshold.
const ANSWER: usize = 14;

/// The place of the answer that only a new controller gives: which events and abilities it has, as bits.
const ABILITIES: usize = 0;

#[link(wasm_import_module = "controllers")]
unsafe extern "C" {
    /// Makes an object of the class with this name for a connection.
    safe fn create(name: *const u8, length: usize, values: &mut Values) -> u32;
    /// Tells it of an event.
    safe fn tell(object: u32, event: u32, values: &mut Values);
    /// Forgets it.
    safe fn forget(object: u32);
}

/// An event, and its bit among the abilities.
#[derive(Debug, Clone, Copy)]
enum Event {
    Ack,
    Sent,
    Loss,
    Recovery,
    Timeout,
    IdleRestart,
    Handshake,
}

const WANTS_PRR: u32 = 7;
const RESPONDS_TO_ECN: u32 = 8;
const NEEDS_PACING: u32 = 9;

/// A controller in either language.
#[derive(Debug)]
pub enum EitherController {
    Rust(AnyController),
    JavaScript(JavaScriptController),
}

congestion::by_variant!(EitherController: Rust, JavaScript);

/// The controllers of a group of flows.
pub fn controllers(
    scenario: &Scenario,
    group: usize,
) -> Result<MakeController<EitherController>, DocumentError> {
    if let scenario::Controller::JavaScript(class) = scenario.flows[group].controller {
        return Ok(MakeController::new(move |connection| {
            EitherController::JavaScript(JavaScriptController::new(class.name(), connection))
        }));
    }
    let settings = scenario.our_controller(group, simulate::ENGINE)?;
    Ok(MakeController::new(move |connection| {
        EitherController::Rust(AnyController::on_host(settings, connection))
    }))
}

/// The names of all states, in the order of their indices.
pub fn state_names() -> Vec<&'static str> {
    states().iter().map(|state| state.name).collect()
}

/// The states of all controllers, each name once.
fn states() -> Vec<State> {
    let mut states: Vec<State> = Vec::new();
    for state in ControllerKind::ALL.iter().flat_map(|kind| kind.states()) {
        if states.iter().all(|known| known.name != state.name) {
            states.push(*state);
        }
    }
    states
}

/// A controller that is an object of the host. Its values are cached here, so that a transport can read them at any time.
#[derive(Debug)]
pub struct JavaScriptController {
    object: u32,
    abilities: u32,
    states: Vec<State>,
    mss: Bytes,
    cwnd: Bytes,
    pacing_rate: Rate,
    state: State,
    ssthresh: Option<Bytes>,
}

impl JavaScriptController {
    /// Initially it has the initial window, and paces twice that in a millisecond, as Linux does.
    fn new(class: &str, connection: Connection) -> JavaScriptController {
        let cwnd = connection.initial_cwnd.max(connection.mss);
        // JavaScript's whole numbers have 53 bits.
        let seed = connection.seed >> 11;
        let given = [
            nanos(connection.now),
            number(connection.mss),
            number(connection.initial_cwnd),
            seed as f64,
        ];
        let mut values = values(&given);
        let object = create(class.as_ptr(), class.len(), &mut values);
        let mut controller = JavaScriptController {
            object,
            abilities: values[ABILITIES] as u32,
            states: states(),
            mss: connection.mss,
            cwnd,
            pacing_rate: Rate::from_transfer(cwnd * 2, NOMINAL_RTT),
            state: loss_based::states::CONGESTION_AVOIDANCE,
            ssthresh: None,
        };
        controller.learn(&values);
        controller
    }

    fn has(&self, ability: u32) -> bool {
        self.abilities >> ability & 1 == 1
    }

    fn tell(&mut self, event: Event, given: &[f64]) {
        let event = event as u32;
        if self.has(event) {
            let mut values = values(given);
            tell(self.object, event, &mut values);
            self.learn(&values);
        }
    }

    fn learn(&mut self, values: &Values) {
        let [cwnd, rate, state, ssthresh] = [0, 1, 2, 3].map(|place| values[ANSWER + place]);
        if !cwnd.is_nan() {
            self.cwnd = Bytes::new(cwnd as u64).max(self.mss);
        }
        if !rate.is_nan() {
            self.pacing_rate = Rate::from_bits_per_sec((rate as u64).max(8));
        }
        if let Some(state) = self.states.get(state as usize).filter(|_| !state.is_nan()) {
            self.state = *state;
        }
        self.ssthresh = (!ssthresh.is_nan()).then(|| Bytes::new(ssthresh as u64));
    }
}

impl Drop for JavaScriptController {
    fn drop(&mut self) {
        forget(self.object);
    }
}

fn values(given: &[f64]) -> Values {
    let mut values = [f64::NAN; _];
    values[..given.len()].copy_from_slice(given);
    values
}

fn number(bytes: Bytes) -> f64 {
    bytes.get() as f64
}

fn nanos(time: Time) -> f64 {
    time.since(Time::ZERO).as_nanos() as f64
}

fn optional(number: Option<u64>) -> f64 {
    number.map_or(f64::NAN, |number| number as f64)
}

/// The index of a change of recovery in `web/controller.js`.
fn change(recovery: Recovery) -> f64 {
    match recovery {
        Recovery::Entered(Cause::Ecn) => 1.0,
        Recovery::Entered(Cause::RepairedLoss) => 2.0,
        Recovery::Entered(_) => 0.0,
        Recovery::Left => 3.0,
        Recovery::Undone => 4.0,
    }
}

impl Controller for JavaScriptController {
    fn on_idle_restart(&mut self, now: Time) {
        self.tell(Event::IdleRestart, &[nanos(now)]);
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        let given = [nanos(sent.now), number(sent.bytes), number(sent.inflight)];
        self.tell(Event::Sent, &given);
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        let given = [
            nanos(lost.now),
            number(lost.packet.bytes),
            number(lost.inflight),
        ];
        self.tell(Event::Loss, &given);
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.tell(
            Event::Recovery,
            &[nanos(now), change(recovery), number(inflight)],
        );
    }

    fn on_ack(&mut self, ack: &Ack) {
        let flag = |is| f64::from(u8::from(is));
        let given = [
            nanos(ack.now),
            number(ack.newly_acked),
            number(ack.prior_inflight),
            number(ack.inflight),
            optional(ack.rtt.map(|sample| sample.rtt.as_nanos())),
            optional(ack.rate.delivery_rate.map(Rate::bits_per_sec)),
            number(ack.rate.total_delivered),
            number(ack.rate.prior_delivered),
            number(ack.rate.total_lost),
            number(ack.ce_marked),
            flag(ack.rate.is_app_limited),
            flag(ack.is_cwnd_limited),
            flag(ack.is_window_full),
            flag(ack.is_progress),
        ];
        self.tell(Event::Ack, &given);
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.tell(Event::Timeout, &[nanos(now), number(inflight)]);
    }

    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.tell(Event::Handshake, &[nanos(now), rtt.as_nanos() as f64]);
    }

    /// Packets in the simulator keep their size.
    fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
        self.cwnd = self.cwnd.max(mss);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Rate {
        self.pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        send_quantum(self.pacing_rate, self.mss)
    }

    fn wants_prr(&self) -> bool {
        self.has(WANTS_PRR)
    }

    fn needs_pacing(&self) -> bool {
        self.has(NEEDS_PACING)
    }

    fn responds_to_ecn(&self) -> bool {
        self.has(RESPONDS_TO_ECN)
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new("javascript", self.state, self.cwnd, self.pacing_rate);
        snapshot.send_quantum = self.send_quantum();
        snapshot.ssthresh = self.ssthresh;
        snapshot
    }
}
