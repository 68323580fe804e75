//! The queue discipline: `queue`.

use path::{CoDel, Discipline, FqCoDel, LinkConfig, Red};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration, Ratio};

use super::bounds::positive;
use super::de::wrong;
use super::ser::tagged;

/// As scenarios have it: a name, or a table with `kind` and what it takes.
#[derive(Serialize, Deserialize)]
#[serde(rename = "queue", rename_all = "snake_case", deny_unknown_fields)]
enum Form {
    Droptail,
    #[serde(rename = "codel")]
    CoDel {
        target: Option<Duration>,
        interval: Option<Duration>,
        ecn: Option<bool>,
    },
    #[serde(rename = "fq_codel")]
    FqCoDel {
        flows: Option<u32>,
        quantum: Option<Bytes>,
        target: Option<Duration>,
        interval: Option<Duration>,
        ecn: Option<bool>,
    },
    Red {
        min: Bytes,
        max: Bytes,
        probability: Option<Ratio>,
        gentle: Option<bool>,
        ecn: Option<bool>,
    },
    Threshold {
        #[serde(deserialize_with = "positive")]
        at: Bytes,
    },
}

impl From<Form> for Discipline {
    fn from(form: Form) -> Discipline {
        let codel = |usual: CoDel, target: Option<_>, interval: Option<_>, ecn: Option<_>| CoDel {
            target: target.unwrap_or(usual.target),
            interval: interval.unwrap_or(usual.interval),
            ecn: ecn.unwrap_or(usual.ecn),
        };
        match form {
            Form::Droptail => Discipline::DropTail,
            Form::CoDel {
                target,
                interval,
                ecn,
            } => Discipline::CoDel(codel(CoDel::default(), target, interval, ecn)),
            Form::FqCoDel {
                flows,
                quantum,
                target,
                interval,
                ecn,
            } => {
                let usual = FqCoDel::default();
                Discipline::FqCoDel(FqCoDel {
                    flows: flows.unwrap_or(usual.flows),
                    quantum: quantum.unwrap_or(usual.quantum),
                    codel: codel(usual.codel, target, interval, ecn),
                })
            }
            Form::Red {
                min,
                max,
                probability,
                gentle,
                ecn,
            } => {
                let usual = Red::new(min, max);
                Discipline::Red(Red {
                    probability: probability.unwrap_or(usual.probability),
                    gentle: gentle.unwrap_or(usual.gentle),
                    ecn: ecn.unwrap_or(usual.ecn),
                    ..usual
                })
            }
            Form::Threshold { at } => Discipline::Red(Red::threshold(at)),
        }
    }
}

impl From<Discipline> for Form {
    fn from(discipline: Discipline) -> Form {
        match discipline {
            Discipline::DropTail => Form::Droptail,
            Discipline::CoDel(CoDel {
                target,
                interval,
                ecn,
            }) => Form::CoDel {
                target: Some(target),
                interval: Some(interval),
                ecn: Some(ecn),
            },
            Discipline::FqCoDel(FqCoDel {
                flows,
                quantum,
                codel:
                    CoDel {
                        target,
                        interval,
                        ecn,
                    },
            }) => Form::FqCoDel {
                flows: Some(flows),
                quantum: Some(quantum),
                target: Some(target),
                interval: Some(interval),
                ecn: Some(ecn),
            },
            Discipline::Red(Red {
                min,
                max,
                probability,
                gentle,
                ecn,
            }) => Form::Red {
                min,
                max,
                probability: Some(probability),
                gentle: Some(gentle),
                ecn: Some(ecn),
            },
        }
    }
}

/// What `kind` calls the queue discipline.
pub fn queue_kind(discipline: Discipline) -> &'static str {
    match discipline {
        Discipline::DropTail => "droptail",
        Discipline::CoDel(_) => "codel",
        Discipline::FqCoDel(_) => "fq_codel",
        Discipline::Red(red) if red.min == red.max => "threshold",
        Discipline::Red(_) => "red",
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Discipline, D::Error> {
    let queue = Form::deserialize(deserializer)?.into();
    let link = LinkConfig {
        queue,
        ..LinkConfig::default()
    };
    link.validate().map_err(|error| {
        let field = error.field();
        wrong(
            field.strip_prefix("queue.").unwrap_or(field),
            error.problem(),
        )
    })?;
    Ok(queue)
}

pub fn serialize<S: Serializer>(queue: &Discipline, serializer: S) -> Result<S::Ok, S::Error> {
    tagged(&Form::from(*queue), serializer)
}
