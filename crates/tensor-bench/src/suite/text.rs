//! The figures of a suite as tables: one for each kind of work, group and number of threads, with
//! the mean and the worst of the group.

use super::{Row, group_stats::GroupStats};
use crate::{
    output::render::{
        Column, LONGEST_NAME, WIDTH, bandwidth, bytes, cut, fitted_table, percent, time, wrap,
    },
    population::Quantiles,
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
    if rows.iter().any(|row| row.bound_ns.is_some()) {
        text.push_str(BOUND);
    }
    text
}

/// What the bound is.
pub(crate) const BOUND: &str = "\
bound: the loads and stores that any copy of this layout must do, without moving bytes between
lanes; in percent of the copy bandwidth. Of an elementwise operation: the longest of those of each
input, and of the operation on contiguous operands; in percent of the contiguous speed. Share of
the bound: percent of its speed
";

const LEGEND: &str = "\
preallocated (out=): planning included; GB/s: of this time; allocating: a new result each time
naive loop: preallocated, nested loops without tiles or SIMD intrinsics, on one thread
copy bandwidth: the fastest plain copy of the result's bytes, on as many threads
efficiency: percent of the speed on contiguous operands
";

/// What the rows of a table have in common.
pub(super) fn heading(row: &Row) -> String {
    let (kind, s) = (row.kind(), if row.threads == 1 { "" } else { "s" });
    format!("{kind}, {}, {} thread{s}", cut(&row.group, LONGEST_NAME), row.threads)
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
    let mut columns = columns.to_vec();
    let mut lines: Vec<_> = rows.iter().map(|row| cells(row)).collect();
    if rows.iter().any(|row| row.bound_ns.is_some()) {
        add_bound(&mut columns, &mut lines, rows);
    }
    fitted_table(&columns, lines)
}

/// Adds the bound in front of the path.
fn add_bound(columns: &mut Vec<Column<'_>>, lines: &mut [Vec<String>], rows: &[&Row]) {
    columns.insert(columns.len() - 1, Column::Right("bound"));
    for (line, row) in lines.iter_mut().zip(rows) {
        line.insert(line.len() - 1, row.bound_score().map_or_else(String::new, percent));
    }
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
    let text = format!("{of}: geometric mean {mean}, worst {worst} ({})", stats.case());
    wrap(&text, WIDTH).join("\n") + "\n" + &shares_of_bound(rows)
}

/// What share of their bounds the copies reach; nothing without bounds.
fn shares_of_bound(rows: &[&Row]) -> String {
    let Some(stats) = GroupStats::of(rows, Row::share_of_bound) else { return String::new() };
    let shares = Quantiles::of(rows.iter().filter_map(|row| row.share_of_bound()).collect());
    let [median, fifth, worst] =
        [shares.median, shares.fifth_percentile, shares.worst].map(percent);
    let text = format!(
        "share of the bound: median {median}, 5th percentile {fifth}, worst {worst} ({})",
        stats.case()
    );
    wrap(&text, WIDTH).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use tensor_kernels::CopyPlan;

    use super::{super::summary, super::tests::row, *};

    /// The words of a text without its line breaks and indentation.
    fn joined(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn names_of_cases_groups_and_paths_are_whole() {
        let long = |what: &str| format!("{what}_of_many_parts,_none_of_which_may_be_missing_here");
        for path in CopyPlan::paths() {
            let row = Row {
                group: long("group"),
                path: path.to_owned(),
                dtype: "bf16".to_owned(),
                bound_ns: Some(64.0),
                ..row(&long("case"))
            };
            let text = render(std::slice::from_ref(&row));
            assert!(text.contains(&format!(" {path}\n")), "{path}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{path}: {text}");
            assert!(joined(&text).contains(&format!("worst80%({})", row.id)), "{text}");
            assert!(joined(&text).contains("shareofthebound:median64%,5thpercentile64%"), "{text}");
            assert!(joined(&text).contains("80%125%"), "a bound beside the score: {text}");
            let summary = summary::render(&[row]);
            let first = |line: &str| line.chars().take(9).collect::<String>();
            let groups: String = summary.lines().skip(3).map(first).collect();
            assert!(joined(&groups).starts_with(&long("group")), "{summary}");
        }
    }
}
