//! A property that holds for any bytes read as a log. `fuzz/fuzz_targets` and the test below call it.

use super::{Format, lines};

/// Each line of a log is a valid request, or is counted as damaged. This is checked with the named formats, and with
/// the first line as a format, if it is one.
pub fn logs(bytes: &[u8]) {
    let first = bytes.split(|&byte| byte == b'\n').next();
    let own = first.and_then(|line| str::from_utf8(line).ok());
    for format in own.into_iter().chain(["nginx", "caddy"]) {
        match format.parse() {
            Ok(format) => is_counted(&format, bytes),
            Err(error) => {
                // An error quotes the user's own text, in one line.
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}

fn is_counted(format: &Format, bytes: &[u8]) {
    let mut requests = 0;
    let counts = lines::read(format, bytes, |request| {
        assert!(request.took_s >= 0.0 && request.ended_unix_s >= 0.0);
        requests += 1;
    });
    assert_eq!(counts.lines - counts.damaged, requests);
    if let Some((line, why)) = counts.first_damaged {
        assert!(line <= counts.lines && !why.contains('\n'), "{why}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use crate::study::log::tests::{CADDY, NGINX};

    #[test]
    fn any_logs() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(NGINX.as_bytes()).unwrap();
        let formats = [
            "$address $port [$time] $bytes/$took\n192.0.2.7 7 [1646861401.5] 10900/0.9\n",
            "json:address=a,port=b.c,time=t,bytes=n,took=d.x\n{\"a\":\"::1\",\"b\":{\"c\":7},\"t\":\"16.5\",\"n\":9,\"d.x\":0.9}\n",
        ];
        let mut corpus = vec![
            NGINX.repeat(3).into_bytes(),
            CADDY.as_bytes().to_vec(),
            gzip.finish().unwrap(),
        ];
        corpus.extend(formats.map(|text| text.as_bytes().to_vec()));
        fuzzing::run("rollout_logs", &corpus, super::logs);
    }
}
