//! Points and rectangles on the sheet, in pixels from its upper left corner.

/// The distances to the right and down.
pub type Point = (f64, f64);

/// The distance from an edge within which a point still counts as inside.
const EDGE_TOLERANCE: f64 = 1e-6;

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub wide: f64,
    pub high: f64,
}

impl Rect {
    /// The rectangle between two of its corners.
    pub fn between(one: Point, other: Point) -> Rect {
        Rect {
            left: one.0.min(other.0),
            top: one.1.min(other.1),
            wide: (one.0 - other.0).abs(),
            high: (one.1 - other.1).abs(),
        }
    }

    pub fn right(&self) -> f64 {
        self.left + self.wide
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.high
    }

    /// A point in it: 0 is left or below, 1 right or above.
    pub fn at(&self, (x, y): Point) -> Point {
        (self.left + x * self.wide, self.bottom() - y * self.high)
    }

    pub fn corners(&self) -> [Point; 4] {
        [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map(|corner| self.at(corner))
    }

    /// The rectangle without margins of these widths: on the left, above, on the right, below.
    pub fn without(&self, [left, top, right, bottom]: [f64; 4]) -> Rect {
        Rect {
            left: self.left + left,
            top: self.top + top,
            wide: self.wide - left - right,
            high: self.high - top - bottom,
        }
    }

    /// The nearest point in it.
    pub fn nearest(&self, (x, y): Point) -> Point {
        (
            x.clamp(self.left, self.right()),
            y.clamp(self.top, self.bottom()),
        )
    }

    pub fn holds(&self, (x, y): Point) -> bool {
        let is_between = |at: f64, from: f64, to: f64| {
            (from - EDGE_TOLERANCE..=to + EDGE_TOLERANCE).contains(&at)
        };
        is_between(x, self.left, self.right()) && is_between(y, self.top, self.bottom())
    }

    pub fn surrounds(&self, other: &Rect) -> bool {
        other.corners().iter().all(|corner| self.holds(*corner))
    }

    /// The area that it shares with the other one.
    pub fn shared(&self, other: &Rect) -> f64 {
        let along = |from: f64, to: f64, other_from: f64, other_to: f64| {
            (to.min(other_to) - from.max(other_from)).max(0.0)
        };
        along(self.left, self.right(), other.left, other.right())
            * along(self.top, self.bottom(), other.top, other.bottom())
    }

    /// The part of the line between two points that is in it (Liang and Barsky, 1984).
    pub fn section(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut first, mut last) = (0.0f64, 1.0f64);
        let edges = [
            (-dx, from.0 - self.left),
            (dx, self.right() - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom() - from.1),
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

    /// The parts of a line through these points that are in it.
    pub fn clip(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut lines: Vec<Vec<Point>> = Vec::new();
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            let Some((enters, leaves)) = self.section(*from, *to) else {
                continue;
            };
            match lines.last_mut() {
                Some(line) if line.last() == Some(&enters) => line.push(leaves),
                _ => lines.push(vec![enters, leaves]),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Rect;

    const UNIT: Rect = Rect {
        left: 0.0,
        top: 0.0,
        wide: 1.0,
        high: 1.0,
    };

    #[test]
    fn a_line_is_cut_at_the_edges() {
        let inside = [(0.1, 0.1), (0.9, 0.9)];
        assert_eq!(UNIT.clip(&inside), [inside]);
        let through = [(-1.0, 0.5), (2.0, 0.5)];
        assert_eq!(UNIT.clip(&through), [[(0.0, 0.5), (1.0, 0.5)]]);
        assert!(UNIT.clip(&[(-1.0, 2.0), (2.0, 2.0)]).is_empty());
    }

    #[test]
    fn a_line_that_leaves_and_comes_back_has_two_parts() {
        let hill = [(0.0, 0.5), (0.5, 1.5), (1.0, 0.5)];
        let parts = UNIT.clip(&hill);
        assert_eq!(
            parts,
            [[(0.0, 0.5), (0.25, 1.0)], [(0.75, 1.0), (1.0, 0.5)]]
        );
    }
}
