//! The numbers of a picture as a table.

use super::axis::Axis;
use super::chart::Chart;
use super::layer::Layer;

/// The numbers of these charts as CSV, with a row for each point, bar or cell: its chart and curve, and a column for
/// each axis, with its unit. Columns of other charts' axes stay empty.
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
        let values = columns.iter().map(|column| {
            let mut pairs = row.iter();
            let pair = pairs.find(|(name, _)| name == column);
            pair.map_or("", |(_, value)| value)
        });
        text += &(values.collect::<Vec<&str>>().join(",") + "\n");
    }
    text
}

/// Values with the names of their columns.
type Row = Vec<(String, String)>;

fn rows(chart: &Chart) -> Vec<Row> {
    let (x, y) = (&chart.x, &chart.y);
    let mut rows = Vec::new();
    let mut row = |name: &str, values: Vec<(String, String)>| {
        let names = [("chart", chart.title.as_str()), ("curve", name)];
        let names = names.map(|(column, name)| (column.to_owned(), quoted(name)));
        rows.push(names.into_iter().chain(values).collect());
    };
    let point = |(at, value): (f64, f64)| vec![cell(x, "", at), cell(y, "", value)];
    for layer in &chart.layers {
        match layer {
            Layer::Curve(curve) => {
                let points = curve.points.iter();
                points.for_each(|place| row(&curve.full_name(), point(*place)));
            }
            Layer::Bars(bars) => bars
                .bars
                .iter()
                .for_each(|bar| row(&bars.name, point(*bar))),
            Layer::Cells(cells) => {
                for one in &cells.cells {
                    let amount = (cells.unit.column(&cells.name), one.amount.to_string());
                    let mut values = vec![cell(x, "_from", one.x.0), cell(x, "_to", one.x.1)];
                    values.extend([cell(y, "_from", one.y.0), cell(y, "_to", one.y.1), amount]);
                    row(&cells.name, values);
                }
            }
            Layer::Drawing(drawing) => {
                let named = drawing
                    .nodes
                    .iter()
                    .filter_map(|node| node.lines.split_first());
                for (name, lines) in named {
                    let texts = lines.iter().map(|line| ("text".to_owned(), quoted(line)));
                    texts.for_each(|text| row(name, vec![text]));
                }
            }
            Layer::Rule(_) | Layer::Area(_) | Layer::Band(_) => {}
        }
    }
    rows.extend(chart.inset.iter().flat_map(|inset| self::rows(inset)));
    rows
}

/// A value of an axis with its column.
fn cell(axis: &Axis, end: &str, value: f64) -> (String, String) {
    let value = axis.value(value);
    let is_number = value.parse::<f64>().is_ok();
    let value = if is_number { value } else { quoted(&value) };
    (axis.column() + end, value)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
