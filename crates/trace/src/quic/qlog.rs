//! qlogs, the logs of QUIC implementations (draft-ietf-quic-qlog-main-schema and -quic-events, and the older versions that
//! most implementations write). A qlog is one JSON text, or a sequence of them.

use std::fmt;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr};

use capture::packet::{Body, Endpoint, Flags, Packet};
use capture::quic::delays::Delays;
use capture::quic::frames::Frame;
use capture::read::ReadError;
use connection::Connection;
use connection::memory::Memory;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use text::TextError;
use units::{Bytes, Duration, Time};

use super::course::{Course, Opened};

/// The longest log in one JSON text, which is in memory as a whole.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// The longest event that is parsed. A longer item is ignored. No more of a log than this is parsed at once.
const MAX_EVENT_BYTES: usize = 1 << 20;

/// The most connections of one log that are read.
const MAX_TRACES: usize = 4096;

/// The most ranges of one acknowledgement that are read.
const MAX_RANGES: usize = 1024;

/// The longest frame: a frame is within one packet.
const MAX_FRAME_BYTES: u64 = u16::MAX as u64;

/// The last packet number (RFC 9000, section 12.3).
const MAX_PACKET_NUMBER: u64 = (1 << 62) - 1;

/// The deepest nesting of brackets in a log.
const MAX_NESTING: usize = 64;

/// The separator before each text of a sequence (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// The headers of UDP and IPv4.
const HEADER_BYTES: u32 = 28;

/// The shortest text that says something: an event, or the header of a sequence.
const MIN_TEXT_BYTES: usize = r#"{"name":"","time":0}"#.len();

/// True if a file with these first bytes may be a log. One in UTF-16 is told when it is read.
pub fn is_one(start: &[u8]) -> bool {
    let text = start.strip_prefix(text::MARK).unwrap_or(start);
    text::is_utf_16(start)
        || text
            .first()
            .is_some_and(|first| matches!(*first, b'{' | SEPARATOR))
}

/// A log in one JSON text.
#[derive(Deserialize)]
struct Whole<'t> {
    #[serde(borrow, default)]
    traces: Option<&'t RawValue>,
}

/// A connection in such a log.
#[derive(Deserialize)]
struct Trace<'t> {
    #[serde(borrow, default)]
    vantage_point: Option<&'t RawValue>,
    #[serde(borrow, default)]
    common_fields: Option<&'t RawValue>,
    #[serde(borrow, default)]
    time_format: Option<&'t RawValue>,
    #[serde(borrow, default)]
    reference_time: Option<&'t RawValue>,
    #[serde(borrow, default)]
    events: Option<&'t RawValue>,
}

/// Calls `see` for each of the first `most` items of a list, until it returns false.
struct Each<F> {
    most: usize,
    see: F,
}

impl<'t, F: FnMut(&'t str) -> bool> Visitor<'t> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut list: A) -> Result<(), A::Error> {
        for _ in 0..self.most {
            let Some(item) = list.next_element::<&RawValue>()? else {
                return Ok(());
            };
            if !(self.see)(item.get()) {
                return Err(A::Error::custom("the caller wants no more"));
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Calls `see` for each of the first `most` items of a list, until it returns false. A value that is not a list has no items.
fn each<'t>(list: Option<&'t RawValue>, most: usize, see: impl FnMut(&'t str) -> bool) {
    let Some(list) = list else { return };
    let mut text = serde_json::Deserializer::from_str(list.get());
    // The text is valid JSON, so an error only means that it is not a list, or that it is not wanted.
    let _ = text.deserialize_seq(Each { most, see });
}

/// Parses a value; null if it is too long or invalid.
fn value(text: &str) -> Value {
    let is_short = text.len() <= MAX_EVENT_BYTES;
    let value = is_short.then(|| serde_json::from_str(text).ok()).flatten();
    value.unwrap_or_default()
}

/// A log while it is read.
#[derive(Default)]
struct Log {
    /// True if the server wrote it. Without a vantage point, the first packet decides: a client sends it.
    is_server: Option<bool>,
    is_delta: bool,
    origin_ms: f64,
    now_ms: f64,
    course: Option<Course>,
    ends: Option<[Endpoint; 2]>,
    packets: u64,
    /// The parameters of ACK delays, of the client and of the server.
    delays: [Delays; 2],
    /// The bytes that [`Memory`] has counted for it.
    counted: usize,
}

/// Reads a log, or the part before `goes_on` returned false. Returns its connections, and whether the end of the log is
/// missing.
///
/// # Errors
/// The log cannot be read, or has no packets.
pub fn read(
    source: impl Read,
    memory: &mut Memory,
    goes_on: &dyn Fn() -> bool,
) -> Result<(Vec<Connection>, bool), ReadError> {
    let mut text = Vec::new();
    let mut is_cut = match source.take(MAX_LOG_BYTES).read_to_end(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
        read => read.map(|_| false)?,
    };
    if text.len() as u64 >= MAX_LOG_BYTES {
        let most = Bytes::new(MAX_LOG_BYTES);
        return Err(ReadError::Qlog(format!("it is longer than {most}; cut it")));
    }
    if text::is_utf_16(&text) {
        return Err(ReadError::Qlog(TextError::Utf16.to_string()));
    }
    if text.starts_with(text::MARK) {
        text.drain(..text::MARK.len());
    }
    // A machine that stopped while it wrote leaves zeros.
    let end = text.iter().rposition(|byte| *byte != 0);
    text.truncate(end.map_or(0, |end| end + 1));
    let mut connections = Vec::new();
    let mut all = |whole: Whole<'_>| {
        each(whole.traces, MAX_TRACES, |trace| {
            connections.extend(Log::of(trace, memory, goes_on));
            goes_on()
        });
    };
    let mended;
    match serde_json::from_slice::<Whole<'_>>(&text) {
        Ok(whole) => all(whole),
        Err(error) if error.is_eof() && text.first() == Some(&b'{') => {
            is_cut = true;
            mended = mend(text);
            if let Ok(whole) = serde_json::from_slice::<Whole<'_>>(&mended) {
                all(whole);
            }
        }
        Err(_) => connections.extend(sequence(&text, memory, goes_on)?),
    }
    if connections.is_empty() {
        return Err(ReadError::Qlog(
            "it has no packet_sent or packet_received events with frames".to_owned(),
        ));
    }
    Ok((connections, is_cut))
}

/// Repairs a truncated text: removes what is behind the last complete event, and closes the open brackets.
fn mend(mut text: Vec<u8>) -> Vec<u8> {
    // The open brackets, and whether each one is of a list of events.
    let mut open: Vec<(u8, bool)> = Vec::new();
    let (mut is_text, mut is_escaped) = (false, false);
    let mut begin = 0;
    let mut name = 0..0;
    let (mut end, mut open_then) = (0, Vec::new());
    for (place, byte) in text.iter().enumerate() {
        if is_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    is_text = false;
                    name = begin..place;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => (is_text, begin) = (true, place + 1),
            b'{' | b'[' => {
                if open.len() >= MAX_NESTING {
                    break;
                }
                open.push((*byte, text.get(name.clone()) == Some(&b"events"[..])));
                name = 0..0;
            }
            b'}' | b']' => {
                open.pop();
                if open.last() == Some(&(b'[', true)) {
                    end = place + 1;
                    open_then.clone_from(&open);
                }
            }
            _ => {}
        }
    }
    text.truncate(end);
    let missing = open_then.iter().rev();
    text.extend(missing.map(|(bracket, _)| if *bracket == b'{' { b'}' } else { b']' }));
    text
}

/// Reads a sequence of texts, the first of which is the header. Texts behind a damaged one are read, too. A separator begins
/// each text (RFC 7464), which may have line breaks. Without separators, a text begins with the line that begins with a
/// bracket.
fn sequence(
    text: &[u8],
    memory: &mut Memory,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Connection>, ReadError> {
    let parsed = |text: &[u8]| {
        let text = std::str::from_utf8(text).unwrap_or_default();
        value(text.trim_matches('\0'))
    };
    let mut log = Log::default();
    let mut has_header = false;
    let mut take = |value: Value| {
        if has_header {
            log.event(&value, memory);
        } else if value.get("qlog_version").is_some() || value.get("trace").is_some() {
            log.begin(&value["trace"]);
            has_header = true;
        }
    };
    // An error of the parser takes longer than short texts are worth: a log may have a hundred million of them.
    let says_something = |text: &&[u8]| text.len() >= MIN_TEXT_BYTES;
    let parts = text.split(|byte| *byte == SEPARATOR);
    for part in parts.filter(says_something).take_while(|_| goes_on()) {
        let whole = parsed(part);
        if whole.is_object() {
            take(whole);
            continue;
        }
        let texts = part.chunk_by(|byte, next| (*byte, *next) != (b'\n', b'{'));
        texts
            .filter(says_something)
            .take_while(|_| goes_on())
            .for_each(|text| take(parsed(text)));
    }
    if !has_header {
        return Err(ReadError::Qlog("it has no header".to_owned()));
    }
    Ok(log.finish(memory))
}

impl Log {
    /// Reads a connection of a log in one JSON text.
    fn of(trace: &str, memory: &mut Memory, goes_on: &dyn Fn() -> bool) -> Option<Connection> {
        let trace: Trace<'_> = serde_json::from_str(trace).ok()?;
        let part = |part: Option<&RawValue>| part.map_or(Value::Null, |part| value(part.get()));
        let mut log = Log::default();
        log.begin(&serde_json::json!({
            "vantage_point": part(trace.vantage_point),
            "common_fields": part(trace.common_fields),
            "time_format": part(trace.time_format),
            "reference_time": part(trace.reference_time),
        }));
        each(trace.events, usize::MAX, |event| {
            if event.len() >= MIN_TEXT_BYTES {
                log.event(&value(event), memory);
            }
            goes_on()
        });
        log.finish(memory)
    }

    fn begin(&mut self, trace: &Value) {
        let point = &trace["vantage_point"];
        let kind = |name: &str| point[name].as_str();
        let kind = kind("type").or(kind("flow"));
        self.is_server = kind.map(|kind| kind == "server");
        let common = &trace["common_fields"];
        let of = |name: &str| common.get(name).or(trace.get(name));
        self.is_delta = of("time_format")
            .and_then(Value::as_str)
            .is_some_and(|format| matches!(format, "delta" | "relative_to_previous_event"));
        self.origin_ms = of("reference_time").and_then(Value::as_f64).unwrap_or(0.0);
    }

    fn event(&mut self, event: &Value, memory: &mut Memory) {
        let (Some(name), Some(time)) = (event["name"].as_str(), event["time"].as_f64()) else {
            return;
        };
        if self.is_delta {
            self.now_ms += time;
        } else {
            self.now_ms = time;
        }
        let data = &event["data"];
        let name = name.rsplit(':').next();
        if let Some("packet_sent" | "packet_received") = name {
            self.is_server
                .get_or_insert(name == Some("packet_received"));
        }
        let is_server = self.is_server.unwrap_or(false);
        let own = usize::from(is_server);
        match name {
            Some("packet_sent") => self.packet(own, data, memory),
            Some("packet_received") => self.packet(1 - own, data, memory),
            Some("parameters_set") => {
                let is_remote = data["owner"].as_str() == Some("remote");
                let side = if is_remote { 1 - own } else { own };
                self.delays[side].set_longest(data["max_ack_delay"].as_u64());
            }
            Some("connection_started") => self.ends = self.ends.or(ends(data, is_server)),
            _ => {}
        }
    }

    fn packet(&mut self, side: usize, data: &Value, memory: &mut Memory) {
        let (header, Some(listed)) = (&data["header"], data["frames"].as_array()) else {
            return;
        };
        let number = header["packet_number"].as_u64();
        let Some(number) = number.filter(|number| *number <= MAX_PACKET_NUMBER) else {
            return;
        };
        let len = data["raw"]["length"]
            .as_u64()
            .or(header["packet_size"].as_u64());
        let len = u32::try_from(len.unwrap_or(0)).unwrap_or(u32::MAX);
        let frames: Vec<Frame> = listed.iter().filter_map(frame).collect();
        let ends = self.ends.unwrap_or_else(nobody);
        let nanos = ((self.origin_ms + self.now_ms).max(0.0) * 1e6) as u64;
        let packet = Packet {
            at: Time::ZERO + Duration::from_nanos(nanos),
            from: ends[side],
            to: ends[1 - side],
            ip_len: len.saturating_add(HEADER_BYTES),
            id: 0,
            is_marked: false,
            tunnel: None,
            body: Body::Udp { len, payload: &[] },
        };
        if self.course.is_none() && side == 0 {
            self.course = Some(Course::new(&packet));
        }
        let Some(course) = &mut self.course else {
            return;
        };
        if !course.tcp.handshake.is_done() {
            let is_answer = side == 1;
            let flags = if is_answer {
                Flags::SYN.with(Flags::ACK)
            } else {
                Flags::ACK
            };
            let is_known = course.tcp.handshake.is_answered();
            if is_answer != is_known {
                course.shake(&packet, side, flags);
            }
        }
        let kind = header["packet_type"].as_str().unwrap_or("1RTT");
        if !matches!(kind, "1RTT" | "1rtt" | "onertt") {
            return;
        }
        self.packets += 1;
        let opened = Opened {
            side,
            number,
            len,
            frames: &frames,
        };
        course.delays = self.delays;
        course.on_packet(&packet, &opened, memory.room());
        memory.release(self.counted);
        self.counted = course.held();
        memory.take(self.counted);
    }

    /// The connection, if it had packets. Drops the state that only further packets would need.
    fn finish(self, memory: &mut Memory) -> Option<Connection> {
        memory.release(self.counted);
        let course = self.course.filter(|_| self.packets > 0)?;
        let mut connection = course.tcp;
        connection.rest();
        memory.count(&mut connection);
        Some(connection)
    }
}

/// The ends of a connection whose log has no addresses.
fn nobody() -> [Endpoint; 2] {
    [1, 2].map(|port| Endpoint {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        port,
    })
}

fn ends(data: &Value, is_server: bool) -> Option<[Endpoint; 2]> {
    let end = |ip: &str, port: &str| {
        Some(Endpoint {
            address: data[ip].as_str()?.parse().ok()?,
            port: u16::try_from(data[port].as_u64()?).ok()?,
        })
    };
    let (own, other) = (end("src_ip", "src_port")?, end("dst_ip", "dst_port")?);
    Some(if is_server {
        [other, own]
    } else {
        [own, other]
    })
}

/// Translates a frame. `None` for frames that are not acknowledged.
fn frame(value: &Value) -> Option<Frame> {
    let number = |name: &str| value[name].as_u64();
    let frame = match value["frame_type"].as_str()? {
        "padding" | "connection_close" => return None,
        "ack" => {
            let listed = value["acked_ranges"].as_array()?.iter();
            let range = |range: &Value| {
                let first = range.get(0)?.as_u64()?;
                let last = range.get(1).and_then(Value::as_u64).unwrap_or(first);
                (first <= last).then_some((first, last))
            };
            let mut ranges: Vec<(u64, u64)> = listed.filter_map(range).collect();
            ranges.sort_unstable_by_key(|range| u64::MAX - range.1);
            // A packet number that is listed twice arrived once.
            ranges.dedup_by(|next, before| next.1 >= before.0);
            ranges.truncate(MAX_RANGES);
            let delay_ms = value["ack_delay"].as_f64().unwrap_or(0.0).max(0.0);
            Frame::Ack {
                ranges,
                delay_us: (delay_ms * 1e3) as u64,
            }
        }
        "stream" => Frame::Stream {
            id: number("stream_id")?,
            offset: number("offset")?,
            len: number("length")
                .or(value["raw"]["length"].as_u64())
                .filter(|len| *len <= MAX_FRAME_BYTES)?,
        },
        "max_data" => number("maximum").map_or(Frame::Other, Frame::MaxData),
        "reset_stream" => number("stream_id").map_or(Frame::Other, Frame::Reset),
        _ => Frame::Other,
    };
    Some(frame)
}
