//! A scenario as TOML, such that reading it gives the same scenario.

use std::fmt;

use toml::{Table, Value};

use super::host::{loss_detection_name, scheduler_name};
use super::{Bbr1Spec, FlowSpec, HostSpec, LinkSpec, PathSpec, Scenario, app};
use path::{Aggregation, CoDel, Discipline, Loss, LossAt};
use units::{Duration, Ratio};

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        text(&mut table, "name", &self.name);
        if let Some(duration) = self.duration {
            text(&mut table, "duration", duration);
        }
        if !self.warmup.is_zero() {
            text(&mut table, "warmup", self.warmup);
        }
        whole(&mut table, "seed", self.seed);
        let mut first = path(&self.path);
        if !self.next.is_empty() {
            let next = self.next.iter().map(|hop| Value::Table(path(hop)));
            first.insert("next".into(), Value::Array(next.collect()));
        }
        table.insert("path".into(), Value::Table(first));
        if self.host != HostSpec::UNSET {
            table.insert("host".into(), Value::Table(host(&self.host)));
        }
        let flows = self.flows.iter().map(|spec| Value::Table(flow(spec)));
        table.insert("flow".into(), Value::Array(flows.collect()));
        table.fmt(f)
    }
}

fn text(table: &mut Table, key: &str, value: impl fmt::Display) {
    table.insert(key.into(), Value::String(value.to_string()));
}

fn whole(table: &mut Table, key: &str, value: u64) {
    match i64::try_from(value) {
        Ok(value) => table.insert(key.into(), Value::Integer(value)),
        // TOML's integers end at 2^63.
        Err(_) => table.insert(key.into(), Value::String(value.to_string())),
    };
}

fn share(table: &mut Table, key: &str, value: Ratio) {
    if value != Ratio::ZERO {
        text(table, key, value);
    }
}

fn link(spec: &LinkSpec) -> Table {
    let mut table = Table::new();
    if let Some(rate) = spec.rate {
        text(&mut table, "rate", rate);
    }
    if let Some(trace) = &spec.trace {
        text(&mut table, "trace", trace.display());
    }
    if let Some(buffer) = spec.buffer {
        text(&mut table, "buffer", buffer);
    }
    match spec.loss {
        // A place needs a loss.
        Loss::None if spec.loss_at == LossAt::Exit => text(&mut table, "loss", Ratio::ZERO),
        Loss::None => {}
        Loss::Independent(loss) => text(&mut table, "loss", loss),
        Loss::GilbertElliott(gilbert) => {
            let mut inner = Table::new();
            text(&mut inner, "kind", "gilbert");
            text(&mut inner, "p", gilbert.p);
            text(&mut inner, "r", gilbert.r);
            text(&mut inner, "loss_good", gilbert.loss_good);
            text(&mut inner, "loss_bad", gilbert.loss_bad);
            table.insert("loss".into(), Value::Table(inner));
        }
    }
    match spec.loss_at {
        LossAt::Entry => {}
        LossAt::Exit => text(&mut table, "loss_at", "exit"),
    }
    if let Some(discipline) = queue(spec.queue) {
        table.insert("queue".into(), Value::Table(discipline));
    }
    share(&mut table, "duplicate", spec.duplicate);
    if let Some(jitter) = spec.jitter {
        let mut inner = Table::new();
        text(&mut inner, "up_to", jitter.up_to);
        inner.insert("reorders".into(), Value::Boolean(jitter.reorders));
        table.insert("jitter".into(), Value::Table(inner));
    }
    if let Some(reorder) = spec.reorder {
        let mut inner = Table::new();
        text(&mut inner, "share", reorder.share);
        text(&mut inner, "by", reorder.by);
        table.insert("reorder".into(), Value::Table(inner));
    }
    if let Some(policer) = spec.policer {
        let mut inner = Table::new();
        text(&mut inner, "rate", policer.rate);
        text(&mut inner, "burst", policer.burst);
        table.insert("policer".into(), Value::Table(inner));
    }
    if let Some(demand) = spec.demand {
        let mut inner = Table::new();
        text(&mut inner, "interval", demand.interval);
        text(&mut inner, "within", demand.within);
        text(&mut inner, "least", demand.least);
        table.insert("demand".into(), Value::Table(inner));
    }
    if let Some(aggregated) = spec.aggregation {
        table.insert("aggregation".into(), Value::Table(aggregation(aggregated)));
    }
    if !spec.changes.is_empty() {
        let changes = spec.changes.iter().map(|change| {
            let mut inner = Table::new();
            text(&mut inner, "at", change.at);
            if let Some(rate) = change.rate {
                text(&mut inner, "rate", rate);
            }
            if let Some(rtt) = change.rtt {
                text(&mut inner, "rtt", rtt);
            }
            Value::Table(inner)
        });
        table.insert("change".into(), Value::Array(changes.collect()));
    }
    table
}

fn queue(spec: Discipline) -> Option<Table> {
    let mut table = Table::new();
    let codel = |table: &mut Table, codel: CoDel| {
        text(table, "target", codel.target);
        text(table, "interval", codel.interval);
        table.insert("ecn".into(), Value::Boolean(codel.ecn));
    };
    match spec {
        Discipline::DropTail => return None,
        Discipline::CoDel(spec) => {
            text(&mut table, "kind", "codel");
            codel(&mut table, spec);
        }
        Discipline::FqCoDel(spec) => {
            text(&mut table, "kind", "fq_codel");
            whole(&mut table, "flows", spec.flows.into());
            text(&mut table, "quantum", spec.quantum);
            codel(&mut table, spec.codel);
        }
        Discipline::Red(spec) => {
            text(&mut table, "kind", "red");
            text(&mut table, "min", spec.min);
            text(&mut table, "max", spec.max);
            text(&mut table, "probability", spec.probability);
            table.insert("gentle".into(), Value::Boolean(spec.gentle));
            table.insert("ecn".into(), Value::Boolean(spec.ecn));
        }
    }
    Some(table)
}

fn aggregation(spec: Aggregation) -> Table {
    let mut table = Table::new();
    text(&mut table, "interval", spec.interval);
    table
}

fn path(spec: &PathSpec) -> Table {
    let mut table = link(&spec.data);
    text(&mut table, "rtt", spec.rtt);
    share(&mut table, "ack_loss", spec.ack_loss);
    if let Some(aggregated) = spec.aggregation {
        table.insert("aggregation".into(), Value::Table(aggregation(aggregated)));
    }
    let uplink = link(&spec.uplink);
    if !uplink.is_empty() {
        table.insert("uplink".into(), Value::Table(uplink));
    }
    table
}

fn host(spec: &HostSpec) -> Table {
    let mut table = Table::new();
    fn given(table: &mut Table, key: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            text(table, key, value);
        }
    }
    given(&mut table, "scheduler", spec.scheduler.map(scheduler_name));
    given(&mut table, "nic", spec.nic);
    let counts = [
        ("mss", spec.mss),
        ("initial_cwnd", spec.initial_cwnd),
        ("ack_every", spec.ack_every),
        ("sack_blocks", spec.sack_blocks),
        ("compressed_acks", spec.compressed_acks),
    ];
    for (key, count) in counts {
        if let Some(count) = count {
            whole(&mut table, key, count);
        }
    }
    given(&mut table, "send_buffer", spec.send_buffer);
    given(&mut table, "receive_buffer", spec.receive_buffer);
    given(
        &mut table,
        "initial_receive_buffer",
        spec.initial_receive_buffer,
    );
    given(&mut table, "delayed_ack", spec.delayed_ack);
    given(&mut table, "aggregation_delay", spec.aggregation_delay);
    given(&mut table, "min_rto", spec.min_rto);
    given(&mut table, "max_rto", spec.max_rto);
    given(
        &mut table,
        "loss_detection",
        spec.loss_detection.map(loss_detection_name),
    );
    for (key, is_on) in [("ecn", spec.ecn), ("offload", spec.offload)] {
        if let Some(is_on) = is_on {
            table.insert(key.into(), Value::Boolean(is_on));
        }
    }
    table
}

fn flow(spec: &FlowSpec) -> Table {
    let mut table = Table::new();
    text(&mut table, "controller", spec.controller);
    if spec.count != 1 {
        whole(&mut table, "count", spec.count);
    }
    for (key, span) in [("start", spec.start), ("stagger", spec.stagger)] {
        if span != Duration::ZERO {
            text(&mut table, key, span);
        }
    }
    if let Some(bytes) = spec.bytes {
        text(&mut table, "bytes", bytes);
    }
    if let Some(app) = app::to_toml(&spec.app) {
        table.insert("app".into(), Value::Table(app));
    }
    if let Some(rtt) = spec.rtt {
        text(&mut table, "rtt", rtt);
    }
    if let Some(bbr1) = spec.bbr1 {
        let mut inner = Table::new();
        let mut variants = Bbr1Spec::VARIANTS.iter();
        if let Some((name, _)) = variants.find(|(_, of)| *of == bbr1.variant) {
            text(&mut inner, "variant", name);
        }
        if let Some(gain) = bbr1.cwnd_gain {
            text(&mut inner, "cwnd_gain", gain);
        }
        if let Some(has) = bbr1.has_policer_model {
            inner.insert("policer_model".into(), Value::Boolean(has));
        }
        if let Some(has) = bbr1.has_departure_model {
            inner.insert("departure_model".into(), Value::Boolean(has));
        }
        table.insert("bbr1".into(), Value::Table(inner));
    }
    if spec.reverse {
        table.insert("reverse".into(), Value::Boolean(true));
    }
    if let Some(hops) = spec.hops {
        text(&mut table, "hops", hops);
    }
    if spec.host != HostSpec::UNSET {
        table.insert("host".into(), Value::Table(host(&spec.host)));
    }
    table
}
