//! Where names go in a chart, so that they cover as little as can be.

use super::clip;
use super::paint::Place;

/// A rectangle in a chart, in fine pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    pub left: f64,
    pub top: f64,
    pub wide: f64,
    pub high: f64,
}

impl Spot {
    /// How much of it the other one covers, as an area.
    fn shared(&self, other: &Spot) -> f64 {
        let along = |from: f64, long: f64, at: f64, length: f64| {
            ((from + long).min(at + length) - from.max(at)).max(0.0)
        };
        along(self.left, self.wide, other.left, other.wide)
            * along(self.top, self.high, other.top, other.high)
    }

    /// How long the part of a line is that crosses it.
    fn crossed(&self, from: Place, to: Place) -> f64 {
        let within = |(x, y): Place| ((x - self.left) / self.wide, (y - self.top) / self.high);
        let Some((enters, leaves)) = clip::section(within(from), within(to)) else {
            return 0.0;
        };
        ((leaves.0 - enters.0) * self.wide).hypot((leaves.1 - enters.1) * self.high)
    }

    /// Whether it is within a chart of this size.
    pub fn is_within(&self, (wide, high): (f64, f64)) -> bool {
        self.left >= 0.0
            && self.top >= 0.0
            && self.left + self.wide <= wide
            && self.top + self.high <= high
    }
}

/// What a chart has drawn already.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The size of the chart, in fine pixels.
    size: (f64, f64),
    /// Lines, and what a pixel of them weighs.
    lines: Vec<(Place, Place, f64)>,
    spots: Vec<Spot>,
}

impl Taken {
    pub fn new(size: (f64, f64)) -> Taken {
        Taken {
            size,
            lines: Vec::new(),
            spots: Vec::new(),
        }
    }

    /// The size of the chart, in fine pixels.
    pub fn size(&self) -> (f64, f64) {
        self.size
    }

    /// A place of the chart in fine pixels.
    pub fn pixels(&self, (x, y): Place) -> Place {
        (x * self.size.0, (1.0 - y) * self.size.1)
    }

    /// Takes a line through these places. What covers a pixel of it weighs so much.
    pub fn line(&mut self, places: &[Place], weight: f64) {
        for pair in places.windows(2) {
            if let [from, to] = pair {
                self.lines
                    .push((self.pixels(*from), self.pixels(*to), weight));
            }
        }
    }

    /// Takes the rectangle between two places.
    pub fn between(&mut self, one: Place, other: Place) {
        let (one, other) = (self.pixels(one), self.pixels(other));
        self.spots.push(Spot {
            left: one.0.min(other.0),
            top: one.1.min(other.1),
            wide: (one.0 - other.0).abs(),
            high: (one.1 - other.1).abs(),
        });
    }

    /// Takes the first of these spots that covers nothing, else the one that covers least.
    pub fn take(&mut self, spots: impl IntoIterator<Item = Spot>) -> Option<Spot> {
        let mut best: Option<(Spot, f64)> = None;
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

    /// How much a spot covers: a pixel of a line is as much as a row of pixels of what is not a line.
    fn covered(&self, spot: &Spot) -> f64 {
        let lines = self.lines.iter();
        let lines = lines.map(|(from, to, weight)| spot.crossed(*from, *to) * weight);
        let spots = self.spots.iter().map(|other| spot.shared(other));
        lines.sum::<f64>() + spots.sum::<f64>() / spot.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(left: f64, top: f64) -> Spot {
        Spot {
            left,
            top,
            wide: 20.0,
            high: 10.0,
        }
    }

    #[test]
    fn a_name_goes_where_it_covers_no_curve() {
        let mut taken = Taken::new((100.0, 100.0));
        // From the lower left to the upper right.
        taken.line(&[(0.0, 0.0), (1.0, 1.0)], 1.0);
        let [crossed, free] = [spot(40.0, 50.0), spot(5.0, 5.0)];
        assert_eq!(taken.take([crossed, free]), Some(free));
        // A second name does not cover the first one.
        let beside = spot(5.0, 20.0);
        assert_eq!(taken.take([free, beside]), Some(beside));
    }

    #[test]
    fn if_all_is_taken_it_goes_where_it_covers_least() {
        let mut taken = Taken::new((100.0, 100.0));
        taken.between((0.0, 0.0), (1.0, 1.0));
        taken.line(&[(0.0, 0.95), (1.0, 0.95)], 1.0);
        let [on_the_line, below_it] = [spot(40.0, 0.0), spot(40.0, 50.0)];
        assert_eq!(taken.take([on_the_line, below_it]), Some(below_it));
        assert_eq!(taken.take([]), None);
    }
}
