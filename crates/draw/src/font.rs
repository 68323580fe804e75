//! The letters. The fonts are part of the program, so that a picture looks the same on any machine.

use std::sync::LazyLock;

use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId};

use super::colours::Colour;

/// The ratio of the room for text to its width in our fonts: others are wider.
const ROOM_FACTOR: f64 = 1.065;

static FACES: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
    let fonts: [&'static [u8]; 2] = [
        include_bytes!("../assets/fonts/DejaVuSans.ttf"),
        include_bytes!("../assets/fonts/DejaVuSans-Bold.ttf"),
    ];
    fonts.map(|font| Face::parse(font, 0).expect("a font that is part of the program"))
});

/// The weight of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// The style of letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Letters {
    /// The size in pixels.
    pub size: f64,
    pub weight: Weight,
    pub colour: Colour,
}

impl Letters {
    pub fn new(size: f64, colour: Colour) -> Letters {
        Letters {
            size,
            weight: Weight::Regular,
            colour,
        }
    }

    pub fn bold(self) -> Letters {
        let weight = Weight::Bold;
        Letters { weight, ..self }
    }

    pub fn face(&self) -> &'static Face<'static> {
        let [regular, bold] = &*FACES;
        match self.weight {
            Weight::Regular => regular,
            Weight::Bold => bold,
        }
    }

    /// The pixels of one font unit.
    pub fn scale(&self) -> f64 {
        self.size / f64::from(self.face().units_per_em())
    }

    /// The room that a line of text needs, in pixels.
    pub fn room(&self, text: &str) -> f64 {
        let glyphs = text.chars().map(|letter| self.glyph(letter));
        let advances = glyphs.filter_map(|glyph| self.face().glyph_hor_advance(glyph));
        advances.map(f64::from).sum::<f64>() * self.scale() * ROOM_FACTOR
    }

    /// Breaks the line into parts no wider than `width`, in pixels, as far as words allow; at least one part.
    pub fn broken(&self, line: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in line.split(' ') {
            let longer = lines.last().map(|last| format!("{last} {word}"));
            match longer.filter(|longer| self.room(longer) <= width) {
                Some(longer) => {
                    lines.pop();
                    lines.push(longer);
                }
                None => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// The glyphs of a line of text with their positions, and the end of the line, in pixels.
    pub fn set(&self, text: &str) -> (Vec<(GlyphId, f64)>, f64) {
        let (mut glyphs, mut end) = (Vec::new(), 0.0);
        let mut before = None;
        for glyph in text.chars().map(|letter| self.glyph(letter)) {
            let kerning = before.map_or(0, |before| kerning(self.face(), before, glyph));
            end += f64::from(kerning) * self.scale();
            glyphs.push((glyph, end));
            let advance = self.face().glyph_hor_advance(glyph).unwrap_or_default();
            end += f64::from(advance) * self.scale();
            before = Some(glyph);
        }
        (glyphs, end)
    }

    /// The glyph of a letter; glyph 0 is the box for letters that the font does not have.
    fn glyph(&self, letter: char) -> GlyphId {
        self.face().glyph_index(letter).unwrap_or_default()
    }
}

/// The kerning between two glyphs, in font units (OpenType, GPOS, lookup type 2).
fn kerning(face: &Face<'_>, first: GlyphId, second: GlyphId) -> i16 {
    let lookups = face.tables().gpos.map(|gpos| gpos.lookups);
    let lookups = lookups.into_iter().flatten();
    let pairs = lookups.flat_map(|lookup| lookup.subtables.into_iter::<PositioningSubtable<'_>>());
    let mut adjusted = pairs.filter_map(|subtable| {
        let PositioningSubtable::Pair(pair) = subtable else {
            return None;
        };
        let place = pair.coverage().get(first)?;
        match pair {
            PairAdjustment::Format1 { sets, .. } => Some(sets.get(place)?.get(second)?.0),
            PairAdjustment::Format2 {
                classes, matrix, ..
            } => Some(matrix.get((classes.0.get(first), classes.1.get(second)))?.0),
        }
    });
    adjusted.next().map_or(0, |value| value.x_advance)
}
