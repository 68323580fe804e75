//! `fullpipe kernel load`.

use clap::Args;
use kernel::{Algorithm, Error, Keeping, Settings};
use program::failure::Failure;
use program::output;

/// Offer controllers to every program on the machine
#[derive(Debug, Args)]
pub struct Options {
    /// The controllers to load
    #[arg(required = true, value_name = "CONTROLLER")]
    controllers: Vec<Algorithm>,
    /// Set a parameter: bbr1.cwnd-gain=1.8; `status` lists the parameters
    #[arg(long = "set", value_name = "CONTROLLER.NAME=VALUE")]
    set: Vec<String>,
    /// If the kernel refuses a controller, print the whole log of the verifier
    #[arg(long)]
    log: bool,
}

/// Loads all of them, or none.
pub fn run(options: &Options) -> Result<(), Failure> {
    let mut all: Vec<Settings> = Vec::new();
    for &controller in &options.controllers {
        if !all.iter().any(|known| known.algorithm() == controller) {
            all.push(Settings::new(controller));
        }
    }
    for text in &options.set {
        set(&mut all, text)
            .map_err(|reason| Failure::usage(format_args!("--set {text}: {reason}")))?;
    }
    let keeping = Keeping::of_this_kernel().map_err(Failure::failed)?;
    kernel::keep(&all, env!("CARGO_PKG_VERSION"), keeping).map_err(|error| {
        if let (Error::Refused { log, .. }, true) = (&error, options.log) {
            output::note(log);
        }
        Failure::failed(error)
    })?;
    for settings in &all {
        let name = settings.algorithm().kernel_name();
        output::note(format_args!("{name} is loaded"));
    }
    Ok(())
}

fn set(all: &mut [Settings], text: &str) -> Result<(), String> {
    let parts = text
        .split_once('=')
        .and_then(|(place, value)| Some((place.split_once('.')?, value)));
    let Some(((controller, name), value)) = parts else {
        return Err("expected CONTROLLER.NAME=VALUE, such as bbr1.cwnd-gain=1.8".to_owned());
    };
    let algorithm: Algorithm = controller
        .parse()
        .map_err(|error: units::UnknownName| error.to_string())?;
    let settings = all
        .iter_mut()
        .find(|settings| settings.algorithm() == algorithm);
    match settings {
        Some(settings) => settings.set(name, value).map_err(|error| error.to_string()),
        None => Err(format!("{algorithm} is not among those to load")),
    }
}
