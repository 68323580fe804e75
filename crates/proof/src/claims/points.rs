//! Points of a study, as fields and their values.

use document::de::Wrong;
use document::tree::Node;
use studies::sweep::axis_label;

/// The values of each field as a study's axes name them.
pub(super) fn labels(fields: Vec<(String, Node)>) -> Vec<(String, Vec<String>)> {
    let labelled = fields.into_iter().map(|(field, value)| match value {
        Node::List(values) => (field, values.iter().map(axis_label).collect()),
        value => (field, vec![axis_label(&value)]),
    });
    labelled.collect()
}

/// Reads a table such as `{ "path.loss" = ["1%", "5%"], "flow.controller" = "bbr1" }`, in the order of the text.
pub(super) fn fields(name: &str, value: Option<Node>) -> Result<Vec<(String, Node)>, Wrong> {
    match value {
        None => Ok(Vec::new()),
        Some(Node::Table(entries)) => Ok(entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()),
        Some(_) => Err(Wrong::new(name, "expected a table of fields and values")),
    }
}
