//! What of a line lies within a chart.

use super::paint::Place;

/// Whether a place is within the chart.
pub fn is_within(place: Place) -> bool {
    [place.0, place.1]
        .iter()
        .all(|part| (-1e-9..=1.0 + 1e-9).contains(part))
}

/// The parts of a line through `places` that are within the chart (Liang and Barsky, 1984).
pub fn within(places: &[Place]) -> Vec<Vec<Place>> {
    let mut lines: Vec<Vec<Place>> = Vec::new();
    for pair in places.windows(2) {
        let [from, to] = pair else { continue };
        let Some((enters, leaves)) = section(*from, *to) else {
            continue;
        };
        match lines.last_mut() {
            Some(line) if line.last() == Some(&enters) => line.push(leaves),
            _ => lines.push(vec![enters, leaves]),
        }
    }
    lines
}

/// The part of the line between two places that is within the chart.
pub fn section(from: Place, to: Place) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut first, mut last) = (0.0f64, 1.0f64);
    let edges = [
        (-dx, from.0),
        (dx, 1.0 - from.0),
        (-dy, from.1),
        (dy, 1.0 - from.1),
    ];
    for (towards, distance) in edges {
        match towards {
            0.0 if distance < 0.0 => return None,
            0.0 => {}
            towards if towards < 0.0 => first = first.max(distance / towards),
            towards => last = last.min(distance / towards),
        }
    }
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        share => (from.0 + share * dx, from.1 + share * dy),
    };
    (first <= last).then(|| (at(first), at(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_stays() {
        let line = [(0.1, 0.1), (0.5, 0.9), (1.0, 1.0)];
        assert_eq!(within(&line), [line.to_vec()]);
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        assert_eq!(
            within(&[(-1.0, 0.5), (1.0, 0.5), (1.0, 2.0)]),
            [vec![(0.0, 0.5), (1.0, 0.5), (1.0, 1.0)]]
        );
        // Out at the top, and in again.
        let parts = within(&[(0.0, 0.5), (0.25, 1.5), (0.5, 0.5)]);
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().flatten().all(|place| is_within(*place)));
        assert!(within(&[(-1.0, 0.0), (0.0, 2.0)]).is_empty());
        assert!(within(&[(0.5, 0.5)]).is_empty());
    }
}
