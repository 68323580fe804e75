//! The colours of controllers in every picture, plot and table.

use std::collections::HashSet;

use congestion::ControllerKind;

/// The prefixes of the kernel's controllers, and of ours that were loaded into it.
const OF_KERNEL: &str = "kernel:";
const OURS_IN_KERNEL: &str = "fullpipe_";

/// The number of strokes: the palette repeats with dashes, and then with dots.
const STROKES: usize = 3;

/// Returns the place in the palette of each lane of these controllers. A controller has its place in the list of
/// controllers wherever it is shown. So has the same algorithm in the kernel, if the controller is not shown beside it.
/// A second lane of a controller has a place that is no controller's. So has a controller outside the list, by its
/// name.
pub fn places(controllers: &[&str]) -> Vec<usize> {
    let mut taken = HashSet::new();
    let mut places = vec![None; controllers.len()];
    for own in [listed, of_kernel] {
        for (place, name) in places.iter_mut().zip(controllers) {
            *place = place.or_else(|| own(name).filter(|own| taken.insert(*own)));
        }
    }
    let free = free();
    let lanes = places.into_iter().zip(controllers).map(|(place, name)| {
        let start = match listed(name).or_else(|| of_kernel(name)) {
            Some(_) => 0,
            None => sum(name) % free.len().max(1),
        };
        let mut next = free.iter().cycle().skip(start).take(free.len()).copied();
        let next = || next.find(|place| !taken.contains(place));
        let place = place.or_else(next);
        let place = place.or_else(|| (0..).find(|place| !taken.contains(place)));
        let place = place.unwrap_or_default();
        taken.insert(place);
        place
    });
    lanes.collect()
}

/// The places without a controller.
fn free() -> Vec<usize> {
    let colours = draw::palette().len();
    let all = 0..STROKES * colours;
    all.filter(|place| place % colours >= ControllerKind::ALL.len())
        .collect()
}

fn listed(name: &str) -> Option<usize> {
    let mut kinds = ControllerKind::ALL.iter();
    kinds.position(|kind| kind.name() == name)
}

/// The place of the listed controller with the same algorithm as this one of the kernel.
fn of_kernel(name: &str) -> Option<usize> {
    let name = name.strip_prefix(OF_KERNEL).unwrap_or(name);
    let name = name.strip_prefix(OURS_IN_KERNEL).unwrap_or(name);
    let mut kinds = ControllerKind::ALL.iter();
    let by_kernel = kinds.position(|kind| kind.kernel_name() == name);
    by_kernel.or_else(|| listed(name))
}

/// Returns a hash that only depends on the name (FNV-1a).
fn sum(name: &str) -> usize {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour of a place, whatever its stroke.
    fn colour(place: usize) -> usize {
        place % draw::palette().len()
    }

    #[test]
    fn a_controller_has_its_colour_wherever_it_is_shown() {
        let all: Vec<&str> = ControllerKind::ALL.iter().map(|kind| kind.name()).collect();
        let own: Vec<usize> = (0..all.len()).collect();
        assert_eq!(places(&all), own);
        assert_eq!(places(&["cubic", "bbr1"]), [1, 0]);
        // The lanes are a study of the kernel's controllers, and one of ours in the kernel.
        assert_eq!(places(&["cubic", "bbr"]), [1, 0]);
        assert_eq!(
            places(&["kernel:bbr", "kernel:fullpipe_bbr3", "fullpipe_bbr1"])[..2],
            [0, 3]
        );
    }

    #[test]
    fn what_has_no_place_takes_none_of_the_others() {
        let own = ControllerKind::ALL.len();
        // The first lane of a controller has its colour, whatever lane of the same algorithm comes before it.
        let lanes = places(&["kernel:bbr", "bbr1", "bbr1"]);
        assert_eq!(lanes[1], 0);
        assert!(
            colour(lanes[0]) >= own && colour(lanes[2]) >= own,
            "{lanes:?}"
        );
        // Other neighbours do not change a controller outside the list.
        let alone = places(&["kernel:vegas"]);
        assert_eq!(places(&["cubic", "kernel:vegas", "reno"])[1], alone[0]);
        assert!(colour(alone[0]) >= own);
    }

    #[test]
    fn no_two_lanes_look_the_same() {
        let names: Vec<String> = (0..9).map(|number| format!("kernel:k{number}")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.extend(["bbr1"; 9]);
        let lanes = places(&names);
        let apart: HashSet<&usize> = lanes.iter().collect();
        assert_eq!(apart.len(), lanes.len(), "{lanes:?}");
        assert!(
            lanes
                .iter()
                .all(|place| *place < STROKES * draw::palette().len())
        );
        assert_eq!(places(&["bbr1"; 30]).len(), 30);
    }
}
