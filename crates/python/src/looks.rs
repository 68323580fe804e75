//! The names and looks of flows, so that Python plots look like the project's own.

use pyo3::prelude::*;

/// For each flow of these controllers its name, numbered if another has the same, its colour (``#009E73``), and its
/// index among the looks.
#[pyfunction]
#[pyo3(name = "_looks")]
pub fn looks(controllers: Vec<String>) -> Vec<(String, String, usize)> {
    let controllers: Vec<&str> = controllers.iter().map(String::as_str).collect();
    let colours: Vec<String> = draw::palette().map(|(light, _)| light).collect();
    let names = report::names(&controllers).into_iter();
    names
        .zip(report::places(&controllers))
        .map(|(name, place)| (name, colours[place % colours.len()].clone(), place))
        .collect()
}
