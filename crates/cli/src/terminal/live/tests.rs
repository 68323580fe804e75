//! Pages on terminals of several sizes.

use std::sync::Arc;

use fleet::{Column, Filter, GroupBy, Moment, Table};
use linux::diag::SocketState;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};
use units::{Bytes, Duration, Rate};

use super::draw::draw;
use super::palette::Palette;
use super::screen::{Page, Screen};
use super::{Start, View};

/// Linux 6.18's answer about a BBR connection.
const CAPTURED: &str = include_str!("../../../../fleet/src/captured.hex");

fn socket(number: u8) -> SocketState {
    let digits: Vec<u8> = CAPTURED.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let payload: Vec<u8> = digits.chunks(2).map(byte).collect();
    let mut socket = SocketState::parse(&payload).unwrap().unwrap();
    socket.cookie = number.into();
    socket.local = "192.0.2.1:443".parse().unwrap();
    socket.remote = format!("198.51.100.{number}:50000").parse().unwrap();
    socket
}

/// Ten connections over a minute; the one with number 9 is the fastest.
fn table() -> Table {
    table_of(socket)
}

/// The same with these sockets.
fn table_of(socket: fn(u8) -> SocketState) -> Table {
    let mut table = Table::default();
    for second in 0..60 {
        let when = Moment {
            at: Duration::from_secs(second),
            unix_s: 0.0,
        };
        table.begin(when);
        for number in 0..10u8 {
            let mut socket = socket(number);
            let bytes = u64::from(number) * 125_000 * (second + second % 7);
            socket.info.bytes_acked = Bytes::new(bytes);
            socket.info.bytes_sent = socket.info.bytes_acked + socket.info.bytes_retrans;
            socket.info.rtt = Duration::from_millis(40 + second % 10);
            socket.info.min_rtt = Some(Duration::from_millis(40));
            socket.info.delivery_rate = Rate::from_bits_per_sec(u64::from(number) * 1_000_000);
            socket.info.busy_time = Duration::from_millis(second * 900);
            table.see_in(&socket, &Arc::from("here"));
        }
        table.end();
    }
    table
}

fn screen(is_coloured: bool) -> Screen {
    let start = Start {
        sort: Column::Send,
        group: None,
    };
    Screen::new(start, Palette::new(is_coloured))
}

/// The text and the styles on a terminal of this size.
fn drawn(
    screen: &mut Screen,
    table: &Table,
    width: u16,
    height: u16,
) -> (String, Vec<(Color, Modifier)>) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(frame, screen, &view(table)))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let styles = buffer
        .content()
        .iter()
        .map(|cell| (cell.fg, cell.modifier))
        .collect();
    let lines = buffer.content().chunks(usize::from(width.max(1)));
    let line = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(|cell| cell.symbol()).collect();
        text.trim_end().to_owned()
    };
    (lines.map(line).collect::<Vec<_>>().join("\n"), styles)
}

fn view(table: &Table) -> View<'_> {
    static ALL: std::sync::OnceLock<Filter> = std::sync::OnceLock::new();
    View {
        table,
        filter: ALL.get_or_init(Filter::default),
        looks: 1,
        took: Duration::from_millis(12),
        trouble: None,
    }
}

fn press(screen: &mut Screen, table: &Table, code: KeyCode) -> bool {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    screen.key(key, &view(table)).is_break()
}

fn types(screen: &mut Screen, table: &Table, text: &str) {
    for letter in text.chars() {
        press(screen, table, KeyCode::Char(letter));
    }
}

#[test]
fn the_list_on_a_small_terminal() {
    let table = table();
    let (text, _) = drawn(&mut screen(true), &table, 80, 24);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("fullpipe watch  10 connections  send "),
        "{text}"
    );
    assert_eq!(lines[1], "sorted by send  poll 12.0 ms");
    for heading in ["remote", "control", "send/s", "RTT ms", "limited by"] {
        assert!(lines[2].contains(heading), "{heading}: {text}");
    }
    assert!(
        lines[3].starts_with("198.51.100.9:50000") && lines[3].contains("bbr"),
        "{text}"
    );
    assert!(lines[12].starts_with("198.51.100.0:50000"), "{text}");
    assert!(lines[23].contains("q quit"));
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_title_counts_and_sums_what_the_rows_show() {
    let table = table();
    let title = |screen: &mut Screen, words: &str| {
        let filter: Filter = words.parse().unwrap();
        let view = View {
            filter: &filter,
            ..view(&table)
        };
        let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
        terminal.draw(|frame| draw(frame, screen, &view)).unwrap();
        let buffer = terminal.backend().buffer();
        let cells = buffer.content()[..100].iter();
        let text: String = cells.map(|cell| cell.symbol()).collect();
        text.trim_end().to_owned()
    };
    let all = title(&mut screen(true), "");
    assert!(all.contains("  10 connections  send "), "{all}");
    // A connection outside the command's filter does not count.
    let one = title(&mut screen(true), "198.51.100.9");
    assert!(one.contains("  1 connection  send "), "{one}");
    // The view's filter hides some of them.
    let mut screen = screen(true);
    screen.filter = "198.51.100.9".parse().unwrap();
    let some = title(&mut screen, "");
    assert!(some.contains("  1 of 10 connections  send "), "{some}");
    let sent = |title: &str| title.split_once("send ").unwrap().1.to_owned();
    assert_eq!(sent(&some), sent(&one));
    assert_ne!(sent(&some), sent(&all));
    screen.filter = "!198.51.100.9".parse().unwrap();
    let none = title(&mut screen, "198.51.100.9");
    assert!(
        none.contains("  0 of 1 connection  send 0 bit/s  receive 0 bit/s"),
        "{none}"
    );
}

#[test]
fn without_connections_nothing_is_sent() {
    let (text, _) = drawn(&mut screen(true), &Table::default(), 80, 24);
    let title = "fullpipe watch  0 connections  send 0 bit/s  receive 0 bit/s";
    assert_eq!(text.lines().next(), Some(title));
}

#[test]
fn a_wide_terminal_shows_more_and_sparklines() {
    let table = table();
    let (text, _) = drawn(&mut screen(true), &table, 220, 50);
    for more in ["local", "pacing/s", "inflight", "×min", "█"] {
        assert!(text.contains(more), "{more}: {text}");
    }
    // A column that is unknown or equal for all is left out.
    for none in ["process", "cgroup", "AS", "namespace"] {
        assert!(!text.contains(none), "{none}: {text}");
    }
    let sorted = &mut screen(true);
    sorted.sort = Column::Cgroup;
    assert!(drawn(sorted, &table, 80, 24).0.contains("cgroup"));
}

#[test]
fn long_addresses_are_whole_where_there_is_room() {
    let table = table_of(|number| {
        let mut socket = socket(number);
        socket.local = format!("[2001:db8:1234:5678:9abc:def0:1:{number}]:443")
            .parse()
            .unwrap();
        socket.remote = format!("[2001:db8:8765:4321:fedc:ba98:2:{number}]:50000")
            .parse()
            .unwrap();
        socket
    });
    let (text, _) = drawn(&mut screen(true), &table, 200, 24);
    for address in [
        "[2001:db8:1234:5678:9abc:def0:1:7]:443",
        "[2001:db8:8765:4321:fedc:ba98:2:7]:50000",
    ] {
        assert!(text.contains(address), "{address}: {text}");
    }
    // In 80 columns, the end of the address and its port are visible.
    let (text, _) = drawn(&mut screen(true), &table, 80, 24);
    assert!(
        text.lines().any(|line| line.contains("8:2:7]:50000")),
        "{text}"
    );
}

#[test]
fn connections_to_the_same_service_are_told_apart() {
    let table = table_of(|number| {
        let mut socket = socket(number);
        socket.local = format!("192.0.2.1:{}", 40_000 + u16::from(number))
            .parse()
            .unwrap();
        socket.remote = "198.51.100.1:443".parse().unwrap();
        socket
    });
    let (text, _) = drawn(&mut screen(true), &table, 80, 24);
    for number in 0..10 {
        assert!(text.contains(&format!("192.0.2.1:4000{number}")), "{text}");
    }
}

#[test]
fn the_help_has_room_on_a_small_terminal() {
    let mut screen = screen(true);
    screen.page = Page::Help;
    let (text, _) = drawn(&mut screen, &table(), 80, 24);
    for (keys, what) in super::keys::HELP {
        assert!(
            text.contains(&format!("{keys:<24}{what}")),
            "{what}: {text}"
        );
    }
}

#[test]
fn without_colour_everything_is_there() {
    let table = table();
    for page in [Page::List, Page::Detail(9), Page::Help] {
        let mut screens = [true, false].map(screen);
        for screen in &mut screens {
            screen.page = page.clone();
        }
        let [(with, coloured), (without, plain)] =
            screens.each_mut().map(|one| drawn(one, &table, 100, 40));
        assert_eq!(with, without);
        assert!(
            coloured.iter().any(|(colour, _)| *colour != Color::Reset),
            "{page:?}"
        );
        assert!(
            plain.iter().all(|(colour, _)| *colour == Color::Reset),
            "{page:?}"
        );
    }
    let (_, styles) = drawn(&mut screen(false), &table, 80, 24);
    assert!(
        styles
            .iter()
            .any(|(_, modifier)| modifier.contains(Modifier::REVERSED))
    );
}

#[test]
fn details_show_the_last_minute() {
    let table = table();
    let mut screen = screen(true);
    drawn(&mut screen, &table, 80, 24);
    press(&mut screen, &table, KeyCode::Enter);
    assert_eq!(screen.page, Page::Detail(9));
    for (width, height) in [(80, 24), (200, 60)] {
        let (text, _) = drawn(&mut screen, &table, width, height);
        for part in [
            "198.51.100.9:50000",
            "BBR",
            "ProbeBW",
            "RTT ms: ⠒ RTT  • min",
            "delivery rate bit/s: ⠒ delivery rate  • send and receive",
            "in flight B: ⠒ in flight  • cwnd",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= usize::from(width))
        );
        for (row, end) in [("RTT  ", "ms"), ("rates", "bit/s"), ("window", "B")] {
            let line = text.lines().find(|line| line.starts_with(row));
            assert!(
                line.is_some_and(|line| line.ends_with(end)),
                "{row}: {text}"
            );
        }
        // Each curve has its sign in the chart, whatever the colours.
        assert!(text.matches('•').count() > 60, "{text}");
        let is_braille = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
        assert!(
            text.chars().filter(|c| is_braille(*c)).count() > 60,
            "{text}"
        );
    }
    let marks = |text: &str| text.matches('•').count();
    let watched = marks(&drawn(&mut screen, &table, 80, 24).0);
    let mut new = Table::default();
    for second in 58..60 {
        new.begin(Moment {
            at: Duration::from_secs(second),
            unix_s: 0.0,
        });
        let mut socket = socket(9);
        socket.info.bytes_received = Bytes::new(second);
        new.see_in(&socket, &Arc::from("here"));
        new.end();
    }
    // The polls before the connection existed are empty.
    let (text, _) = drawn(&mut screen, &new, 80, 24);
    assert!(marks(&text) < watched / 3, "{text}");
    let empty = Table::default();
    let (text, _) = drawn(&mut screen, &empty, 80, 24);
    assert!(text.contains("the connection is closed"), "{text}");
}

#[test]
fn groups_lead_to_their_connections() {
    let table = table();
    let mut screen = screen(true);
    press(&mut screen, &table, KeyCode::Char('g'));
    assert_eq!(screen.group, Some(GroupBy::Prefix));
    let (text, _) = drawn(&mut screen, &table, 80, 24);
    let row = text
        .lines()
        .find(|line| line.starts_with("198.51.100.0/24"))
        .unwrap();
    assert!(row.contains(" 10 "), "{text}");
    press(&mut screen, &table, KeyCode::Enter);
    assert_eq!(
        (screen.group, &*screen.filter.to_string()),
        (None, "prefix=198.51.100.0/24")
    );
    for _ in 0..GroupBy::ALL.len() {
        press(&mut screen, &table, KeyCode::Char('g'));
        drawn(&mut screen, &table, 80, 24);
    }
    press(&mut screen, &table, KeyCode::Char('g'));
    assert_eq!(screen.group, None);
}

#[test]
fn a_group_of_what_is_unknown_leads_to_its_connections_too() {
    let table = table();
    let mut screen = screen(true);
    screen.group = Some(GroupBy::Process);
    drawn(&mut screen, &table, 80, 24);
    press(&mut screen, &table, KeyCode::Enter);
    assert_eq!(
        (screen.group, &*screen.filter.to_string()),
        (None, "process=unknown")
    );
    let (text, _) = drawn(&mut screen, &table, 80, 24);
    assert_eq!(text.matches(":50000").count(), 10, "{text}");
}

#[test]
fn groups_are_sorted_by_a_column_that_is_in_sight() {
    let table = table_of(|number| {
        let mut socket = socket(number);
        socket.remote = format!("198.51.{number}.1:50000").parse().unwrap();
        socket
    });
    let mut screen = screen(true);
    (screen.group, screen.sort) = (Some(GroupBy::Prefix), Column::Age);
    let first = |screen: &mut Screen| {
        let (text, _) = drawn(screen, &table, 80, 24);
        let lines: Vec<&str> = text.lines().collect();
        (
            lines[1].to_owned(),
            lines[2].to_owned(),
            lines[3].to_owned(),
        )
    };
    // Groups have no age.
    let (status, _, row) = first(&mut screen);
    assert!(status.starts_with("by prefix, sorted by send"), "{status}");
    assert!(row.starts_with("198.51.9.0/24"), "{row}");
    press(&mut screen, &table, KeyCode::Char('S'));
    let (status, headings, _) = first(&mut screen);
    assert!(status.contains("sorted by resent"), "{status}");
    assert!(headings.ends_with(" resent"), "{headings}");
    press(&mut screen, &table, KeyCode::Char('s'));
    press(&mut screen, &table, KeyCode::Char('r'));
    let (_, _, row) = first(&mut screen);
    assert!(row.starts_with("198.51.0.0/24"), "{row}");
}

#[test]
fn the_namespaces_are_told_apart_on_a_small_terminal() {
    let mut table = Table::default();
    table.begin(Moment::default());
    for (number, namespace) in [(1, "here"), (2, "web1")] {
        table.see_in(&socket(number), &Arc::from(namespace));
    }
    table.end();
    let (text, _) = drawn(&mut screen(true), &table, 80, 24);
    assert!(
        text.contains("namespace") && text.contains("web1"),
        "{text}"
    );
}

#[test]
fn a_filter_is_typed_and_a_wrong_one_is_explained() {
    let table = table();
    let mut screen = screen(true);
    types(&mut screen, &table, "/prot=1");
    press(&mut screen, &table, KeyCode::Enter);
    let (text, _) = drawn(&mut screen, &table, 80, 24);
    assert!(text.contains("did you mean `port`?"), "{text}");
    for _ in 0..20 {
        press(&mut screen, &table, KeyCode::Backspace);
    }
    types(&mut screen, &table, "prefix=198.51.100.4");
    press(&mut screen, &table, KeyCode::Enter);
    let (text, _) = drawn(&mut screen, &table, 80, 24);
    assert_eq!(text.matches(":50000").count(), 1, "{text}");
    // The typed text replaces the filter in force, which can be restored and changed.
    types(&mut screen, &table, "/port=1");
    press(&mut screen, &table, KeyCode::Enter);
    assert_eq!(&*screen.filter.to_string(), "port=1");
    types(&mut screen, &table, "/x");
    press(&mut screen, &table, KeyCode::Up);
    types(&mut screen, &table, ",443");
    press(&mut screen, &table, KeyCode::Enter);
    assert_eq!(&*screen.filter.to_string(), "port=1,443");
    // A typed q does not quit.
    types(&mut screen, &table, "/q");
    press(&mut screen, &table, KeyCode::Esc);
    assert!(press(&mut screen, &table, KeyCode::Char('q')));
}

#[test]
fn the_chosen_row_is_followed_and_stays_in_sight() {
    let table = table();
    let mut screen = screen(true);
    drawn(&mut screen, &table, 80, 8);
    for _ in 0..7 {
        press(&mut screen, &table, KeyCode::Down);
        drawn(&mut screen, &table, 80, 8);
    }
    let (text, styles) = drawn(&mut screen, &table, 80, 8);
    let row = styles
        .iter()
        .position(|(_, modifier)| modifier.contains(Modifier::REVERSED))
        .unwrap()
        / 80;
    assert!(
        text.lines().nth(row).unwrap().starts_with("198.51.100.2:"),
        "{text}"
    );
    press(&mut screen, &table, KeyCode::Char('r'));
    drawn(&mut screen, &table, 80, 8);
    assert_eq!(screen.row, 2, "the same connection, in the other order");
    press(&mut screen, &table, KeyCode::End);
    drawn(&mut screen, &table, 80, 8);
    assert_eq!(screen.row, 9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With any size and any keys, nothing panics, and no row is beyond the end.
    #[test]
    fn any_size_and_any_keys(
        width in 0u16..140,
        height in 0u16..50,
        keys in prop::collection::vec(0usize..20, 0..30),
    ) {
        let codes = [
            KeyCode::Enter, KeyCode::Esc, KeyCode::Up, KeyCode::Down, KeyCode::PageDown, KeyCode::PageUp,
            KeyCode::Home, KeyCode::End, KeyCode::Backspace, KeyCode::Left,
        ];
        let letters = ['/', 's', 'S', 'r', 'g', 'G', 'l', '?', '=', 'ä'];
        let table = table();
        let mut screen = screen(true);
        for key in keys {
            let code = codes.get(key).copied();
            let code = code.or_else(|| letters.get(key - 10).map(|letter| KeyCode::Char(*letter)));
            press(&mut screen, &table, code.unwrap_or(KeyCode::Null));
            drawn(&mut screen, &table, width, height);
            prop_assert!(screen.row < 10);
        }
    }
}
