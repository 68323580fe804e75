//! The search tree of a database in MaxMind's format (its specification, section "Binary Search Tree Section").

use maxminddb::Metadata;

/// The maximum depth: the number of bits of an address.
const MAX_DEPTH: usize = 128;

/// The states of a node. Other values are the node's number of networks.
const UNKNOWN: u32 = u32::MAX;
const ON_PATH: u32 = u32::MAX - 1;
const MAX_COUNT: u32 = u32::MAX - 2;

/// Counts the networks that lead to the tree's ends, with or without data. `None` if the tree has a circle. A walk
/// visits each of them, and a small tree can have 2^128, because nodes may share children.
pub fn networks(bytes: &[u8], about: &Metadata) -> Option<u32> {
    let count = usize::try_from(about.node_count).ok()?;
    let width = usize::from(about.record_size) / 4;
    // The parser checks this, too.
    if count == 0 || count.checked_mul(width)? > bytes.len() {
        return None;
    }
    let mut known = vec![UNKNOWN; count];
    known[0] = ON_PATH;
    let mut path = vec![(0, 0)];
    loop {
        let (node, side) = path.last_mut()?;
        if *side < 2 {
            let child = child(&bytes[*node * width..][..width], *side);
            *side += 1;
            match known.get(child) {
                Some(&ON_PATH) => return None,
                Some(&UNKNOWN) if path.len() >= MAX_DEPTH => return None,
                Some(&UNKNOWN) => {
                    known[child] = ON_PATH;
                    path.push((child, 0));
                }
                _ => {}
            }
            continue;
        }
        let node = *node;
        path.pop();
        let of = |side| {
            let child = child(&bytes[node * width..][..width], side);
            known.get(child).copied().unwrap_or(1)
        };
        let all = of(0).saturating_add(of(1)).min(MAX_COUNT);
        known[node] = all;
        if path.is_empty() {
            return Some(all);
        }
    }
}

/// A child of a node of 6, 7 or 8 bytes. In one of 7, the middle byte has the upper half-bytes of both.
fn child(node: &[u8], side: usize) -> usize {
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |all, &byte| all << 8 | usize::from(byte))
    };
    let half = node.len() / 2;
    match (node.len(), side) {
        (7, 0) => word(&node[..3]) | usize::from(node[3] >> 4) << 24,
        (7, _) => word(&node[4..]) | usize::from(node[3] & 0xf) << 24,
        (_, 0) => word(&node[..half]),
        (_, _) => word(&node[half..]),
    }
}
