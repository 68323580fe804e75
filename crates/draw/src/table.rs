//! The numbers of a picture as a table.

use super::axis::Axis;
use super::chart::{Chart, Layer};

/// The numbers of what these charts show as CSV, a row for each point, bar or cell: of which chart and curve it is, and a
/// column for what each axis shows, with its unit. Axes of other charts leave theirs empty.
pub fn csv(charts: &[Chart]) -> String {
    let rows: Vec<Row> = charts.iter().flat_map(rows).collect();
    let mut columns: Vec<&str> = Vec::new();
    for (column, _) in rows.iter().flatten() {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
    }
    let mut text = columns.join(",") + "\n";
    for row in &rows {
        let value = |column: &&str| {
            let mut pairs = row.iter();
            let pair = pairs.find(|(name, _)| name == column);
            pair.map_or("", |(_, value)| value)
        };
        text += &columns.iter().map(value).collect::<Vec<&str>>().join(",");
        text.push('\n');
    }
    text
}

/// Values by their columns.
type Row = Vec<(String, String)>;

fn rows(chart: &Chart) -> Vec<Row> {
    let of_layer = |layer: &Layer| -> Vec<Row> {
        let row = |name: &str, values: Vec<(String, String)>| -> Row {
            let names = [("chart", chart.title.as_str()), ("curve", name)];
            let names = names.map(|(column, name)| (column.to_owned(), quoted(name)));
            names.into_iter().chain(values).collect()
        };
        let point = |(x, y): &(f64, f64)| vec![at(&chart.x, "", *x), at(&chart.y, "", *y)];
        match layer {
            Layer::Curve(curve) => {
                let name = curve.full_name();
                let points = curve.points.iter();
                points.map(|place| row(&name, point(place))).collect()
            }
            Layer::Bars(bars) => {
                let bar = |place| row(&bars.name, point(place));
                bars.bars.iter().map(bar).collect()
            }
            Layer::Cells(cells) => {
                let cell = |cell: &super::Cell| {
                    let values = vec![
                        at(&chart.x, "_from", cell.x.0),
                        at(&chart.x, "_to", cell.x.1),
                        at(&chart.y, "_from", cell.y.0),
                        at(&chart.y, "_to", cell.y.1),
                        (cells.unit.column(&cells.name), cell.amount.to_string()),
                    ];
                    row(&cells.name, values)
                };
                cells.cells.iter().map(cell).collect()
            }
            Layer::Drawing(drawing) => {
                let text = |text: &String| ("text".to_owned(), quoted(text));
                let lines = drawing.nodes.iter().flat_map(|node| {
                    let name = node.lines.first().map_or("", String::as_str);
                    let rest = node.lines.iter().skip(1);
                    rest.map(|line| row(name, vec![text(line)]))
                        .collect::<Vec<Row>>()
                });
                lines.collect()
            }
            Layer::Rule(_) | Layer::Band(_) => Vec::new(),
        }
    };
    let own = chart.layers.iter().flat_map(of_layer);
    let inset = chart.inset.iter().flat_map(|inset| rows(inset));
    own.chain(inset).collect()
}

/// A value of an axis, in the axis's column.
fn at(axis: &Axis, end: &str, value: f64) -> (String, String) {
    let value = axis.value(value);
    let value = match value.parse::<f64>() {
        Ok(_) => value,
        Err(_) => quoted(&value),
    };
    (axis.column() + end, value)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
