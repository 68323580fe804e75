//! The fields of a connection, with names and units. JSON, Parquet and the record of a run share them.

use std::borrow::Cow;

use kernel::Model;
use linux::diag::TcpInfo;
use serde_json::{Map, Value};
use tables::{Cells, Column};
use units::{Bytes, Duration, Rate};

use crate::connection::{ConnectionState, Limit, Shares, Since};

type Field<'s> = Column<'s, &'s ConnectionState>;

/// The fields.
pub fn fields<'s>() -> Vec<Field<'s>> {
    let mut all = who();
    all.extend(now());
    all.extend(model());
    all.extend(so_far());
    all.extend(since());
    all
}

/// The fields of a connection as JSON. Unknown ones are null.
pub fn json<'s>(fields: &[Field<'s>], seen: &'s ConnectionState) -> Map<String, Value> {
    let cell = |field: &Field<'s>| {
        let value = match &field.cells {
            Cells::Whole(cell) => cell(&seen).map(Value::from),
            Cells::Real(cell) => cell(&seen).map(Value::from),
            Cells::Text(cell) => cell(&seen).map(Value::from),
            Cells::List(_) => None,
        };
        (field.name.to_string(), value.unwrap_or(Value::Null))
    };
    fields.iter().map(cell).collect()
}

fn who<'s>() -> Vec<Field<'s>> {
    vec![
        Field::whole("connection", |seen| Some(seen.socket.cookie)),
        Field::text("local", |seen| Some(Cow::Owned(seen.local().to_string()))),
        Field::text("remote", |seen| Some(Cow::Owned(seen.remote().to_string()))),
        Field::text("tcp_state", |seen| {
            Some(Cow::Owned(seen.socket.state.to_string()))
        }),
        Field::whole("pid", |seen| Some(seen.process.as_ref()?.pid.into())),
        Field::text("process", |seen| {
            Some(Cow::Borrowed(&*seen.process.as_ref()?.name))
        }),
        Field::whole("user", |seen| Some(seen.socket.user.into())),
        Field::text("cgroup", |seen| {
            Some(Cow::Borrowed(seen.cgroup.as_deref()?))
        }),
        Field::text("namespace", |seen| Some(Cow::Borrowed(&*seen.namespace))),
        Field::whole("as_number", |seen| {
            Some(seen.system.as_ref()?.number.into())
        }),
        Field::text("as_name", |seen| {
            let name = &*seen.system.as_ref()?.name;
            (!name.is_empty()).then_some(Cow::Borrowed(name))
        }),
        Field::text("controller", |seen| {
            // The kernel's name is within the value that is looked at.
            Some(Cow::Owned(seen.socket.controller.as_str().to_owned()))
        }),
        Field::text("state", |seen| Some(Cow::Borrowed(seen.state()))),
        Field::real("unix_s", |seen| Some(seen.when.unix_s)),
        Field::real("at_s", |seen| Some(seen.when.at.as_secs_f64())),
    ]
}

fn now<'s>() -> Vec<Field<'s>> {
    vec![
        Field::real("srtt_ms", |seen| seen.rtt().map(Duration::as_millis_f64)),
        Field::real("min_rtt_ms", |seen| {
            info(seen).min_rtt.map(Duration::as_millis_f64)
        }),
        Field::whole("delivery_rate_bps", |seen| {
            bps(Some(info(seen).delivery_rate).filter(|rate| !rate.is_zero()))
        }),
        Field::whole("app_limited", |seen| {
            Some(info(seen).delivery_rate_app_limited.into())
        }),
        Field::whole("inflight_bytes", |seen| Some(seen.inflight().get())),
        Field::whole("below_tcp_bytes", |seen| {
            Some(seen.socket.memory.below_tcp.get())
        }),
        Field::whole("cwnd_bytes", |seen| packets(seen, info(seen).snd_cwnd)),
        Field::whole("ssthresh_bytes", |seen| {
            packets(seen, info(seen).snd_ssthresh?)
        }),
        Field::whole("pacing_rate_bps", |seen| bps(info(seen).pacing_rate)),
        Field::whole("unsent_bytes", |seen| Some(info(seen).notsent_bytes.get())),
        Field::whole("unread_bytes", |seen| Some(seen.socket.unread.get())),
        Field::whole("send_window_bytes", |seen| Some(info(seen).snd_wnd.get())),
        Field::whole("mss_bytes", |seen| Some(info(seen).snd_mss.get())),
    ]
}

/// BBR's model of the path.
fn model<'s>() -> Vec<Field<'s>> {
    let of = |seen: &ConnectionState| seen.model();
    vec![
        Field::whole("btl_bw_bps", move |seen| bps(of(seen)?.bw)),
        Field::real("rtprop_ms", move |seen| {
            Some(of(seen)?.min_rtt?.as_millis_f64())
        }),
        Field::whole(
            "short_term_bw_bps",
            move |seen| bps(of(seen)?.short_term_bw),
        ),
        Field::whole("short_term_inflight_bytes", move |seen| {
            bound(of(seen), |model| model.short_term_inflight)
        }),
        Field::whole("long_term_inflight_bytes", move |seen| {
            bound(of(seen), |model| model.long_term_inflight)
        }),
    ]
}

fn so_far<'s>() -> Vec<Field<'s>> {
    vec![
        Field::whole("acknowledged_bytes", |seen| Some(seen.acknowledged().get())),
        Field::whole("received_bytes", |seen| {
            Some(info(seen).bytes_received.get())
        }),
        Field::whole("sent_packets", |seen| Some(info(seen).data_segs_out.into())),
        Field::whole("retransmitted_packets", |seen| {
            Some(seen.retransmitted_packets())
        }),
        Field::whole("marked_packets", |seen| {
            Some(info(seen).delivered_ce.into())
        }),
        Field::real("busy_s", |seen| Some(info(seen).busy_time.as_secs_f64())),
        Field::real("rwnd_limited_s", |seen| {
            Some(info(seen).rwnd_limited.as_secs_f64())
        }),
        Field::real("sndbuf_limited_s", |seen| {
            Some(info(seen).sndbuf_limited.as_secs_f64())
        }),
    ]
}

/// Changes since the previous sample.
fn since<'s>() -> Vec<Field<'s>> {
    vec![
        Field::real("since_s", |seen| {
            past(seen, |since| since.span.as_secs_f64())
        }),
        Field::whole("send_rate_bps", |seen| bps(seen.send_rate())),
        Field::whole("receive_rate_bps", |seen| bps(seen.receive_rate())),
        Field::real("limited_application", |seen| {
            share(seen, |shares| shares.application)
        }),
        Field::real("limited_receiver", |seen| {
            share(seen, |shares| shares.receiver)
        }),
        Field::real("limited_send_buffer", |seen| {
            share(seen, |shares| shares.send_buffer)
        }),
        Field::real("limited_congestion", |seen| {
            share(seen, |shares| shares.congestion)
        }),
        Field::text("limit", |seen| {
            let (limit, _) = seen.shares()?.most();
            Some(Cow::Borrowed(Limit::name(limit)))
        }),
    ]
}

fn info(seen: &ConnectionState) -> &TcpInfo {
    &seen.socket.info
}

fn packets(seen: &ConnectionState, count: u32) -> Option<u64> {
    Some((info(seen).snd_mss * u64::from(count)).get())
}

fn bps(rate: Option<Rate>) -> Option<u64> {
    rate.map(Rate::bits_per_sec)
}

fn bound(model: Option<Model>, of: fn(&Model) -> Option<Bytes>) -> Option<u64> {
    model.as_ref().and_then(of).map(Bytes::get)
}

fn past<T>(seen: &ConnectionState, of: fn(&Since) -> T) -> Option<T> {
    seen.since.as_ref().map(of)
}

fn share(seen: &ConnectionState, of: fn(&Shares) -> f64) -> Option<f64> {
    seen.shares().as_ref().map(of)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::tests::seen;

    #[test]
    fn every_field_has_a_name_of_its_own_and_what_the_socket_has() {
        let seen = seen();
        let fields = fields();
        let names: HashSet<_> = fields.iter().map(|field| field.name.to_string()).collect();
        assert_eq!(names.len(), fields.len());
        let json = json(&fields, &seen);
        for (name, value) in [
            ("remote", Value::from("198.51.100.7:50000")),
            ("process", "nginx".into()),
            ("controller", "bbr".into()),
            ("srtt_ms", 40.0.into()),
            ("min_rtt_ms", 20.0.into()),
            ("send_rate_bps", 8_000_000.into()),
            ("limit", "congestion".into()),
            ("state", "ProbeBW".into()),
        ] {
            assert_eq!(json.get(name), Some(&value), "{name}");
        }
    }
}
