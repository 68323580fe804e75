//! Tables of networks as text: those of pyasn, CAIDA, MaxMind, IPinfo, iptoasn, DB-IP and IP2Location.

use std::io::BufRead;
use std::sync::Arc;

use hashbrown::HashMap;
use text::Lines;

use super::columns::{Columns, Row, number};
use super::ranges::{Collected, Ranges};
use super::{MAX_LINE_BYTES, MAX_NETWORKS, MAX_SYSTEMS, System, SystemsError};

/// An invalid line, or an invalid number of lines.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line with this number is invalid.
    #[error("line {0}: {1}")]
    Wrong(u64, String),
    /// There are more networks than allowed.
    #[error("has more than {0} networks; give larger ones in place of their parts")]
    Many(usize),
    /// There are more systems than allowed.
    #[error(
        "has more than {0} AS numbers, and the internet has far fewer; give a table of networks and AS numbers"
    )]
    ManySystems(usize),
    /// The file has no network at all.
    #[error(
        "has no network; give a table of networks and AS numbers, such as those of MaxMind, IPinfo, iptoasn or pyasn (PREFIX TAB NUMBER)"
    )]
    Empty,
    /// A file of regions has no network.
    #[error(
        "has no network; give a network and the name of its region in each line, such as 192.0.2.0/24 north"
    )]
    NoRegion,
}

/// Reads all lines. The first one decides the columns, by its names or by the contents of its cells.
pub fn read(
    source: impl BufRead,
    named: &mut HashMap<u32, Arc<System>>,
) -> Result<Ranges, SystemsError> {
    let mut collected = Collected::default();
    let mut lines = Lines::new(source, MAX_LINE_BYTES).without_blank();
    let mut row = Row::default();
    let mut columns: Option<Columns> = None;
    while let Some(line) = lines.next_valid()? {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let read = row.split(line).and_then(|()| match &columns {
            Some(columns) => add(&row, columns, &mut collected, named),
            None => Columns::of(&row).and_then(|found| {
                let Some(found) = found else { return Ok(()) };
                if !found.is_header {
                    add(&row, &found, &mut collected, named)?;
                }
                columns = Some(found);
                Ok(())
            }),
        });
        read.map_err(|why| LineError::Wrong(lines.number(), why))?;
        if collected.len() > MAX_NETWORKS {
            return Err(LineError::Many(MAX_NETWORKS).into());
        }
        if named.len() > MAX_SYSTEMS {
            return Err(LineError::ManySystems(MAX_SYSTEMS).into());
        }
    }
    if collected.is_empty() {
        return Err(LineError::Empty.into());
    }
    Ok(collected.finish())
}

/// Adds the network of a row, unless it is unassigned.
fn add(
    row: &Row,
    columns: &Columns,
    collected: &mut Collected,
    named: &mut HashMap<u32, Arc<System>>,
) -> Result<(), String> {
    let (first, last) = columns.range(row)?;
    let said = columns.system(row);
    if columns.is_nobodys(said) {
        return Ok(());
    }
    let owner = number(said).ok_or("expected an AS number such as AS64500")?;
    named.entry(owner).or_insert_with(|| {
        let name = columns.name(row);
        Arc::new(System::new(owner, name))
    });
    collected.add(first, last, owner)?;
    Ok(())
}
