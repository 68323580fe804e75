use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn request(port: u16) -> Request {
    Request {
        client: "192.0.2.7".parse().unwrap(),
        port,
        ended_unix_s: 1_646_861_401.524,
        resolution_s: 0.0,
        bytes: 10_900,
        took_s: 0.929,
    }
}

fn read(format: &str, contents: &[u8]) -> (LogCounts, Vec<Request>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, contents).unwrap();
    let mut found = Vec::new();
    let format: Format = format.parse().unwrap();
    let counts = format.read(File::open(path).unwrap(), |request| found.push(request));
    (counts, found)
}

pub(super) const NGINX: &str = "192.0.2.7 41342 1646861401.524 10900 0.929\n";

/// An entry from Caddy's documentation, without the parts that do not matter here.
pub(super) const CADDY: &str = r#"{"level":"info","ts":1646861401.524,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.7","remote_port":"41342","client_ip":"198.51.100.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/","headers":{"User-Agent":["curl/7.82.0"]}},"bytes_read":0,"user_id":"","duration":0.929,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#;

#[test]
fn the_formats_say_the_same() {
    let combined = "$remote_addr - - [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
        ${remote_port}/$msec/$request_time";
    let of_combined = "192.0.2.7 - - [09/Mar/2022:21:30:01 +0000] \"GET / HTTP/1.1\" 200 10900 \"-\" \
        41342/1646861401.524/0.929";
    let keys = "json:address=a,port=b.c,time=t,bytes=n,took=d.x";
    let of_keys =
        r#"{"a":"::ffff:192.0.2.7","b":{"c":41342},"t":"1646861401.524","n":10900,"d.x":0.929}"#;
    for (format, line) in [
        ("nginx", NGINX),
        ("caddy", CADDY),
        (combined, of_combined),
        (keys, of_keys),
    ] {
        let line = format!("{}\n", line.trim_end());
        let (counts, found) = read(format, line.as_bytes());
        assert_eq!(found, [request(41342)], "{format}: {counts:?}");
    }
}

/// A log that is rotated when some of it was read: the rest is gone (`copytruncate` of logrotate).
struct Truncated(File);

impl std::io::Read for Truncated {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::Read::read(&mut self.0, to)?;
        self.0.set_len(0)?;
        Ok(read)
    }
}

#[test]
fn a_log_that_is_rotated_while_it_is_read_has_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let [path, moved] = ["log", "log.1"].map(|name| directory.path().join(name));
    let format: Format = "nginx".parse().unwrap();
    let lines = NGINX.repeat(10_000);
    // Another file takes its name.
    fs::write(&path, &lines).unwrap();
    let file = File::open(&path).unwrap();
    fs::rename(&path, &moved).unwrap();
    fs::write(&path, NGINX).unwrap();
    let mut count = 0;
    let counts = format.read(file, |_| count += 1);
    assert_eq!(
        (count, counts.damaged, counts.is_unfinished),
        (10_000, 0, false)
    );
    // The file is truncated, so the read text ends within a line.
    let file = File::options().read(true).write(true).open(&moved).unwrap();
    let mut found = Vec::new();
    let counts = lines::read(&format, Truncated(file), |request| found.push(request));
    assert!((1..10_000).contains(&counts.lines), "{counts:?}");
    assert!(counts.is_unfinished && counts.damaged == 0, "{counts:?}");
    assert!(found.iter().all(|one| *one == request(41342)));
    // A line whose last number may lack digits is not used. A JSON object shows its own end.
    let (counts, found) = read("nginx", &lines.as_bytes()[..2 * NGINX.len() - 3]);
    assert_eq!((found.len(), counts.is_unfinished), (1, true));
    let (counts, found) = read("caddy", CADDY.as_bytes());
    assert_eq!((found.len(), counts.is_unfinished), (1, false));
    let (counts, found) = read("caddy", &CADDY.as_bytes()[..CADDY.len() - 1]);
    assert_eq!(
        (found.len(), counts.damaged, counts.is_unfinished),
        (0, 0, true)
    );
}

#[test]
fn caddys_other_forms_are_read_or_named() {
    let with = |from: &str, to: &str| {
        assert!(CADDY.contains(from), "{from}");
        CADDY.replacen(from, to, 1)
    };
    let client = r#""remote_ip":"192.0.2.7","remote_port":"41342""#;
    for (format, line) in [
        ("caddy", with(client, r#""remote_addr":"192.0.2.7:41342""#)),
        (
            "caddy",
            with(client, r#""remote_addr":"[::ffff:192.0.2.7]:41342""#),
        ),
        ("caddy", with("0.929", r#""929ms""#)),
        ("caddy", with("1646861401.524", "1646861401524.0")),
        ("caddy", with("1646861401.524", "1646861401524000000")),
        ("caddy,took_ms=duration", with("0.929", "929")),
        ("caddy,took_ns=duration", with("0.929", "929000000")),
        ("caddy,time=time", with("\"ts\"", "\"time\"")),
    ] {
        let (counts, found) = read(format, line.as_bytes());
        let of = found.first().map(|of| (of.port, of.bytes, of.took_s));
        assert_eq!(of, Some((41342, 10_900, 0.929)), "{line}: {counts:?}");
        assert!((found[0].ended_unix_s - 1_646_861_401.524).abs() < 1e-5);
    }
    for time in ["2022-03-09T21:30:01.524Z", "2022/03/09 21:30:01.524"] {
        let line = with("1646861401.524", &format!("{time:?}"));
        assert_eq!(read("caddy", line.as_bytes()).1.len(), 1, "{time}");
    }
    // Milliseconds cannot be told from nanoseconds here.
    let line = with("0.929", "929") + "\n";
    let (counts, found) = read("caddy", line.as_bytes());
    let (_, why) = counts.first_damaged.unwrap();
    assert!(
        found.is_empty() && why.contains("caddy,took_ms=duration"),
        "{why}"
    );
    assert_eq!(read("caddy", with("0.929", "0").as_bytes()).1.len(), 1);
}

#[test]
fn a_byte_order_mark_is_no_damage_and_utf_16_is_named() {
    let (counts, found) = read("nginx", format!("\u{feff}{NGINX}{NGINX}").as_bytes());
    assert_eq!((found.len(), counts.damaged), (2, 0));
    let wide: Vec<u8> = NGINX.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (counts, _) = read("nginx", &wide);
    assert_eq!(
        counts.broken_off.unwrap(),
        "this is UTF-16; save it as UTF-8"
    );
}

#[test]
fn damage_is_counted_and_the_first_is_shown() {
    let long = "x".repeat(200_000);
    let text = format!(
        "{NGINX}\n{long}\n{NGINX}a b c d e\n192.0.2.7 0x1 1 1 1\n192.0.2.7 1 yesterday 1 1\n192.0.2.7 1 1 -1 1\n192.0.2.7 1 1 1 nan\n{NGINX}192.0.2.7 413"
    );
    let (counts, found) = read("nginx", text.as_bytes());
    assert_eq!(found, [request(41342); 3]);
    // The last line has no end, and counts as neither.
    assert_eq!((counts.lines, counts.damaged), (9, 6), "{counts:?}");
    assert!(counts.is_unfinished);
    let (line, why) = counts.first_damaged.unwrap();
    assert_eq!((line, why.as_str()), (2, "is longer than 64 KiB"));
    let (counts, _) = read("caddy", b"{\n{\"ts\":1}\n\xff\n");
    assert_eq!((counts.lines, counts.damaged), (3, 3));
}

#[test]
fn a_compressed_log_is_read_and_one_that_is_cut_is_told() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let lines: String = (1..2000)
        .map(|port| NGINX.replace("41342", &port.to_string()))
        .collect();
    gzip.write_all(lines.as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let (counts, found) = read("nginx", &[&whole[..], &whole].concat());
    assert_eq!((found.len(), counts.broken_off), (2 * 1999, None));
    assert_eq!(found[8], request(9));
    let (counts, found) = read("nginx", &whole[..whole.len() / 2]);
    assert!(
        found.len() < 1999 && counts.broken_off.is_some(),
        "{counts:?}"
    );
}

#[test]
fn formats_that_make_no_sense_are_told() {
    for (format, part) in [
        ("apache", "expected nginx"),
        (
            "$address $port $time $bytes",
            "has no value for took: name it $",
        ),
        (
            "$address$port $time $bytes $took",
            "between $address and $port",
        ),
        (
            "$address $port $time $bytes $took $bytes_sent",
            "has bytes twice",
        ),
        ("json:address=a", "port=KEY"),
        ("json:address=a,address=b", "has address twice"),
        ("json:host=a", "host=a"),
        ("json:address=", "address="),
    ] {
        let error = format.parse::<Format>().unwrap_err().to_string();
        assert!(error.contains(part), "{format}: {error}");
        assert!(!error.contains('\n'));
    }
}

proptest! {
    #[test]
    fn any_format_and_line_have_an_answer(
        format in "(\\$\\{?[a-z_]{1,12}\\}?[ /\\[\\]\"]{0,2}){0,7}|json:[a-z=,.]{0,30}|.{0,20}",
        line in ".{0,80}|[0-9. :a-f-]{0,60}",
    ) {
        if let Ok(format) = format.parse::<Format>() {
            let _ = format.request(&line);
        }
        for format in ["nginx", "caddy"] {
            if let Err(why) = format.parse::<Format>().unwrap().request(&line) {
                prop_assert!(!why.contains('\n'), "{}", why);
            }
        }
    }

    #[test]
    fn what_a_server_writes_is_read_back(
        client: std::net::Ipv6Addr, port: u16, ended in 0.0..1e10_f64, bytes: u64, took in 0.0..1e6_f64,
    ) {
        let expected = Request {
            client: std::net::IpAddr::from(client).to_canonical(),
            port,
            ended_unix_s: ended,
            resolution_s: 0.0,
            bytes,
            took_s: took,
        };
        let line = format!("{client} {port} {ended} {bytes} {took}");
        let format: Format = "nginx".parse().unwrap();
        prop_assert_eq!(format.request(&line), Ok(expected));
    }
}
