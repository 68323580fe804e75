//! Figures of publications about BBR, measured again and drawn in the same way, and some of our own.
//!
//! A [`Figure`] has the name of its [study](crate::study) in `scenarios/figures/`, and draws the findings of its
//! [runs](crate::study::Source) with [`Figure::picture`]. [`ALL`] lists all figures; [`page`] puts their pictures on
//! one page.

mod boundary;
mod cdn_1;
mod cdn_2;
mod cdn_3;
mod cdn_4;
mod cdn_5;
mod cdn_6;
mod cdn_7;
mod cdn_8;
mod chosen;
mod client_load;
mod coexistence;
mod curves;
mod days;
mod figure;
mod laboratory;
mod list;
mod networks;
mod page;
mod paper_1;
mod paper_10;
mod paper_2;
mod paper_3;
mod paper_4;
mod paper_5;
mod paper_6;
mod paper_7;
mod paper_8;
mod paper_9;
mod rtt_unfairness;
mod runs;
mod series;
mod testbed;
mod time_shares;
mod transfers;
mod versions;
mod versions_boundary;

pub use chosen::{UnknownFigure, chosen};
pub use figure::{After, Figure, Made};
pub use list::ALL;
pub use page::{Drawn, page};

/// The directory of `scenarios/` with the studies of the figures.
pub const STUDIES_DIRECTORY: &str = "figures";

const PAPER: &str = "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson: BBR: Congestion-Based Congestion \
                     Control, ACM Queue 14(5), 2016";

const CDN: &str = "Shah: BBR Evaluation at a Large CDN, Verizon Media, 2019";

const DRAFT: &str =
    "Cardwell, Swett, Beshay: BBR Congestion Control, draft-ietf-ccwg-bbr, revision 06";
