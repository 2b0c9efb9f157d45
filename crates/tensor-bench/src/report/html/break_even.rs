//! The break-even in passes.

use super::{
    super::{Pass, Row},
    bars::{Bar, END, Group, Mark, START, bars},
    figure::{Cell, Figure, FigureWidth, Table, drawing},
    scale::{Scale, ScaleKind},
};

/// The picture: a dot for each layout and pass.
pub(super) fn figure(rows: &[Row]) -> Figure {
    let title = "Break-even: passes from which a contiguous copy is worth it";
    let groups: Vec<Group> = rows.iter().map(group).collect();
    let most = groups.iter().flat_map(|g| &g.bars).filter_map(|bar| bar.value).fold(10.0, f64::max);
    let high = 10f64.powf(most.log10().ceil());
    let scale = Scale { kind: ScaleKind::Logarithmic, low: 1.0, high, from: START + 8.0, to: END };
    let (body, height) = bars(&groups, &scale, Mark::Dot, "", 1.0);
    Figure {
        id: "break-even".into(),
        title: title.to_owned(),
        note: "From this number of passes on, contiguous() and passes over the copy take no \
              longer than passes over the view. Both passes by this library."
            .to_owned(),
        width: FigureWidth::Column,
        picture: drawing("break-even", title, height, &body),
        table: Table {
            columns: vec!["layout", "contiguous()", "elementwise", "sum"],
            rows: rows.iter().map(cells).collect(),
        },
    }
}

fn group(row: &Row) -> Group {
    let bar = |class, label, pass: &Pass| {
        let text = match pass.break_even {
            _ if row.contiguous => "already contiguous".to_owned(),
            None => "never: the view is as fast".to_owned(),
            Some(1) => "1 pass".to_owned(),
            Some(passes) => format!("{passes} passes"),
        };
        Bar { class, label, value: pass.break_even.map(|passes| passes as f64), text }
    };
    let bars =
        vec![bar("elementwise", "elementwise", &row.elementwise), bar("sum", "sum", &row.sum)];
    Group { name: row.name.clone(), bars }
}

fn cells(row: &Row) -> Vec<Cell> {
    let passes = |pass: &Pass| match pass.break_even {
        _ if row.contiguous => Cell::Nothing,
        None => Cell::text("never"),
        Some(passes) => Cell::Count(passes),
    };
    vec![
        Cell::text(&row.name),
        Cell::Time(row.allocating_copy_ns),
        passes(&row.elementwise),
        passes(&row.sum),
    ]
}
