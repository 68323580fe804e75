//! The placement of names in a chart, so that they cover the least.

use super::place::{Point, Rect};

/// The parts of a chart that are already drawn.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    /// Lines, with the weight of one of their pixels.
    lines: Vec<(Point, Point, f64)>,
    spots: Vec<Rect>,
}

impl Taken {
    /// Adds a line through these points, with the weight of one of its pixels.
    pub fn line(&mut self, points: &[Point], weight: f64) {
        let pairs = points.iter().zip(points.iter().skip(1));
        self.lines
            .extend(pairs.map(|(from, to)| (*from, *to, weight)));
    }

    pub fn rect(&mut self, rect: Rect) {
        self.spots.push(rect);
    }

    /// Takes the first of these spots that covers nothing, else the one that covers the least.
    pub fn take(&mut self, spots: impl IntoIterator<Item = Rect>) -> Option<Rect> {
        let mut best: Option<(Rect, f64)> = None;
        for spot in spots {
            let covered = self.covered(&spot);
            if best.is_none_or(|(_, least)| covered < least) {
                best = Some((spot, covered));
            }
            if covered == 0.0 {
                break;
            }
        }
        let (spot, _) = best?;
        self.spots.push(spot);
        Some(spot)
    }

    /// The weight of what a spot covers: a pixel of a line counts as much as a row of pixels of anything else.
    fn covered(&self, spot: &Rect) -> f64 {
        let lines = self.lines.iter().filter_map(|(from, to, weight)| {
            let (enters, leaves) = spot.section(*from, *to)?;
            Some((leaves.0 - enters.0).hypot(leaves.1 - enters.1) * weight)
        });
        let spots = self.spots.iter().map(|other| spot.shared(other));
        lines.sum::<f64>() + spots.sum::<f64>() / spot.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(left: f64, top: f64) -> Rect {
        Rect {
            left,
            top,
            wide: 20.0,
            high: 10.0,
        }
    }

    #[test]
    fn a_name_goes_where_it_covers_no_curve() {
        let mut taken = Taken::default();
        // From the lower left to the upper right.
        taken.line(&[(0.0, 100.0), (100.0, 0.0)], 1.0);
        let [crossed, free] = [spot(40.0, 50.0), spot(5.0, 5.0)];
        assert_eq!(taken.take([crossed, free]), Some(free));
        // A second name does not cover the first one.
        let beside = spot(5.0, 20.0);
        assert_eq!(taken.take([free, beside]), Some(beside));
    }

    #[test]
    fn if_all_is_taken_it_goes_where_it_covers_least() {
        let mut taken = Taken::default();
        taken.rect(Rect::between((0.0, 0.0), (100.0, 100.0)));
        taken.line(&[(0.0, 5.0), (100.0, 5.0)], 1.0);
        let [on_the_line, below_it] = [spot(40.0, 0.0), spot(40.0, 50.0)];
        assert_eq!(taken.take([on_the_line, below_it]), Some(below_it));
        assert_eq!(taken.take([]), None);
    }
}
