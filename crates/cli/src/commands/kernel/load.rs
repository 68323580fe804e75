//! The options of `fullpipe kernel load`.

use clap::Args;
use kernel::{Algorithm, Settings};
use program::failure::Failure;

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
    pub log: bool,
}

impl Options {
    /// The controllers to load, with their parameters.
    pub fn settings(&self) -> Result<Vec<Settings>, Failure> {
        let mut all: Vec<Settings> = Vec::new();
        for &controller in &self.controllers {
            if !all.iter().any(|known| known.algorithm() == controller) {
                all.push(Settings::new(controller));
            }
        }
        for text in &self.set {
            set(&mut all, text)
                .map_err(|reason| Failure::usage(format_args!("--set {text}: {reason}")))?;
        }
        Ok(all)
    }
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
