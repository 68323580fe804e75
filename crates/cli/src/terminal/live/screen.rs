//! The state of the view.

use fleet::{Column, Connection, Filter, Group, GroupBy};

use super::palette::Palette;
use super::{Start, View};

/// A page of the view.
#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    /// Connections, or groups of them.
    List,
    /// One connection.
    Detail(u64),
    /// The keys.
    Help,
}

/// The state of the view.
#[derive(Debug)]
pub struct Screen {
    pub page: Page,
    /// The sorted column.
    pub sort: Column,
    /// The order is reversed.
    pub is_reversed: bool,
    /// Groups instead of connections.
    pub group: Option<GroupBy>,
    /// The typed filter.
    pub filter: Filter,
    /// The filter that is being typed.
    pub typed: Option<String>,
    /// The error in it.
    pub wrong: Option<String>,
    /// The index of the selected row.
    pub row: usize,
    /// The connection or group in it. The selection follows it when the order changes.
    pub chosen: Option<Chosen>,
    /// The index of the first visible row.
    pub top: usize,
    /// The number of rows that fit.
    pub room: usize,
    pub palette: Palette,
}

/// The content of the selected row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// A connection, by its cookie.
    Connection(u64),
    /// A group, by its name.
    Group(String),
}

impl Screen {
    pub fn new(start: Start, palette: Palette) -> Screen {
        Screen {
            page: Page::List,
            sort: start.sort,
            is_reversed: false,
            group: start.group,
            filter: Filter::default(),
            typed: None,
            wrong: None,
            row: 0,
            chosen: None,
            top: 0,
            room: 1,
            palette,
        }
    }

    /// The columns by which the page can be sorted.
    pub fn columns(&self) -> &'static [Column] {
        match self.group {
            Some(_) => fleet::sortable_columns(),
            None => Column::ALL,
        }
    }

    /// The sorted column: groups do not have all of them.
    pub fn order(&self) -> Column {
        if self.columns().contains(&self.sort) {
            self.sort
        } else {
            Column::Send
        }
    }

    /// The connections that pass the filters, in order.
    pub fn connections<'v>(&self, view: &View<'v>) -> Vec<&'v Connection> {
        let mut all = self.passing(view);
        self.sort.sort(&mut all, self.is_reversed);
        all
    }

    /// The groups of these connections, in order.
    pub fn groups(&self, by: GroupBy, view: &View<'_>) -> Vec<Group> {
        let mut all = Group::all(by, self.passing(view));
        Group::sort(&mut all, self.order(), self.is_reversed);
        all
    }

    /// The connections that pass the filters, in any order.
    pub fn passing<'v>(&self, view: &View<'v>) -> Vec<&'v Connection> {
        let passes =
            |one: &&Connection| view.filter.passes(&one.seen) && self.filter.passes(&one.seen);
        view.table.all().iter().filter(passes).collect()
    }

    /// Keeps the selection when the rows change, and the selected row visible; `room` rows fit.
    pub fn settle(&mut self, rows: &[Chosen], room: usize) {
        self.room = room.max(1);
        let is_at_top = self.row == 0;
        if let Some(chosen) = &self.chosen
            && !is_at_top
            && let Some(row) = rows.iter().position(|row| row == chosen)
        {
            self.row = row;
        }
        self.row = self.row.min(rows.len().saturating_sub(1));
        self.chosen = rows.get(self.row).cloned();
        self.top = self
            .top
            .min(self.row)
            .min(rows.len().saturating_sub(self.room));
        self.top = self.top.max((self.row + 1).saturating_sub(self.room));
    }

    /// Moves the selection down or up.
    pub fn step(&mut self, by: isize) {
        self.row = self.row.saturating_add_signed(by);
        self.chosen = None;
    }

    pub fn first(&mut self) {
        (self.row, self.top, self.chosen) = (0, 0, None);
    }
}
