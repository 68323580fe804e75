//! Draws the frame around every page.

use program::output::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use tables::numbers;
use units::Rate;

use super::keys::HELP;
use super::palette::Palette;
use super::screen::{Page, Screen};
use super::{View, detail, list};
use crate::terminal::connections::some_of;

pub fn draw(frame: &mut Frame<'_>, screen: &mut Screen, view: &View<'_>) {
    let parts = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ]);
    let [title, status, body, keys] = parts.areas(frame.area());
    let is_gone = match screen.page {
        Page::Detail(cookie) => view.table.by_cookie(cookie).is_none(),
        _ => false,
    };
    if is_gone {
        screen.page = Page::List;
        screen.wrong = Some("the connection is closed".to_owned());
    }
    match screen.page {
        Page::List => match screen.group {
            None => list::connections(frame, body, screen, view),
            Some(by) => list::groups(frame, body, screen, view, by),
        },
        Page::Detail(cookie) => {
            if let Some(connection) = view.table.by_cookie(cookie) {
                detail::draw(frame, body, connection, screen.palette);
            }
        }
        Page::Help => help(frame, body, screen.palette),
    }
    frame.render_widget(title_line(screen, view), title);
    frame.render_widget(status_line(screen, view), status);
    frame.render_widget(keys_line(screen), keys);
}

/// The totals of the rows, and the number of connections without the view's filter.
fn title_line(screen: &Screen, view: &View<'_>) -> Line<'static> {
    let shown = screen.passing(view);
    let sum = |of: fn(&fleet::ConnectionState) -> Option<Rate>| {
        let rates = shown.iter().filter_map(|one| of(&one.seen));
        // The sum of no floating-point numbers is -0.0.
        let rates = rates.map(Rate::bits_per_sec);
        numbers::bits_per_sec(rates.fold(0, u64::saturating_add) as f64)
    };
    let watched = view.table.all().iter();
    let all = watched.filter(|one| view.filter.passes(&one.seen)).count();
    let all = some_of(shown.len(), all, "connection");
    let left_out = match view.table.left_out() {
        0 => String::new(),
        more => format!("  {more} not followed"),
    };
    let text = format!(
        "  {all}{left_out}  send {}  receive {}",
        sum(fleet::ConnectionState::send_rate),
        sum(fleet::ConnectionState::receive_rate),
    );
    Line::from(vec![
        Span::styled("fullpipe watch", screen.palette.heading()),
        Span::raw(text),
    ])
}

fn status_line(screen: &Screen, view: &View<'_>) -> Line<'static> {
    let palette = screen.palette;
    if let Some(typed) = &screen.typed {
        let wrong = screen.wrong.as_deref().map(|wrong| format!("  {wrong}"));
        return Line::from(vec![
            Span::styled("filter: ", palette.heading()),
            Span::raw(printable(typed)),
            Span::styled("▏", palette.heading()),
            Span::styled(printable(&wrong.unwrap_or_default()), palette.alarming()),
        ]);
    }
    if let Some(trouble) = view.trouble.or(screen.wrong.as_deref()) {
        return Line::styled(printable(trouble), palette.alarming());
    }
    let order = match (screen.group, screen.is_reversed) {
        (Some(by), false) => format!("by {by}, sorted by {}", screen.order()),
        (Some(by), true) => format!("by {by}, sorted by {}, reversed", screen.order()),
        (None, false) => format!("sorted by {}", screen.order()),
        (None, true) => format!("sorted by {}, reversed", screen.order()),
    };
    let filters = [view.filter, &screen.filter];
    let words = filters
        .iter()
        .filter(|filter| !filter.is_empty())
        .map(ToString::to_string);
    let filter = words.collect::<Vec<_>>().join(" ");
    let filter = if filter.is_empty() {
        filter
    } else {
        format!("  filter: {filter}")
    };
    let took = numbers::span(view.took.as_millis_f64());
    Line::styled(
        printable(&format!("{order}{filter}  poll {took}")),
        palette.quiet(),
    )
}

fn keys_line(screen: &Screen) -> Line<'static> {
    let text = match (&screen.typed, &screen.page) {
        (Some(_), _) => "Enter apply  Esc cancel  Ctrl-U clear  ↑ the filter in force",
        (None, Page::List) => {
            "Enter details  / filter  s sort  r reverse  g groups  ? help  q quit"
        }
        (None, Page::Detail(_)) => "Esc back  ? help  q quit",
        (None, Page::Help) => "any key: back",
    };
    Line::styled(text, screen.palette.quiet())
}

fn help(frame: &mut Frame<'_>, area: Rect, palette: Palette) {
    let keys = HELP.iter().map(|(keys, what)| {
        Line::from(vec![
            Span::styled(format!("{keys:<24}"), palette.heading()),
            Span::raw(*what),
        ])
    });
    let columns = [
        "",
        "send/s, recv/s, deliv/s and pacing/s are bits per second: acknowledged,",
        "received, the kernel's delivery rate, and its pacing rate. ×min is RTT over its",
        "minimum. limited by: app (nothing to send), rwnd (receiver), sndbuf, cong (all",
        "other time with something outstanding: cwnd, pacing, or waiting for an ACK).",
    ];
    let lines = keys.chain(columns.map(|line| Line::styled(line, palette.quiet())));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}
