//! The rows of a table of networks, and the meaning of their columns.

use std::net::IpAddr;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use rules::Prefix;

use super::MAX_LINE_BYTES;

/// The maximum number of cells of a row.
const MAX_CELLS: usize = 64;

/// A row, split into cells.
pub struct Row {
    separator: Separator,
    reader: Reader,
    text: Vec<u8>,
    ends: [usize; MAX_CELLS],
    count: usize,
}

/// The separator of the cells, as the first row has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Unknown,
    Comma,
    Tab,
    Space,
}

impl Default for Row {
    fn default() -> Row {
        Row {
            separator: Separator::Unknown,
            reader: Reader::new(),
            text: vec![0; MAX_LINE_BYTES],
            ends: [0; MAX_CELLS],
            count: 0,
        }
    }
}

impl Row {
    /// Parses a line. Only a table with commas has quotes (RFC 4180).
    pub fn split(&mut self, line: &str) -> Result<(), String> {
        if self.separator == Separator::Unknown {
            let mut csv = ReaderBuilder::new();
            // Names in a table with tabs have commas.
            (self.separator, self.reader) = if line.contains('\t') {
                let reader = csv.delimiter(b'\t').quoting(false).build();
                (Separator::Tab, reader)
            } else if line.contains(',') {
                (Separator::Comma, csv.build())
            } else {
                let reader = csv.delimiter(b' ').quoting(false).build();
                (Separator::Space, reader)
            };
        }
        let mut words = String::new();
        let line = if self.separator == Separator::Space {
            words.extend(line.split_whitespace().flat_map(|word| [word, " "]));
            words.trim_end()
        } else {
            line
        };
        self.reader.reset();
        let (mut from, mut to, mut count) = (line.as_bytes(), 0, 0);
        loop {
            let (said, read, written, ended) =
                self.reader
                    .read_record(from, &mut self.text[to..], &mut self.ends[count..]);
            from = &from[read..];
            to += written;
            count += ended;
            match said {
                // The reader then gets nothing: the end of the line is the end of the row.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull => return Err("is too long".to_owned()),
                ReadRecordResult::OutputEndsFull => {
                    return Err(format!("has more than {MAX_CELLS} columns"));
                }
            }
        }
        self.count = count;
        if self.separator == Separator::Space && count != 2 {
            return Err(
                "expected a prefix and an AS number, such as 192.0.2.0/24 64500".to_owned(),
            );
        }
        Ok(())
    }

    /// Returns a cell, which is empty if the row is shorter.
    fn cell(&self, place: usize) -> &str {
        if place >= self.count {
            return "";
        }
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let cell = str::from_utf8(&self.text[begin..self.ends[place]]);
        // The text was split at ASCII characters.
        cell.unwrap_or_default().trim()
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.count).map(|place| self.cell(place))
    }
}

/// The columns of a table that are used.
#[derive(Debug)]
pub struct Columns {
    /// True if the first row has the columns' names, and no network.
    pub is_header: bool,
    networks: Networks,
    system: usize,
    name: Option<usize>,
}

/// The columns of the networks.
#[derive(Debug, Clone, Copy)]
enum Networks {
    /// `192.0.2.0/24`, or an address.
    Prefix(usize),
    /// The first and the last address.
    Range(usize, usize),
    /// The first address, and the length of the prefix.
    Length(usize, usize),
}

impl Networks {
    fn last(self) -> usize {
        match self {
            Networks::Prefix(last) | Networks::Range(_, last) | Networks::Length(_, last) => last,
        }
    }
}

/// True for tables' placeholders of an AS number for an unassigned network. No system has the number 0 (RFC 7607).
fn is_nobody(cell: &str) -> bool {
    matches!(cell, "" | "-" | "0" | "AS0" | "None")
}

fn is_country(cell: &str) -> bool {
    let is_code = cell.len() == 2 && cell.bytes().all(|byte| byte.is_ascii_uppercase());
    is_code || matches!(cell, "None" | "")
}

impl Columns {
    /// Derives the columns from the first row: from its names, or else from the contents of its cells. `None` if the
    /// row is an unassigned network, which does not show where the numbers are.
    pub fn of(row: &Row) -> Result<Option<Columns>, String> {
        let is_network = |cell: &str| cell.parse::<Prefix>().is_ok();
        if row.separator == Separator::Space || row.cells().any(is_network) {
            Columns::of_cells(row)
        } else {
            Columns::of_names(row).map(Some)
        }
    }

    fn of_names(row: &Row) -> Result<Columns, String> {
        let at = |names: &[&str]| {
            let is_named = |cell: &str| names.iter().any(|name| cell.eq_ignore_ascii_case(name));
            row.cells().position(is_named)
        };
        let lacking = |column: &str| {
            format!(
                "expected a network, or names of columns with {column}: asn or autonomous_system_number, and network or start_ip and end_ip"
            )
        };
        let system = at(&["asn", "autonomous_system_number", "as_number"]);
        let prefix = at(&["network", "prefix", "cidr"]).map(Networks::Prefix);
        let first = at(&["start_ip", "ip_start", "range_start"]);
        let range = first.zip(at(&["end_ip", "ip_end", "range_end"]));
        Ok(Columns {
            is_header: true,
            system: system.ok_or_else(|| lacking("asn"))?,
            networks: range
                .map(|(first, last)| Networks::Range(first, last))
                .or(prefix)
                .ok_or_else(|| lacking("network"))?,
            name: [
                "as_name",
                "name",
                "autonomous_system_organization",
                "as_organization",
                "as_description",
            ]
            .iter()
            .find_map(|name| at(&[*name])),
        })
    }

    fn of_cells(row: &Row) -> Result<Option<Columns>, String> {
        let networks = networks(row)?;
        let behind = networks.last() + 1..row.count;
        let is_number = |place: &usize| origin(row.cell(*place)).is_some();
        let before: Vec<usize> = (0..networks.last()).filter(is_number).collect();
        let system = match (behind.clone().find(is_number), &before[..]) {
            (Some(place), _) => place,
            (None, [place]) => *place,
            _ if !behind.is_empty() && behind.clone().all(|place| is_nobody(row.cell(place))) => {
                return Ok(None);
            }
            _ => return Err("expected an AS number such as 64500".to_owned()),
        };
        let mut names = behind.filter(|place| *place > system);
        let first = names.clone().next();
        Ok(Some(Columns {
            is_header: false,
            networks,
            system,
            // A country's code may precede the name.
            name: names.find(|place| !is_country(row.cell(*place))).or(first),
        }))
    }

    /// The cell of the AS number.
    pub fn system<'r>(&self, row: &'r Row) -> &'r str {
        first_origin(row.cell(self.system))
    }

    /// True if the cell says that the network is unassigned.
    pub fn is_nobodys(&self, cell: &str) -> bool {
        is_nobody(cell)
    }

    /// The name of the system; empty if the table has none.
    pub fn name<'r>(&self, row: &'r Row) -> &'r str {
        self.name.map_or("", |place| row.cell(place))
    }

    /// The first and the last address of the network.
    pub fn range(&self, row: &Row) -> Result<(IpAddr, IpAddr), String> {
        let address = |place: usize| -> Result<IpAddr, String> {
            let cell = row.cell(place);
            cell.parse().map_err(|_| "expected an address".to_owned())
        };
        let prefix: Prefix = match self.networks {
            Networks::Range(first, last) => return Ok((address(first)?, address(last)?)),
            Networks::Prefix(place) => row.cell(place).parse()?,
            Networks::Length(first, length) => {
                format!("{}/{}", address(first)?, row.cell(length)).parse()?
            }
        };
        Ok((prefix.first(), prefix.last()))
    }
}

/// The first of several origins of a network: CAIDA writes `64500_64501`.
fn first_origin(cell: &str) -> &str {
    cell.split('_').next().unwrap_or(cell)
}

fn origin(cell: &str) -> Option<u32> {
    number(first_origin(cell))
}

/// The columns of a row's network.
fn networks(row: &Row) -> Result<Networks, String> {
    let is_prefix = |cell: &str| cell.contains('/') && cell.parse::<Prefix>().is_ok();
    if let Some(place) = row.cells().position(is_prefix) {
        return Ok(Networks::Prefix(place));
    }
    let is_address = |cell: &str| cell.parse::<IpAddr>().is_ok();
    let Some(first) = row.cells().position(is_address) else {
        // This gives the error message of an invalid prefix.
        let wrong = row.cell(0).parse::<Prefix>();
        return wrong.map(|_| Networks::Prefix(0));
    };
    let next = row.cell(first + 1);
    if is_address(next) {
        return Ok(Networks::Range(first, first + 1));
    }
    let is_length = next.parse::<u8>().is_ok_and(|length| length <= 128);
    if !is_length || origin(row.cell(first + 2)).is_none() {
        return Ok(Networks::Prefix(first));
    }
    match row.separator {
        // As in CAIDA's tables of prefixes and origins (pfx2as).
        Separator::Tab => Ok(Networks::Length(first, first + 1)),
        _ => Err(format!(
            "{next} may be the length of a prefix or an AS number; write 192.0.2.0/24, or give the columns names: network,asn"
        )),
    }
}

/// The number in `AS64500` or `64500`.
pub fn number(text: &str) -> Option<u32> {
    let digits = text.get(..2).filter(|head| head.eq_ignore_ascii_case("as"));
    let digits = digits.map_or(text, |head| &text[head.len()..]);
    digits.parse().ok()
}
