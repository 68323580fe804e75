//! The same SVG in fewer bytes. Plotters writes each dash of a line as an element of its own.

use std::fmt::Write;

/// The SVG with lines that follow each other and look the same as one path.
pub fn compact(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut open: Option<&str> = None;
    for line in svg.lines() {
        let polyline = line.strip_prefix("<polyline ").and_then(|rest| {
            let (look, rest) = rest.split_once(" points=\"")?;
            Some((look, rest.strip_suffix("\"/>")?.trim_end()))
        });
        if open.is_some() && open != polyline.map(|(look, _)| look) {
            text.push_str("\"/>\n");
        }
        // Text goes nowhere that could refuse it.
        let _ = match polyline {
            Some((look, points)) if open == Some(look) => write!(text, "M{points}"),
            Some((look, points)) => write!(text, "<path {look} d=\"M{points}"),
            None => writeln!(text, "{line}"),
        };
        open = polyline.map(|(look, _)| look);
    }
    text.replace(" opacity=\"1\"", "")
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn dashes_of_a_line_are_one_path() {
        let line = |stroke, points| {
            format!(
                "<polyline fill=\"none\" opacity=\"1\" stroke=\"{stroke}\" points=\"{points} \"/>\n"
            )
        };
        let dashes = [
            line("a", "0,0 1,1"),
            line("a", "2,2 3,3"),
            line("b", "4,4 5,5"),
        ];
        let svg = format!("<svg>\n{}</svg>\n", dashes.concat());
        assert_eq!(
            compact(&svg),
            "<svg>\n<path fill=\"none\" stroke=\"a\" d=\"M0,0 1,1M2,2 3,3\"/>\n\
             <path fill=\"none\" stroke=\"b\" d=\"M4,4 5,5\"/>\n</svg>\n"
        );
    }
}
