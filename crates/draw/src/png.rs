//! A picture as pixels.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::dark;
use super::font::{BOLD, REGULAR};

/// Pixels of the PNG for each of the SVG: sharp on slides and on screens of twice the density.
const SCALE: f32 = 2.0;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG is none.
    #[error("cannot read the picture: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// It is too large, or empty.
    #[error("a picture of this size cannot be drawn")]
    Size,
    /// The encoder gave up.
    #[error("cannot encode the picture: {0}")]
    Encoding(String),
}

/// The SVG as PNG, twice as large, on white, with the fonts that are part of the program.
///
/// # Errors
///
/// The text is no SVG, or has no size that fits into memory.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(REGULAR.to_vec());
        fonts.load_font_data(BOLD.to_vec());
        Arc::new(fonts)
    });
    let options = Options {
        fontdb: fonts.clone(),
        ..Options::default()
    };
    let tree = Tree::from_str(&dark::without_style(svg), &options)?;
    let size = tree.size().to_int_size();
    let side = |pixels: u32| (pixels as f32 * SCALE) as u32;
    let mut pixels = Pixmap::new(side(size.width()), side(size.height())).ok_or(PngError::Size)?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixels.as_mut(),
    );
    pixels
        .encode_png()
        .map_err(|error| PngError::Encoding(error.to_string()))
}
