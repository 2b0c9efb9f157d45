//! A suite in one line for each group and number of threads: percent of copy bandwidth or
//! efficiency, and speedup over other libraries.

use super::{Row, group_stats::GroupStats, peers::ResultMemory, text::groups};
use crate::output::render::{Column, fold, percent, table};

/// One table for each kind of work, as far as there are such rows.
pub fn render(rows: &[Row]) -> String {
    let groups = groups(rows);
    let of = |(name, title): (&str, &str)| {
        let rows: Vec<_> = groups.iter().filter(|group| group[0].kind() == name).collect();
        if rows.is_empty() { String::new() } else { format!("{title}\n\n{}\n", kind(&rows)) }
    };
    let tables: String = TITLES.into_iter().map(of).collect();
    let peers = rows.iter().any(|row| !row.peers.is_empty());
    tables + MEANS + if peers { PEERS } else { "" }
}

/// The kinds of work.
const TITLES: [(&str, &str); 3] = [
    ("copy", "Copies: percent of copy bandwidth"),
    ("elementwise", "Elementwise: efficiency, percent of the speed on contiguous operands"),
    ("reduction", "Reductions: efficiency, percent of the speed of the best contiguous order"),
];

const MEANS: &str = "\
copy bandwidth: the fastest plain copy of the same bytes, on as many threads
means are geometric
";

const PEERS: &str = "\
preallocated (out=), allocating: speedup over the fastest other library, on one thread
";

fn kind(groups: &[&Vec<&Row>]) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("group"),
        Right("cases"),
        Right("threads"),
        Right("mean"),
        Right("worst"),
        Left(""),
        Right("pre-\nallocated"),
        Right("worst"),
        Left(""),
        Right("allocating"),
    ];
    let peers = groups.iter().any(|group| group.iter().any(|row| !row.peers.is_empty()));
    let shown = if peers { columns.len() } else { 6 };
    let lines = groups.iter().map(|group| line(group)).map(|mut line| {
        line.truncate(shown);
        line
    });
    table(&columns[..shown], lines.collect())
}

fn line(rows: &[&Row]) -> Vec<String> {
    let score = GroupStats::of(rows, |row| Some(row.score()));
    let [preallocated, allocating] = [ResultMemory::Preallocated, ResultMemory::Allocating]
        .map(|memory| GroupStats::of(rows, |row| memory.speedup(row)));
    let figure = |stats: Option<GroupStats<'_>>, of: fn(&GroupStats<'_>) -> String| {
        stats.as_ref().map_or_else(String::new, of)
    };
    vec![
        fold(&rows[0].group, 9),
        rows.len().to_string(),
        rows[0].threads.to_string(),
        figure(score, |s| percent(s.mean)),
        figure(score, |s| percent(s.worst)),
        figure(score, |s| s.folded_case(14)),
        figure(preallocated, |s| format!("{:.2}", s.mean)),
        figure(preallocated, |s| format!("{:.2}", s.worst)),
        figure(preallocated, |s| s.folded_case(14)),
        figure(allocating, |s| format!("{:.2}", s.mean)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{
        super::{PeerTimes, tests::row},
        *,
    };

    #[test]
    fn every_group_has_a_line_for_each_number_of_threads() {
        let peer = PeerTimes {
            name: "ndarray".to_owned(),
            preallocated_ns: Some(300.0),
            allocating_ns: Some(500.0),
        };
        let beside = Row { peers: vec![peer], ..row("beside") };
        let slow = Row { preallocated_ns: 160.0, ..row("slow") };
        let two = Row { threads: 2, ..row("beside") };
        let sum = Row { contiguous_ns: Some(50.0), op: "add".to_owned(), ..row("sum") };
        let text = render(&[beside, slow, two, sum]);
        let expected = "\
Copies: percent of copy bandwidth

                                                 pre-
group  cases  threads  mean  worst          allocated  worst          allocating
g          2        1  63 %   50 %  slow         3.00   3.00  beside        2.50
g          1        2  80 %   80 %  beside

Elementwise: efficiency, percent of the speed on contiguous operands

group  cases  threads  mean  worst
g          1        1  50 %   50 %  sum

";
        assert_eq!(text, expected.to_owned() + MEANS + PEERS);
    }
}
