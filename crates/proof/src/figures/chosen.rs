//! The choice of figures by name.

use super::figure::Figure;
use super::list::ALL;
use units::hint;

/// No figure has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure {name}; --list names all of them{hint}")]
pub struct UnknownFigure {
    name: String,
    hint: String,
}

/// The figures with these names. All of them without names. A name may be the common beginning of several.
///
/// # Errors
///
/// A name fits no figure.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Figure>, UnknownFigure> {
    let has = |name: &str, figure: &Figure| {
        figure.name == name
            || figure
                .name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    let is_known = |name: &&String| ALL.iter().any(|figure| has(name, figure));
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = ALL.iter().flat_map(beginnings).collect();
        // `paper4` means `paper-4`, and not `paper`, which is as near.
        let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
        let alike = known.iter().find(|of| plain(of) == plain(name));
        return Err(UnknownFigure {
            name: name.clone(),
            hint: alike.map_or_else(
                || hint(name, &known),
                |of| format!("; did you mean `{of}`?"),
            ),
        });
    }
    let is_chosen =
        |figure: &&Figure| names.is_empty() || names.iter().any(|name| has(name, figure));
    Ok(ALL.iter().filter(is_chosen).collect())
}

/// The names that choose the figure: `paper`, `paper-8`, `paper-8-loss`, `paper-8-loss-sweep`.
fn beginnings(figure: &Figure) -> impl Iterator<Item = &'static str> {
    let name = figure.name;
    let ends = name.match_indices('-').map(|(end, _)| end);
    ends.chain([name.len()]).filter_map(|end| name.get(..end))
}

#[cfg(test)]
mod tests {
    use super::super::{After, CDN};
    use super::*;

    fn names(asked: &[&str]) -> Result<Vec<&'static str>, String> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        let chosen = chosen(&asked).map_err(|error| error.to_string())?;
        Ok(chosen.iter().map(|figure| figure.name).collect())
    }

    #[test]
    fn by_name_or_by_the_beginning_of_it() {
        assert_eq!(names(&[]).unwrap().len(), ALL.len());
        assert_eq!(names(&["paper-1"]).unwrap(), ["paper-1-operating-point"]);
        assert!(names(&["paper"]).unwrap().len() > 5);
        let error = names(&["coexistance"]).unwrap_err();
        assert!(error.contains("did you mean `coexistence`?"), "{error}");
        let error = names(&["paper4"]).unwrap_err();
        assert!(error.contains("did you mean `paper-4`?"), "{error}");
    }

    #[test]
    fn only_what_is_after_a_figure_has_its_number() {
        let mut numbers = [Vec::new(), Vec::new()];
        for figure in ALL {
            let mut parts = figure.name.split('-');
            let of_name = (
                parts.next(),
                parts.next().and_then(|part| part.parse::<u8>().ok()),
            );
            let (number, publication) = match figure.after {
                After::Figure(publication, number) => (Some(number), publication),
                After::Text(publication, _) => (None, publication),
            };
            assert_eq!(of_name.1, number, "{}", figure.name);
            let place = usize::from(publication == CDN);
            let short = ["paper", "cdn"][place];
            assert!(
                number.is_none() || of_name.0 == Some(short),
                "{}",
                figure.name
            );
            numbers[place].extend(number);
        }
        let up_to = |last: u8| (1..=last).collect::<Vec<u8>>();
        assert_eq!(numbers, [up_to(10), up_to(8)]);
    }

    #[test]
    fn no_two_have_the_same_name() {
        let mut names: Vec<&str> = ALL.iter().map(|figure| figure.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
