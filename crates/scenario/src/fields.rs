//! Fields of `[path]` that are more than one value.

use path::{
    Aggregation, CoDel, Demand, Discipline, FqCoDel, GilbertElliott, Jitter, LinkConfig, Loss,
    LossAt, Policer, Red, Reorder,
};
use units::{Bytes, Duration, Ratio};

use super::error::ScenarioError;
use super::link_spec::PACKET;
use super::value::{Fields, Value};

pub fn loss(value: &Value) -> Result<Loss, ScenarioError> {
    if let Value::Scalar(_) = value {
        return value.share().map(independent);
    }
    let example = "{ kind = \"gilbert\", p = \"1%\", r = \"30%\" }";
    let fields = value.fields(example, &GILBERT)?;
    fields.required("kind", |kind| match kind.text("gilbert")? {
        "gilbert" => Ok(()),
        _ => Err(kind.wrong("is no known kind of loss; known: gilbert")),
    })?;
    Ok(Loss::GilbertElliott(GilbertElliott {
        p: fields.required("p", Value::share)?,
        r: fields.required("r", Value::share)?,
        loss_good: fields
            .optional("loss_good", Value::share)?
            .unwrap_or(Ratio::ZERO),
        loss_bad: fields
            .optional("loss_bad", Value::share)?
            .unwrap_or(Ratio::ONE),
    }))
}

pub fn loss_at(value: &Value) -> Result<LossAt, ScenarioError> {
    match value.text("entry or exit")? {
        "entry" => Ok(LossAt::Entry),
        "exit" => Ok(LossAt::Exit),
        _ => Err(value.wrong("is no place; known: entry, exit")),
    }
}

/// Loss with one probability for all packets; none if it is zero.
pub fn independent(loss: Ratio) -> Loss {
    match loss == Ratio::ZERO {
        true => Loss::None,
        false => Loss::Independent(loss),
    }
}

pub fn jitter(value: &Value) -> Result<Jitter, ScenarioError> {
    if let Value::Scalar(_) = value {
        let up_to = value.positive_time()?;
        return Ok(Jitter {
            up_to,
            reorders: false,
        });
    }
    let example = "{ up_to = \"5ms\", reorders = true }";
    let fields = value.fields(example, &JITTER)?;
    Ok(Jitter {
        up_to: fields.required("up_to", Value::positive_time)?,
        reorders: fields.or("reorders", false, Value::yes_or_no)?,
    })
}

pub fn reorder(value: &Value) -> Result<Reorder, ScenarioError> {
    let example = "{ share = \"1%\", by = \"10ms\" }";
    let fields = value.fields(example, &REORDER)?;
    Ok(Reorder {
        share: fields.required("share", Value::share)?,
        by: fields.required("by", Value::positive_time)?,
    })
}

pub fn policer(value: &Value) -> Result<Policer, ScenarioError> {
    let example = "{ rate = \"10mbit\", burst = \"100kb\" }";
    let fields = value.fields(example, &POLICER)?;
    Ok(Policer {
        rate: fields.required("rate", Value::positive_rate)?,
        burst: fields.required("burst", |value| {
            let burst: Bytes = value.parse()?;
            match burst < PACKET {
                true => Err(value.wrong("is smaller than one packet (1500 bytes)")),
                false => Ok(burst),
            }
        })?,
    })
}

pub fn demand(value: &Value) -> Result<Demand, ScenarioError> {
    let example = "{ within = \"20ms\", least = \"500kbit\" }";
    let fields = value.fields(example, &DEMAND)?;
    Ok(Demand {
        interval: fields.or("interval", RADIO_FRAME, Value::positive_time)?,
        within: fields.required("within", Value::positive_time)?,
        least: fields.required("least", Value::positive_rate)?,
    })
}

/// How often a cell looks at what waits: every radio frame of LTE (3GPP TS 36.211, 4).
const RADIO_FRAME: Duration = Duration::from_millis(10);

pub fn aggregation(value: &Value) -> Result<Aggregation, ScenarioError> {
    let fields = value.fields("{ interval = \"10ms\" }", &AGGREGATION)?;
    Ok(Aggregation {
        interval: fields.required("interval", Value::positive_time)?,
    })
}

pub const GILBERT: [&str; 5] = ["kind", "p", "r", "loss_good", "loss_bad"];
pub const JITTER: [&str; 2] = ["up_to", "reorders"];
pub const REORDER: [&str; 2] = ["share", "by"];
pub const POLICER: [&str; 2] = ["rate", "burst"];
pub const DEMAND: [&str; 3] = ["interval", "within", "least"];
pub const AGGREGATION: [&str; 1] = ["interval"];

/// The queue disciplines, as `kind` calls them.
const QUEUES: [&str; 5] = ["droptail", "codel", "fq_codel", "red", "threshold"];

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

/// The fields of `queue`, by kind; each has `kind` beside them.
pub const CODEL: [&str; 4] = ["kind", "target", "interval", "ecn"];
pub const FQ_CODEL: [&str; 6] = ["kind", "target", "interval", "ecn", "flows", "quantum"];
pub const RED: [&str; 6] = ["kind", "min", "max", "probability", "gentle", "ecn"];
pub const THRESHOLD: [&str; 2] = ["kind", "at"];

/// The queue discipline: a name, or a table with `kind` and what it takes.
pub fn queue(value: &Value) -> Result<Discipline, ScenarioError> {
    let (kind, table) = value.kind("queue", &QUEUES)?;
    let fields = |known| table.fields("{ kind = \"codel\", target = \"5ms\" }", known);
    let discipline = match kind {
        "codel" => Discipline::CoDel(codel(&fields(&CODEL)?, CoDel::default())?),
        "fq_codel" => {
            let (fields, usual) = (fields(&FQ_CODEL)?, FqCoDel::default());
            Discipline::FqCoDel(FqCoDel {
                flows: fields.or("flows", usual.flows, Value::parse)?,
                quantum: fields.or("quantum", usual.quantum, Value::parse)?,
                codel: codel(&fields, usual.codel)?,
            })
        }
        "red" => {
            let fields = fields(&RED)?;
            let size = |key| fields.required(key, Value::parse);
            let usual = Red::new(size("min")?, size("max")?);
            Discipline::Red(Red {
                probability: fields.or("probability", usual.probability, Value::share)?,
                gentle: fields.or("gentle", usual.gentle, Value::yes_or_no)?,
                ecn: fields.or("ecn", usual.ecn, Value::yes_or_no)?,
                ..usual
            })
        }
        "threshold" => {
            let at = fields(&THRESHOLD)?.required("at", Value::positive_size)?;
            Discipline::Red(Red::threshold(at))
        }
        _ => {
            fields(&["kind"])?;
            Discipline::DropTail
        }
    };
    let link = LinkConfig {
        queue: discipline,
        ..LinkConfig::default()
    };
    link.validate().map_err(|error| {
        let field = error.field();
        ScenarioError::new(
            field.strip_prefix("queue.").unwrap_or(field),
            error.problem(),
        )
    })?;
    Ok(discipline)
}

fn codel(fields: &Fields<'_>, usual: CoDel) -> Result<CoDel, ScenarioError> {
    Ok(CoDel {
        target: fields.or("target", usual.target, Value::parse)?,
        interval: fields.or("interval", usual.interval, Value::parse)?,
        ecn: fields.or("ecn", usual.ecn, Value::yes_or_no)?,
    })
}
