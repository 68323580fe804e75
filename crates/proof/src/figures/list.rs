//! The list of all figures.

use super::figure::Figure;
use super::{
    boundary, cdn_1, cdn_2, cdn_3, cdn_4, cdn_5, cdn_6, cdn_7, cdn_8, client_load, coexistence,
    laboratory, networks, paper_1, paper_2, paper_3, paper_4, paper_5, paper_6, paper_7, paper_8,
    paper_9, paper_10, rtt_unfairness, time_shares, versions, versions_boundary,
};

/// Every figure: those of the publications in their order, then our own.
pub static ALL: &[Figure] = &[
    paper_1::FIGURE,
    paper_2::FIGURE,
    paper_3::FIGURE,
    paper_4::FIGURE,
    paper_5::FIGURE,
    paper_6::FIGURE,
    paper_7::FIGURE,
    paper_8::FIGURE,
    paper_9::FIGURE,
    paper_10::FIGURE,
    cdn_1::FIGURE,
    cdn_2::FIGURE,
    cdn_3::FIGURE,
    cdn_4::FIGURE,
    cdn_5::FIGURE,
    cdn_6::FIGURE,
    cdn_7::FIGURE,
    cdn_8::FIGURE,
    client_load::FIGURE,
    time_shares::FIGURE,
    networks::FIGURE,
    laboratory::FIGURE,
    coexistence::FIGURE,
    rtt_unfairness::FIGURE,
    boundary::POLICER,
    boundary::OBJECT_SIZE,
    boundary::SHORT_PATHS,
    boundary::CELL,
    versions::LOSS,
    versions::BUFFER,
    versions::RTT,
    versions::FLOWS,
    versions::HARM,
    versions::CROWD,
    versions_boundary::FIGURE,
    versions::REQUESTS,
];
