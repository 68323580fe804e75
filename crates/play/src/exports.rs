//! The functions of the module. One instance of the module has one run at most; a host that wants several has several instances,
//! and drops an instance to cancel its run.
//!
//! The host writes a text where [`play_room`] says, and reads a result of [`play_length`] bytes at [`play_result`]. No pointer
//! comes in, so nothing here is unsafe, except that a symbol with a plain name could hide another one.
#![expect(unsafe_code, reason = "the names of exported functions")]

use std::cell::RefCell;

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
    result: Vec<u8>,
}

impl Instance {
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
        let text = std::mem::take(&mut instance.text);
        let text = String::from_utf8(text).map_err(|_| "the text is not UTF-8".to_owned());
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
