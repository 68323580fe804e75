//! The reactions to keys.

use std::ops::ControlFlow;

use fleet::GroupBy;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::View;
use super::screen::{Chosen, Page, Screen};

/// The maximum length of a typed filter, in bytes.
const MAX_FILTER_BYTES: usize = 500;

/// The keys for the help page.
pub const HELP: &[(&str, &str)] = &[
    ("↑ ↓ PgUp PgDn Home End", "choose a row (also j and k)"),
    (
        "Enter",
        "details of the connection; the connections of the group",
    ),
    ("Esc", "back; clear the filter"),
    (
        "/",
        "filter by port=443 process=nginx !controller=cubic text",
    ),
    ("/ ↑", "change the filter in force"),
    ("s S", "sort by the next or the previous column"),
    ("r", "reverse the order"),
    (
        "g G",
        "next or previous groups: prefix, as, port, controller, …",
    ),
    ("l", "connections without groups"),
    ("? h", "this page"),
    ("q Ctrl-C", "quit"),
];

impl Screen {
    /// Handles a key. Breaks if the user quits.
    pub fn key(&mut self, key: KeyEvent, view: &View<'_>) -> ControlFlow<()> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return ControlFlow::Break(());
        }
        if self.typed.is_some() {
            self.type_filter(key.code, is_control);
            return ControlFlow::Continue(());
        }
        match (&self.page, key.code) {
            (_, KeyCode::Char('q')) => return ControlFlow::Break(()),
            (Page::Help, _) => self.page = Page::List,
            (_, KeyCode::Char('?' | 'h')) => self.page = Page::Help,
            (
                Page::Detail(_),
                KeyCode::Esc | KeyCode::Backspace | KeyCode::Enter | KeyCode::Left,
            ) => {
                self.page = Page::List;
            }
            (Page::List, code) => self.list(code, view),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn list(&mut self, code: KeyCode, view: &View<'_>) {
        self.wrong = None;
        let page = isize::try_from(self.room).unwrap_or(isize::MAX);
        match code {
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::Home => self.first(),
            KeyCode::End => self.step(isize::MAX),
            KeyCode::Enter | KeyCode::Right => self.enter(view),
            KeyCode::Esc => self.filter = fleet::Filter::default(),
            KeyCode::Char('/') => self.typed = Some(String::new()),
            KeyCode::Char('s') => self.sort = next(self.columns(), self.order(), 1),
            KeyCode::Char('S') => {
                let columns = self.columns();
                self.sort = next(columns, self.order(), columns.len() - 1);
            }
            KeyCode::Char('r') => self.is_reversed = !self.is_reversed,
            KeyCode::Char('g') => self.regroup(1),
            KeyCode::Char('G') => self.regroup(GroupBy::ALL.len()),
            KeyCode::Char('l') => {
                self.group = None;
                self.first();
            }
            _ => {}
        }
    }

    /// Cycles through the groups; between the last and the first there are none.
    fn regroup(&mut self, by: usize) {
        let all: Vec<Option<GroupBy>> = GroupBy::ALL
            .iter()
            .copied()
            .map(Some)
            .chain([None])
            .collect();
        self.group = next(&all, self.group, by);
        self.first();
    }

    fn enter(&mut self, view: &View<'_>) {
        match (&self.chosen, self.group) {
            (Some(Chosen::Connection(cookie)), _) => self.page = Page::Detail(*cookie),
            (Some(Chosen::Group(name)), Some(by)) => {
                let word = word(by, name);
                let both = format!("{} {word}", self.filter);
                if let Ok(filter) = both.parse::<fleet::Filter>()
                    && view.table.all().iter().any(|one| filter.passes(&one.seen))
                {
                    self.filter = filter;
                    self.group = None;
                    self.first();
                } else {
                    // The filter's syntax cannot express the name.
                    self.wrong = Some("no filter selects this group".to_owned());
                }
            }
            _ => {}
        }
    }

    fn type_filter(&mut self, code: KeyCode, is_control: bool) {
        let Some(typed) = &mut self.typed else { return };
        match code {
            KeyCode::Esc => {
                self.typed = None;
                self.wrong = None;
            }
            KeyCode::Enter => match typed.parse() {
                Ok(filter) => {
                    self.filter = filter;
                    self.typed = None;
                    self.wrong = None;
                    self.first();
                }
                Err(error) => self.wrong = Some(error.to_string()),
            },
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char('u') if is_control => typed.clear(),
            KeyCode::Up => *typed = self.filter.to_string(),
            KeyCode::Char(letter) if !is_control && typed.len() < MAX_FILTER_BYTES => {
                typed.push(letter)
            }
            _ => {}
        }
    }
}

/// The element `by` places further on, cyclically.
fn next<T: Copy + PartialEq>(all: &[T], now: T, by: usize) -> T {
    let place = all.iter().position(|one| *one == now).unwrap_or(0);
    all.get((place + by) % all.len().max(1))
        .copied()
        .unwrap_or(now)
}

/// The filter that selects a group.
fn word(by: GroupBy, name: &str) -> String {
    match by {
        GroupBy::As => {
            let number = name.split(' ').next().unwrap_or_default();
            format!("as={number}")
        }
        by => format!("{}={name}", by.name()),
    }
}
