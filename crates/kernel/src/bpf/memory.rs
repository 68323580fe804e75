//! The remembered packets of client networks: a map that outlives the program, its rules and its process.

use std::os::fd::AsFd;

use libbpf_rs::query::ProgramInfo;
use libbpf_rs::{MapCore, MapHandle, MapType, OpenMapMut};

use super::registered::map_of;
use crate::{MAX_REMEMBERED_NETWORKS, Steering};

/// The name of the map.
pub(super) const MAP: &str = "resent";

/// The sizes of `struct around` and of a network's word, in bytes.
const SIZES: (u32, u32) = (16, 8);

/// The remembered packets of client networks, for the next program.
#[derive(Debug)]
pub struct Memory(MapHandle);

impl Memory {
    /// `None` if it is the map of a program that remembers nothing, or of another version.
    pub(super) fn of(map: MapHandle) -> Result<Option<Memory>, libbpf_rs::Error> {
        let is_whole = map.map_type() == MapType::LruHash
            && (map.key_size(), map.value_size()) == SIZES
            && map.info()?.info.max_entries == MAX_REMEMBERED_NETWORKS;
        Ok(is_whole.then_some(Memory(map)))
    }

    /// The map of a program in the kernel.
    pub(super) fn of_program(program: &ProgramInfo) -> Result<Option<Memory>, libbpf_rs::Error> {
        map_of(program, MAP)?.map_or(Ok(None), Memory::of)
    }
}

/// Gives a program that is not loaded yet this memory, or else an empty one. If no rule needs one, it takes no room.
pub(super) fn give(
    map: &mut OpenMapMut<'_>,
    steering: &Steering,
    memory: Option<&Memory>,
) -> Result<(), libbpf_rs::Error> {
    match memory {
        _ if !steering.remembers() => map.set_max_entries(1),
        Some(Memory(memory)) => map.reuse_fd(memory.as_fd()),
        None => map.set_max_entries(MAX_REMEMBERED_NETWORKS),
    }
}
