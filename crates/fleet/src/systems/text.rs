//! Tables of networks as text: pyasn's lines, and the CSV of IPinfo and MaxMind.

use std::io::{self, BufRead, Read};
use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use super::ranges::{Collected, Ranges};
use super::{System, SystemsError};
use experiment::Prefix;

/// No line of these files is longer.
const LONGEST: u64 = 64 << 10;

/// A line that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Something in it is wrong.
    #[error("line {0}: {1}")]
    Wrong(u64, String),
    /// There are more than may be.
    #[error("has more than {0} networks; give larger ones in place of their parts")]
    Many(usize),
    /// The file has no network at all.
    #[error(
        "has no network; give a file of pyasn (PREFIX TAB NUMBER), a CSV of IPinfo or MaxMind, or an .mmdb"
    )]
    Empty,
    /// A file of regions has no network.
    #[error(
        "has no network; give a network and the name of its region in each line, such as 192.0.2.0/24 north"
    )]
    NoRegion,
    /// The header of a CSV file does not name what is needed.
    #[error(
        "has no column {0}; give a CSV with asn or autonomous_system_number, and network or start_ip and end_ip"
    )]
    NoColumn(&'static str),
}

/// The number in `AS64500` or `64500`.
pub fn number(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("AS").unwrap_or(text);
    digits.parse().ok()
}

/// Reads all lines; which of the two formats it is, the first line says.
pub fn read(
    mut source: impl BufRead,
    named: &mut HashMap<u32, Arc<System>>,
) -> Result<Ranges, SystemsError> {
    let mut collected = Collected::default();
    let mut line = String::new();
    let mut count = 0;
    while next(&mut source, &mut line, count + 1)? {
        count += 1;
        let text = line.trim();
        if text.is_empty() || text.starts_with([';', '#']) {
            continue;
        }
        if text.contains(',') {
            let header = text.to_owned();
            table(source, &header, count, &mut collected, named)?;
            break;
        }
        let wrong = |why: String| LineError::Wrong(count, why);
        pyasn(text, &mut collected, named).map_err(wrong)?;
    }
    if collected.is_empty() {
        return Err(LineError::Empty.into());
    }
    Ok(collected.finish())
}

/// The next line; whether there is one.
pub(super) fn next(
    source: &mut impl BufRead,
    line: &mut String,
    number: u64,
) -> Result<bool, SystemsError> {
    line.clear();
    let read = source.take(LONGEST).read_line(line);
    let read = read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            SystemsError::Line(LineError::Wrong(number, "is not text (UTF-8)".to_owned()))
        }
        _ => error.into(),
    })?;
    if read as u64 == LONGEST {
        return Err(LineError::Wrong(number, "is too long".to_owned()).into());
    }
    Ok(read > 0)
}

/// `192.0.2.0/24<TAB>64500`.
fn pyasn(
    line: &str,
    collected: &mut Collected,
    named: &mut HashMap<u32, Arc<System>>,
) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let (Some(prefix), Some(system), None) = (words.next(), words.next(), words.next()) else {
        return Err("expected a prefix and an AS number, such as 192.0.2.0/24 64500".to_owned());
    };
    let prefix: Prefix = prefix.parse()?;
    let owner = number(system).ok_or("expected an AS number such as 64500")?;
    name(named, owner, "");
    collected.add(prefix.first(), prefix.last(), owner)?;
    Ok(())
}

fn name(named: &mut HashMap<u32, Arc<System>>, number: u32, name: &str) {
    named.entry(number).or_insert_with(|| {
        let name = name.to_owned();
        Arc::new(System { number, name })
    });
}

/// The columns of IPinfo's and MaxMind's tables that are wanted.
struct Columns {
    system: usize,
    name: Option<usize>,
    network: Option<usize>,
    range: Option<(usize, usize)>,
}

impl Columns {
    fn of(header: &str) -> Result<Columns, LineError> {
        let names: Vec<&str> = header
            .split(',')
            .map(|name| name.trim().trim_matches('"'))
            .collect();
        let at = |wanted: &str| names.iter().position(|name| *name == wanted);
        let columns = Columns {
            system: at("asn")
                .or_else(|| at("autonomous_system_number"))
                .ok_or(LineError::NoColumn("asn"))?,
            name: ["as_name", "name", "autonomous_system_organization"]
                .into_iter()
                .find_map(at),
            network: at("network"),
            range: at("start_ip").zip(at("end_ip")),
        };
        if columns.network.is_none() && columns.range.is_none() {
            return Err(LineError::NoColumn("network"));
        }
        Ok(columns)
    }
}

fn table(
    rest: impl Read,
    header: &str,
    before: u64,
    collected: &mut Collected,
    named: &mut HashMap<u32, Arc<System>>,
) -> Result<(), SystemsError> {
    let columns = Columns::of(header)?;
    let mut reader = csv::ReaderBuilder::new();
    let mut rows = reader.has_headers(false).flexible(true).from_reader(rest);
    let mut row = csv::StringRecord::new();
    loop {
        let line = before + rows.position().line();
        let wrong = |why: &str| LineError::Wrong(line, why.to_owned());
        match rows.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) => return Err(error.into()),
                _ => return Err(wrong("is not text (UTF-8)").into()),
            },
        }
        let cell = |column: usize| row.get(column).map(str::trim).unwrap_or_default();
        // Some networks are nobody's.
        if cell(columns.system).is_empty() {
            continue;
        }
        let owner = number(cell(columns.system))
            .ok_or_else(|| wrong("expected an AS number such as AS64500"))?;
        let (first, last) = range(&columns, cell).map_err(|why| wrong(&why))?;
        name(named, owner, columns.name.map(cell).unwrap_or_default());
        collected.add(first, last, owner).map_err(wrong)?;
    }
}

fn range<'r>(
    columns: &Columns,
    cell: impl Fn(usize) -> &'r str,
) -> Result<(IpAddr, IpAddr), String> {
    if let Some((first, last)) = columns.range {
        let address = |text: &str| -> Result<IpAddr, String> {
            text.parse().map_err(|_| "expected an address".to_owned())
        };
        return Ok((address(cell(first))?, address(cell(last))?));
    }
    let network = columns.network.map(&cell).unwrap_or_default();
    let prefix: Prefix = network.parse()?;
    Ok((prefix.first(), prefix.last()))
}
