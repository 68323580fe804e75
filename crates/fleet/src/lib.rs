//! A machine's live TCP connections: sampled, named, filtered, grouped, recorded and exported.
//!
//! A [`Watcher`] asks the kernel for all connections of some network namespaces, which costs a microsecond or two for
//! each. It keeps a [`Connection`] for each: its current state, its changes since the previous sample, and the last
//! minute. [`Filter`] selects connections and [`Group`] groups them. [`Recorder`] writes them to files of bounded size,
//! and [`Exporter`] serves groups as OpenMetrics.
//!
//! ```no_run
//! use fleet::{Filter, Moment, Namespace, Watcher};
//!
//! let mut watcher = Watcher::new(&[Namespace::Here], Default::default(), None)?;
//! watcher.look(Moment::default())?;
//! let filter: Filter = "port=443 controller=bbr".parse()?;
//! for connection in watcher.connections() {
//!     if filter.passes(&connection.seen) {
//!         println!("{}: {:?}", connection.seen.socket.remote, connection.seen.rtt());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod column;
pub mod connection;
mod fields;
pub mod files;
mod filter;
mod group;
mod group_column;
mod metrics;
mod namespace;
mod push;
mod recorder;
mod serve;
pub mod systems;
mod table;
mod unzipped;
mod watcher;
pub mod who;

pub use column::Column;
pub use connection::{
    Connection, ConnectionState, Limit, MAX_HISTORY, Moment, Past, Shares, Since,
};
pub use fields::{GroupRow, fields, group_fields};
pub use files::RecordError;
pub use filter::{Filter, FilterError, Key};
pub use group::{Group, GroupBy};
pub use group_column::{GROUP_COLUMNS, GroupColumn, SPARE_GROUP_HEADINGS, sortable_columns};
pub use metrics::{Metrics, Snapshot};
pub use namespace::{Namespace, NamespaceError};
pub use push::{Destination, DestinationError, Pusher};
pub use recorder::Recorder;
pub use rules::Prefix;
pub use serve::Exporter;
pub use systems::{Regions, Systems, SystemsError};
pub use table::{MAX_CONNECTIONS, Table};
pub use unzipped::unzipped;
pub use watcher::Watcher;

#[cfg(test)]
mod tests;
