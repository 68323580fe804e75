//! A short, seeded fuzzing run as an ordinary test.
//!
//! A fuzz target is a function that takes arbitrary bytes and panics if they violate a required property. It is in a
//! module `fuzz` of the crate whose format it tries, which is there for tests and for fuzzers only
//! (`cfg(any(test, fuzzing))`), so that it reaches what is private. Two call it: the crate's own test, by [`run`], and
//! a program in `fuzz/fuzz_targets`, which libFuzzer guides by coverage for as long as one likes. `fuzz/README.md` says how
//! to do that, and how to add a target.

use std::env;
use std::fs;
use std::path::Path;

use mutatis::check::Check;
use mutatis::mutators;

/// So often a target begins anew with the corpus.
const ROUNDS: u64 = 64;

/// So many mutated inputs a round tries: dozens of mutations on top of each other of each input in a small corpus.
const MUTATIONS: usize = 256;

/// The variable that says how many rounds there are instead.
const MORE: &str = "FULLPIPE_FUZZ_ROUNDS";

/// The variable that names the directory into which the corpora go.
const CORPORA: &str = "FULLPIPE_FUZZ_CORPUS";

/// Tries `target` with each input of `corpus`, and with many thousand mutations of them, the same ones every time.
///
/// With the environment variable `FULLPIPE_FUZZ_ROUNDS`, so many rounds of them in place of 64. With `FULLPIPE_FUZZ_CORPUS`, also writes the inputs where libFuzzer finds them: to the directory
/// `name` within the directory that the variable names.
///
/// # Panics
/// `target` panics. The message has the input that it panics on, made as short as was possible.
pub fn run(name: &str, corpus: &[Vec<u8>], target: impl Fn(&[u8])) {
    if let Some(corpora) = env::var_os(CORPORA) {
        save(&Path::new(&corpora).join(name), corpus);
    }
    let rounds = env::var(MORE).ok().and_then(|text| text.parse().ok());
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let mut check = Check::new();
        check.seed(round).iters(MUTATIONS);
        let bytes = mutators::default::<Vec<u8>>();
        let tried = check.run_with(bytes, corpus.to_vec(), |bytes| {
            target(bytes);
            Ok::<(), &str>(())
        });
        if let Err(failed) = tried {
            panic!("{name}: {failed}");
        }
    }
}

fn save(directory: &Path, corpus: &[Vec<u8>]) {
    let saved = fs::create_dir_all(directory).and_then(|()| {
        let mut inputs = (0..).zip(corpus);
        inputs.try_for_each(|(place, input)| fs::write(directory.join(format!("{place}")), input))
    });
    if let Err(error) = saved {
        panic!("cannot write to {CORPORA} {directory:?}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn the_same_inputs_every_time_and_a_fault_is_found() {
        let inputs = || {
            let inputs = RefCell::new(Vec::new());
            let corpus = [b"GET /index".to_vec()];
            super::run("test", &corpus, |bytes| {
                inputs.borrow_mut().push(bytes.to_vec())
            });
            inputs.into_inner()
        };
        let first = inputs();
        assert!(first.len() > 1000);
        assert_eq!(first, inputs());

        let fault = AssertUnwindSafe(|| {
            super::run("fault", &[b"0123456789".to_vec()], |bytes| {
                assert_ne!(bytes.len(), 9);
            });
        });
        assert!(catch_unwind(fault).is_err());
    }
}
