//! The figures of a population as tables.

use super::summary::{Class, SLOWEST, Slowest, Summary, by_speedup};
use crate::{
    output::render::{Column, WIDTH, bytes, fitted_table, percent, table, tuple, wrap},
    suite::{self, Case, Row, SizeClass},
};

/// The tables of a summary, and the slowest of the cases that it is of.
pub fn render(summary: &Summary, rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.threads == summary.threads).collect();
    let what = rows.first().map_or("efficiency", |row| row.score_name());
    let mut text = format!("{}\n\n{}\n", heading(summary, &rows), scores(what, &summary.classes));
    if summary.classes.iter().any(|class| class.bound.is_some()) {
        text.push_str(&format!("Bounds\n\n{}{}\n", bounds(what, &summary.classes), suite::BOUND));
    }
    text.push_str(&format!("Slower by over 5 %, measured twice\n\n{}\n", slower(&summary.classes)));
    if !summary.families.is_empty() {
        text.push_str(&format!("By family\n\n{}\n", families(what, &summary.families)));
    }
    for slowest in &summary.slowest {
        text.push_str(&slowest_cases(slowest, what, &rows));
        text.push_str(&below_bound(&slowest.group, &rows));
    }
    text
}

/// The cases of a size that are furthest below their bound; nothing without bounds.
fn below_bound(group: &str, rows: &[&Row]) -> String {
    let of_group = rows.iter().filter(|row| row.group == group);
    let shares = of_group.filter_map(|row| Some((row.share_of_bound()?, *row)));
    let mut shares: Vec<(f64, &Row)> = shares.collect();
    shares.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if shares.is_empty() {
        return String::new();
    }
    let lines = shares.iter().take(SLOWEST).map(|(share, row)| slow_case(*share, row));
    let lines: String = lines.collect();
    format!("Slowest by share of the bound, {}\n\n{lines}\n", SizeClass::describe(group))
}

/// What the words mean.
pub const LEGEND: &str = "\
5th: the 5th percentile, one case in twenty is below; preallocated results, planning included
% of copy bandwidth: 100 is the speed of the fastest plain copy of the result's bytes
efficiency: percent of the speed on contiguous operands
speedup over the naive loop: nested loops without tiles or SIMD intrinsics, on one thread
";

fn heading(summary: &Summary, rows: &[&Row]) -> String {
    let counted =
        |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let kind = rows.first().map_or("", |row| row.kind());
    let threads = counted(summary.threads, "thread");
    format!("{kind}, {}, {threads}", counted(rows.len(), "case"))
}

fn scores(what: &str, classes: &[Class]) -> String {
    use Column::{Left, Right};
    let score = format!("{}\nmedian", what.replace("copy ", "copy\n"));
    let columns = [
        Left("result"),
        Left("elements"),
        Right("cases"),
        Right(&score),
        Right("5th"),
        Right("worst"),
        Right("speedup\nover naive\nmedian"),
        Right("5th"),
        Right("worst"),
    ];
    let line = |class: &Class| {
        [vec![SizeClass::describe(&class.name), class.elements.to_owned()], figures(class)].concat()
    };
    table(&columns, classes.iter().map(line).collect())
}

/// What the bounds are, and the share of them that the cases reach.
fn bounds(what: &str, classes: &[Class]) -> String {
    use Column::{Left, Right};
    let bound = match what {
        "efficiency" => "bound: % of\ncontiguous speed\nmedian",
        _ => "bound: % of\ncopy bandwidth\nmedian",
    };
    let columns = [
        Left("result"),
        Left("elements"),
        Right("cases"),
        Right(bound),
        Right("5th"),
        Right("worst"),
        Right("share of\nthe bound\nmedian"),
        Right("5th"),
        Right("worst"),
    ];
    let line = |class: &Class| {
        let bound = class.bound?;
        let (score, share) = (bound.score, bound.share);
        let figures = [score, share].map(|of| [of.median, of.fifth_percentile, of.worst]);
        let figures = figures.concat().into_iter().map(percent);
        let names = [SizeClass::describe(&class.name), class.elements.to_owned()];
        Some(names.into_iter().chain([class.cases.to_string()]).chain(figures).collect())
    };
    table(&columns, classes.iter().filter_map(line).collect())
}

/// Cases, score, speedup over the naive loop.
fn figures(class: &Class) -> Vec<String> {
    let (score, speedup) = (class.score, class.naive_speedup);
    let mut cells = vec![class.cases.to_string()];
    cells.extend([score.median, score.fifth_percentile, score.worst].map(percent));
    let speedups = [speedup.median, speedup.fifth_percentile, speedup.worst];
    cells.extend(speedups.map(|factor| format!("{factor:.2}")));
    cells
}

/// A column for each contender of any class.
fn slower(classes: &[Class]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for contender in classes.iter().flat_map(|class| &class.slower_than) {
        if !names.contains(&contender.name.as_str()) {
            names.push(&contender.name);
        }
    }
    let mut columns = vec![Column::Left("result"), Column::Left("elements")];
    let heads = names.iter().map(|name| name.replace('-', "-\n").replace(' ', "\n"));
    let heads: Vec<String> = heads.collect();
    columns.extend(heads.iter().map(|head| Column::Right(head)));
    let line = |class: &Class| {
        let counts = names.iter().map(|name| count(class, name));
        [SizeClass::describe(&class.name), class.elements.to_owned()]
            .into_iter()
            .chain(counts)
            .collect()
    };
    fitted_table(&columns, classes.iter().map(line).collect())
}

fn count(class: &Class, name: &str) -> String {
    let found = class.slower_than.iter().find(|contender| contender.name == name);
    found.map_or_else(|| "–".to_owned(), |found| format!("{} of {}", found.cases, found.of))
}

fn families(what: &str, families: &[Class]) -> String {
    use Column::{Left, Right};
    let score = format!("{}\nmedian", what.replace("copy ", "copy\n"));
    let columns = [
        Left("family"),
        Right("cases"),
        Right(&score),
        Right("5th"),
        Right("worst"),
        Right("speedup\nover naive\nmedian"),
        Right("5th"),
        Right("worst"),
    ];
    let line = |class: &Class| [vec![class.name.clone()], figures(class)].concat();
    table(&columns, families.iter().map(line).collect())
}

/// The slowest cases of a size with their layouts, as chains that `explain` reads.
fn slowest_cases(slowest: &Slowest, what: &str, rows: &[&Row]) -> String {
    let of_id = |id: &String| rows.iter().find(|row| row.group == slowest.group && row.id == *id);
    let cases: Vec<&&Row> = slowest.ids.iter().filter_map(of_id).collect();
    let speedup = cases.first().is_some_and(|row| by_speedup(row));
    let by = if speedup { "speedup over the naive loop" } else { what };
    let lines: String = cases.iter().map(|row| slow_case(row.score(), row)).collect();
    format!("Slowest by {by}, {}\n\n{lines}\n", SizeClass::describe(&slowest.group))
}

/// A case in a line of figures, the given one first, and a line for each operand.
fn slow_case(figure: f64, row: &Row) -> String {
    let case = row.case.as_ref().and_then(|case| suite::parse(case).ok());
    let facts = [
        row.id.clone(),
        work(row, case.as_ref()),
        bytes(u128::from(row.bytes)),
        format!("{:.2} × the naive loop", row.naive_speedup()),
        row.path.clone(),
    ];
    let layouts = case.iter().flat_map(|case| &case.operands).map(|operand| {
        let lines = wrap(&operand.notation(), WIDTH - 8).join("\n          ");
        format!("        {lines}\n")
    });
    let layouts = layouts.collect::<String>();
    format!("{:>6}  {}\n{layouts}", percent(figure), facts.join("  "))
}

/// The operation and its element type: `copy of f32`, `sum of u8 over (0, 2)`.
fn work(row: &Row, case: Option<&Case>) -> String {
    match case {
        Some(Case { dims, operands, .. }) if !dims.is_empty() => {
            format!("{} of {} over {}", row.op, operands[0].dtype, tuple(dims))
        }
        _ => format!("{} of {}", row.op, row.dtype),
    }
}
