//! The options that describe a path: `[path]` of a scenario, on the command line.

use clap::Args;
use document::tree::Node;
use document::{DocumentError, Part};
use program::failure::Failure;
use scenario::{LinkSpec, PathSpec};
use studies::advise::{Range, RangedPath};

/// The range of several values: `10mbit..20mbit` for `10mbit,20mbit`. `None` if the text has one value, or a table.
fn range_meant(key: &str, text: &str) -> Option<String> {
    let (first, others) = text.split_once(',').filter(|_| !text.contains('='))?;
    let last = others.rsplit(',').next().unwrap_or(others);
    let range = format!("{}..{}", first.trim(), last.trim());
    Range::read(key, &range).map(|_| range)
}

/// The path. An option that is not given leaves its part of the path at the default.
///
/// Values may start with a hyphen, so that `--loss -1%` is refused as a wrong share and not as an unknown option.
#[derive(Debug, Args)]
#[command(next_help_heading = "Path options")]
pub struct PathOptions {
    /// Bottleneck rate, in tc's units: 20mbit, 1.5gbit
    #[arg(long, allow_hyphen_values = true, value_name = "RATE")]
    rate: Option<String>,
    /// RTprop, the two-way propagation delay: 40ms
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    rtt: Option<String>,
    /// The part of it in the forward direction, instead of half: 30ms
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    forward_delay: Option<String>,
    /// The bottleneck's buffer, drop-tail: 8bdp, 250kb, 100p (packets) or 1s
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    buffer: Option<String>,
    /// Its queue discipline, instead of drop-tail: codel, fq_codel, dualpi2, kind=red,min=30kb,max=90kb
    #[arg(long, allow_hyphen_values = true, value_name = "DISCIPLINE")]
    queue: Option<String>,
    /// Random loss of data packets: 1%, or in bursts p=1%,r=30%,kind=gilbert
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE")]
    loss: Option<String>,
    /// Place of this loss: entry, before the bottleneck, or exit, behind it
    #[arg(long, allow_hyphen_values = true, value_name = "PLACE")]
    loss_at: Option<String>,
    /// Random loss in the opposite direction: 1%
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE")]
    ack_loss: Option<String>,
    /// Extra delay, uniform up to: 5ms; or up_to=5ms,distribution=pareto,reorders=true to let packets overtake each other
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    jitter: Option<String>,
    /// Packets held back so that later ones overtake them: share=1%,by=10ms
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE,DELAY")]
    reorder: Option<String>,
    /// Share of packets that arrive twice: 0.1%
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE")]
    duplicate: Option<String>,
    /// Share of packets that arrive damaged, so that their receiver discards them: 0.1%
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE")]
    corruption: Option<String>,
    /// Largest packet, in bytes with its headers; larger ones are dropped: 1400
    #[arg(long, allow_hyphen_values = true, value_name = "BYTES")]
    mtu: Option<String>,
    /// Token bucket that drops packets above its rate: rate=10mbit,burst=100kb
    #[arg(long, allow_hyphen_values = true, value_name = "RATE,BURST")]
    policer: Option<String>,
    /// A cell that grants a rate by the waiting data, at most the path's rate: within=20ms,least=500kbit
    #[arg(long, allow_hyphen_values = true, value_name = "TIME,RATE")]
    demand: Option<String>,
    /// Packets in the opposite direction are held and released together: interval=10ms
    #[arg(long, allow_hyphen_values = true, value_name = "INTERVAL")]
    aggregation: Option<String>,
    /// File of a recorded rate, instead of a rate: times and rates as CSV, or delivery opportunities in Mahimahi's format
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "FILE",
        conflicts_with = "rate"
    )]
    trace: Option<String>,
    /// Properties of the opposite direction, in the same form: rate=1mbit,buffer=100p
    #[arg(long, allow_hyphen_values = true, value_name = "KEY=VALUE,…")]
    uplink: Option<String>,
    /// Changes of the path, and their times: at=20s,rate=10mbit (or rate=0, an outage; or rtt=80ms, mtu=1400); can be given several times
    #[arg(long, allow_hyphen_values = true, value_name = "CHANGE")]
    change: Vec<String>,
}

impl PathOptions {
    /// The path `default`, changed by the given options. If any option is given, the path has only the loss that is
    /// given: the default's loss belongs to the default as a whole.
    ///
    /// # Errors
    ///
    /// A value is invalid, or does not fit the others.
    pub fn apply_to(&self, default: PathSpec) -> Result<PathSpec, Failure> {
        let mut path = default;
        let keys: Vec<&str> = self.given().map(|(key, _)| key).collect();
        PathSpec::check_given(&keys).map_err(usage)?;
        if !keys.is_empty() {
            let nothing = LinkSpec::default().effects;
            path.data.effects.loss = nothing.loss;
            path.data.effects.loss_at = nothing.loss_at;
        }
        if self.trace.is_some() {
            // The trace replaces the default's rate, so a buffer in terms of the default's rate has no meaning.
            path.data.rate = None;
            path.data.buffer = None;
        }
        for (key, text) in self.given().filter(|(key, _)| *key != "change") {
            path.set(key, text).map_err(|error| {
                if Range::read(key, text).is_some() {
                    let option = key.replace('_', "-");
                    return Failure::usage(format_args!(
                        "--{option}: {text} is a range, which only `fullpipe advise` takes; give one value"
                    ));
                }
                usage(error)
            })?;
        }
        if let Some(changes) = self.changes() {
            path.set_to("change", changes).map_err(usage)?;
        }
        path.check().map_err(|error| {
            let is_default = error.field == "path.buffer" && self.buffer.is_none();
            in_options(&error, if is_default { "the default of " } else { "" })
        })?;
        Ok(path)
    }

    /// Replaces parts of a path by the given options, as values or as ranges.
    ///
    /// # Errors
    ///
    /// The given options do not fit together. Values are not checked yet.
    pub fn replace_in(&self, path: &mut RangedPath) -> Result<(), Failure> {
        let keys: Vec<&str> = self.given().map(|(key, _)| key).collect();
        PathSpec::check_given(&keys).map_err(usage)?;
        let single = self.given().filter(|(key, _)| *key != "change");
        for (key, text) in single {
            if let Some(range) = range_meant(key, text) {
                let option = key.replace('_', "-");
                return Err(Failure::usage(format_args!(
                    "--{option}: {text} are several values; give their range: {range}"
                )));
            }
            path.set(&format!("path.{key}"), text).map_err(usage)?;
        }
        if let Some(changes) = self.changes() {
            path.replace("path.change", &changes).map_err(usage)?;
        }
        Ok(())
    }

    /// The given changes.
    fn changes(&self) -> Option<Node> {
        let given = self.change.iter().map(|text| Node::from_option(text));
        let changes = given.flat_map(|given| match given {
            Node::List(changes) => changes,
            change => vec![change],
        });
        (!self.change.is_empty()).then(|| Node::List(changes.collect()))
    }

    /// True if an option gave this field of a path, or the field that contains it: `path.policer.rate` belongs to
    /// `--policer`.
    pub fn gave(&self, field: &str) -> bool {
        let of_path = field.strip_prefix("path.").unwrap_or_default();
        let end = of_path.find(['.', '[']).unwrap_or(of_path.len());
        self.given().any(|(key, _)| of_path.get(..end) == Some(key))
    }

    /// Like [`apply_to`](PathOptions::apply_to) with a path without effects, but for real packets: each bottleneck has
    /// a buffer. Also returns the messages about default buffers.
    ///
    /// # Errors
    ///
    /// A value is invalid, or does not fit the others.
    pub fn bounded(&self) -> Result<(PathSpec, Option<String>), Failure> {
        let (path, given) = self.apply_to(PathSpec::default())?.bounded();
        let buffer = PathSpec::USUAL_BUFFER;
        let note = match given {
            [false, false] => None,
            [true, false] => Some(format!("without --buffer, the buffer is {buffer}")),
            [false, true] => Some(format!(
                "without a buffer of its own, the uplink's is {buffer}"
            )),
            [true, true] => Some(format!(
                "without --buffer, the buffer is {buffer}, and the uplink's too"
            )),
        };
        Ok((path, note))
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let single = [
            ("rate", &self.rate),
            ("rtt", &self.rtt),
            ("forward_delay", &self.forward_delay),
            ("buffer", &self.buffer),
            ("queue", &self.queue),
            ("loss", &self.loss),
            ("loss_at", &self.loss_at),
            ("ack_loss", &self.ack_loss),
            ("jitter", &self.jitter),
            ("reorder", &self.reorder),
            ("duplicate", &self.duplicate),
            ("corruption", &self.corruption),
            ("mtu", &self.mtu),
            ("policer", &self.policer),
            ("demand", &self.demand),
            ("aggregation", &self.aggregation),
            ("trace", &self.trace),
            ("uplink", &self.uplink),
        ];
        let single = single
            .into_iter()
            .filter_map(|(key, text)| Some((key, text.as_deref()?)));
        single.chain(self.change.iter().map(|text| ("change", text.as_str())))
    }
}

/// The error in terms of options: `path.ack_loss` becomes `--ack-loss`, and a table becomes `rate=10mbit,burst=100kb`.
pub fn usage(error: DocumentError) -> Failure {
    in_options(&error, "")
}

/// Like [`usage`], with a prefix before the value.
pub fn in_options(error: &DocumentError, before_value: &str) -> Failure {
    let reason = error.reason.told(|part| match part {
        Part::Value(value) => format!("{before_value}{value}"),
        Part::Field(field) => option(field).unwrap_or_else(|| field.clone()),
        // Beside an option's own name, or as a key in its value.
        Part::Meant(field) => field.rsplit('.').next().unwrap_or(field).to_owned(),
        Part::Table(table) => Node::from_option(table).to_option(),
        Part::Words(words) => words.clone(),
    });
    match option(&error.place()).as_deref() {
        // A key in an option's value is not an option: `--policer: burst is missing`.
        Some(field) if let Some((option, key)) = field.split_once('.') => {
            let colon = if reason.starts_with("is ") { "" } else { ":" };
            Failure::usage(format_args!("{option}: {key}{colon} {reason}"))
        }
        Some(option) => Failure::usage(format_args!("{option}: {reason}")),
        None => Failure::usage(error),
    }
}

/// The option for a field of a path: `--change[0].rate` for `path.change[0].rate`.
fn option(field: &str) -> Option<String> {
    let field = field.strip_prefix("path.")?;
    let end = field.find(['.', '[']).unwrap_or(field.len());
    let (key, rest) = field.split_at(end);
    Some(format!("--{}{rest}", key.replace('_', "-")))
}
