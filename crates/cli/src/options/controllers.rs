//! Controllers as the help names them.

use congestion::ControllerKind;

/// `who`, and the names of all controllers: `Who races: bbr1, cubic, …`.
pub fn help(who: &str) -> String {
    let names: Vec<&str> = ControllerKind::ALL.iter().map(|kind| kind.name()).collect();
    format!("{who}: {}", names.join(", "))
}
