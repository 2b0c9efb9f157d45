//! What a suite has shown, in a line for each group and number of threads: how near to the roof, or to contiguous speed, and how far from others.

use super::{Row, peers::Way, standing::Standing, text::groups};
use crate::render::{Column, cut, percent, table};

/// One table for copies and one for elementwise work, as far as there are such rows.
pub fn render(rows: &[Row]) -> String {
    let groups = groups(rows);
    let of = |copies: bool, title: &str| {
        let rows: Vec<_> = groups.iter().filter(|group| group[0].is_copy() == copies).collect();
        if rows.is_empty() { String::new() } else { format!("{title}\n\n{}\n", kind(&rows)) }
    };
    let tables = of(true, "Copies: share of the roof")
        + &of(false, "Elementwise: share of the speed on contiguous operands");
    let peers = rows.iter().any(|row| !row.peers.is_empty());
    tables + ROOF + if peers { PEERS } else { "" }
}

const ROOF: &str = "\
roof: the fastest plain copy of as many bytes, on as many threads; means are geometric
";

const PEERS: &str = "\
into, fresh: how many times as fast as the fastest other library on one thread, into a result that
is there already and into a new one
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
        Right("into"),
        Right("worst"),
        Left(""),
        Right("fresh"),
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
    let score = Standing::of(rows, |row| Some(row.score()));
    let [into, fresh] = [Way::Into, Way::Fresh].map(|way| Standing::of(rows, |r| way.ratio(r)));
    let figure = |standing: Option<Standing<'_>>, of: fn(&Standing<'_>) -> String| {
        standing.as_ref().map_or_else(String::new, of)
    };
    vec![
        cut(&rows[0].group, 12),
        rows.len().to_string(),
        rows[0].threads.to_string(),
        figure(score, |s| percent(s.mean)),
        figure(score, |s| percent(s.worst)),
        figure(score, |s| s.case(16)),
        figure(into, |s| format!("{:.2}", s.mean)),
        figure(into, |s| format!("{:.2}", s.worst)),
        figure(into, |s| s.case(16)),
        figure(fresh, |s| format!("{:.2}", s.mean)),
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
        let peer =
            PeerTimes { name: "ndarray".to_owned(), into_ns: Some(300.0), fresh_ns: Some(500.0) };
        let beside = Row { peers: vec![peer], ..row("beside") };
        let slow = Row { into_ns: 160.0, ..row("slow") };
        let two = Row { threads: 2, ..row("beside") };
        let sum = Row { contiguous_ns: Some(50.0), op: "add".to_owned(), ..row("sum") };
        let text = render(&[beside, slow, two, sum]);
        let expected = "\
Copies: share of the roof

group  cases  threads  mean  worst          into  worst          fresh
g          2        1  63 %   50 %  slow    3.00   3.00  beside   2.50
g          1        2  80 %   80 %  beside

Elementwise: share of the speed on contiguous operands

group  cases  threads  mean  worst
g          1        1  50 %   50 %  sum

";
        assert_eq!(text, expected.to_owned() + ROOF + PEERS);
    }
}
