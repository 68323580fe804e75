//! The flow of a draft whose flows are not known yet.

use document::tree::{Entry, Node};

/// A flow in place of those that are added later. A scenario without a flow is invalid.
pub(crate) fn stand_in() -> Node {
    let field = |key: &str, text: &str| Entry::new(key, Node::Scalar(text.to_owned()));
    Node::Table(vec![field("controller", "cubic"), field("bytes", "1b")])
}
