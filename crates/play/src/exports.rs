//! The functions of the module. One instance of the module has one run at most; a host that wants several has several instances,
//! and drops an instance to cancel its run.
//!
//! The host writes a text where [`play_room`] says, and reads a result of [`play_length`] bytes at [`play_result`]. No pointer
//! comes in, so nothing here is unsafe, except that a symbol with a plain name could hide another one.
#![expect(unsafe_code, reason = "the names of exported functions")]

use std::cell::RefCell;

use advise::Measured;

use crate::advising::Advising;
use crate::bounds::MAX_TEXT_BYTES;
use crate::play::Play;

/// What [`play_begin`] and [`play_step`] return: the run is over, goes on, or has failed. After a failure, the result is its text.
const OVER: u32 = 0;
const GOES_ON: u32 = 1;
const FAILED: u32 = 2;

#[derive(Default)]
struct Instance {
    text: Vec<u8>,
    play: Option<Play>,
    advising: Option<Advising>,
    result: Vec<u8>,
}

impl Instance {
    fn take_text(&mut self) -> Result<String, String> {
        String::from_utf8(std::mem::take(&mut self.text))
            .map_err(|_| "the text is not UTF-8".to_owned())
    }

    fn state(&mut self, done: Result<bool, String>) -> u32 {
        match done {
            Ok(true) => GOES_ON,
            Ok(false) => OVER,
            Err(error) => {
                self.play = None;
                self.result = error.into_bytes();
                FAILED
            }
        }
    }
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

fn with<T>(call: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(call)
}

/// The place for a text of so many bytes of UTF-8; null if that is too long.
#[unsafe(no_mangle)]
pub extern "C" fn play_room(length: usize) -> *mut u8 {
    with(|instance| {
        instance.text = vec![0; length.min(MAX_TEXT_BYTES)];
        match length {
            0..=MAX_TEXT_BYTES => instance.text.as_mut_ptr(),
            _ => std::ptr::null_mut(),
        }
    })
}

/// Begins a run of the scenario with the text, in place of an earlier run. A negative seed means the scenario's own.
#[unsafe(no_mangle)]
pub extern "C" fn play_begin(seed: i64) -> u32 {
    with(|instance| {
        instance.play = None;
        let text = instance.take_text();
        let begun = text.and_then(|text| Play::begin(&text, u64::try_from(seed).ok()));
        let begun = begun.map(|play| instance.play = Some(play));
        instance.state(begun.map(|()| true))
    })
}

/// Runs at most so many steps of some milliseconds each.
#[unsafe(no_mangle)]
pub extern "C" fn play_step(most: u32) -> u32 {
    with(|instance| {
        let play = instance.play.as_mut();
        let done = play.ok_or_else(|| "no run has begun".to_owned());
        let done = done.and_then(|play| play.step(most));
        instance.state(done)
    })
}

/// Makes the names of all states the result, as JSON. A controller in JavaScript answers with an index.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn play_states() {
    let names = serde_json::to_vec(&crate::javascript::state_names());
    with(|instance| instance.result = names.unwrap_or_default());
}

/// Makes the record so far the result.
#[unsafe(no_mangle)]
pub extern "C" fn play_record() {
    with(|instance| {
        let record = instance.play.as_ref().map(Play::record);
        instance.result = record.unwrap_or_default();
    });
}

/// Makes what advice needs of the run so far the result: numbers for [`play_note`].
#[unsafe(no_mangle)]
pub extern "C" fn play_measured() {
    with(|instance| {
        let play = instance.play.as_ref();
        let numbers = play.map(|play| play.measured().numbers().map(f64::to_le_bytes));
        instance.result = numbers.map_or_else(Vec::new, |numbers| numbers.concat());
    });
}

/// Plans the runs for advice on the path of the scenario with the text, and makes the plan the result.
#[unsafe(no_mangle)]
pub extern "C" fn play_plan() -> u32 {
    with(|instance| {
        let planned = instance.take_text().and_then(|text| Advising::begin(&text));
        let planned = planned.map(|advising| {
            instance.result = advising.plan();
            instance.advising = Some(advising);
        });
        instance.state(planned.map(|()| false))
    })
}

/// Keeps the bytes of [`play_measured`], which the host has written as the text, for the run at this place of the plan.
#[unsafe(no_mangle)]
pub extern "C" fn play_note(place: usize) -> u32 {
    with(|instance| {
        let bytes = std::mem::take(&mut instance.text);
        let (numbers, _) = bytes.as_chunks();
        let numbers: Vec<f64> = numbers.iter().map(|it| f64::from_le_bytes(*it)).collect();
        let numbers = numbers.try_into().map_err(|_| "these are no measurements");
        let advising = instance.advising.as_mut().ok_or("nothing is planned");
        let noted = advising
            .and_then(|advising| Ok((advising, numbers?)))
            .map_err(str::to_owned)
            .and_then(|(advising, numbers)| advising.note(place, Measured::from_numbers(numbers)));
        instance.state(noted.map(|()| false))
    })
}

/// Makes the advice from the runs that were noted the result.
#[unsafe(no_mangle)]
pub extern "C" fn play_advise() -> u32 {
    with(|instance| {
        let advising = instance.advising.as_ref().ok_or("nothing is planned");
        let advised = advising
            .map_err(str::to_owned)
            .and_then(Advising::answer)
            .map(|answer| instance.result = answer);
        instance.state(advised.map(|()| false))
    })
}

/// The place of the result.
#[unsafe(no_mangle)]
pub extern "C" fn play_result() -> *const u8 {
    with(|instance| instance.result.as_ptr())
}

/// The length of the result in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn play_length() -> usize {
    with(|instance| instance.result.len())
}
