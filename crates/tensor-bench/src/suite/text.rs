//! The figures of a suite as tables: one for each kind of work, group and number of threads, with
//! the mean and the worst of the group.

use super::{Row, group_stats::GroupStats};
use crate::output::render::{
    Column, LONGEST_NAME, WIDTH, bandwidth, bytes, cut, fitted_table, percent, time, wrap,
};

/// All tables, in the order of the rows.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::new();
    for group in groups(rows) {
        let copies = group[0].is_copy();
        text.push_str(&format!("{}\n\n", heading(group[0])));
        text.push_str(&group_table(&group, copies));
        text.push_str(&summary(&group, copies));
        text.push('\n');
    }
    text.push_str(LEGEND);
    text
}

const LEGEND: &str = "\
preallocated (out=): planning included; GB/s: of this time; allocating: a new result each time
naive loop: preallocated, nested loops without tiles or SIMD intrinsics, on one thread
copy bandwidth: the fastest plain copy of the result's bytes, on as many threads
efficiency: percent of the speed on contiguous operands
";

/// What the rows of a table have in common.
pub(super) fn heading(row: &Row) -> String {
    let (kind, s) = (row.kind(), if row.threads == 1 { "" } else { "s" });
    format!("{kind}, {}, {} thread{s}", cut(&row.group, 40), row.threads)
}

/// Rows of one group, kind of work and number of threads, in the order of the first of each.
pub(crate) fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Vec<&'a Row>> {
    let key = |row: &Row| (row.threads, row.kind(), row.group.clone());
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn group_table(rows: &[&Row], copies: bool) -> String {
    use Column::{Left, Right};
    let (compared, score) = match copies {
        true => ("plain\ncopy", "% of\nband-\nwidth"),
        false => ("contig-\nuous", "effi-\nciency"),
    };
    let columns = [
        Left("case"),
        Left("dtype"),
        Right("bytes"),
        Right("preallo-\ncated"),
        Right("GB/s"),
        Right("allo-\ncating"),
        Right("naive\nloop"),
        Right(compared),
        Right(score),
        Left("path"),
    ];
    fitted_table(&columns, rows.iter().map(|row| cells(row)).collect())
}

fn cells(row: &Row) -> Vec<String> {
    vec![
        cut(&row.id, LONGEST_NAME),
        row.dtype.clone(),
        bytes(u128::from(row.bytes)),
        time(row.preallocated_ns),
        bandwidth(row.bytes, row.preallocated_ns),
        time(row.allocating_ns),
        time(row.naive_ns),
        time(row.contiguous_ns.unwrap_or(row.plain_copy_ns)),
        percent(row.score()),
        row.path.clone(),
    ]
}

fn summary(rows: &[&Row], copies: bool) -> String {
    let Some(stats) = GroupStats::of(rows, |row| Some(row.score())) else {
        return String::new();
    };
    let of = if copies { "% of copy bandwidth" } else { "efficiency" };
    let (mean, worst) = (percent(stats.mean), percent(stats.worst));
    let text = format!("{of}: geometric mean {mean}, worst {worst} ({})", stats.case(60));
    wrap(&text, WIDTH).join("\n") + "\n"
}
