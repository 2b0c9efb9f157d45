//! Ourselves beside other libraries: one table for each kind of work and group of cases.

use super::{
    Row,
    group_stats::GroupStats,
    text::{groups, heading},
};
use crate::output::render::{Column, bandwidth, cut, table};

/// Results of at most this many bytes are a matter of nanoseconds a call; larger ones of bandwidth.
const SMALL_RESULT_BYTES: u64 = 64 << 10;

/// The tables of all rows that have peers; nothing where none has.
pub fn render(rows: &[Row]) -> String {
    let rows: Vec<Row> = rows.iter().filter(|row| !row.peers.is_empty()).cloned().collect();
    let mut text = String::new();
    for group in groups(&rows) {
        let group = Group::new(group);
        text.push_str(&format!("{}, {}\n\n", heading(group.rows[0]), group.unit()));
        text.push_str(&group.table());
        text.push_str(&group.summary());
        text.push('\n');
    }
    if !text.is_empty() {
        text.push_str(LEGEND);
    }
    text
}

const LEGEND: &str = "\
preallocated: result there already; allocating: a new result each time; –: not in the library
ratio: how many times as fast as the fastest other library
";

/// Do we write to memory that is there, or make the result?
#[derive(Clone, Copy)]
pub(super) enum ResultMemory {
    Preallocated,
    Allocating,
}

impl ResultMemory {
    fn name(self) -> &'static str {
        match self {
            ResultMemory::Preallocated => "preallocated",
            ResultMemory::Allocating => "allocating",
        }
    }

    fn own(self, row: &Row) -> f64 {
        match self {
            ResultMemory::Preallocated => row.preallocated_ns,
            ResultMemory::Allocating => row.allocating_ns,
        }
    }

    fn peer(self, row: &Row, name: &str) -> Option<f64> {
        let peer = row.peers.iter().find(|peer| peer.name == name)?;
        match self {
            ResultMemory::Preallocated => peer.preallocated_ns,
            ResultMemory::Allocating => peer.allocating_ns,
        }
    }

    /// How many times as fast as the fastest peer.
    pub(super) fn ratio(self, row: &Row) -> Option<f64> {
        let peers = row.peers.iter().filter_map(|peer| self.peer(row, &peer.name));
        Some(peers.min_by(f64::total_cmp)? / self.own(row))
    }
}

/// Rows that make one table.
struct Group<'a> {
    rows: Vec<&'a Row>,
    /// The ways that have a peer at all, and their peers.
    ways: Vec<(ResultMemory, Vec<&'a str>)>,
    small: bool,
}

impl<'a> Group<'a> {
    fn new(rows: Vec<&'a Row>) -> Self {
        let ways = [ResultMemory::Preallocated, ResultMemory::Allocating]
            .map(|way| (way, peers(&rows, way)));
        let ways = ways.into_iter().filter(|(_, peers)| !peers.is_empty()).collect();
        let small = rows.iter().all(|row| row.bytes <= SMALL_RESULT_BYTES);
        Group { rows, ways, small }
    }

    fn unit(&self) -> &'static str {
        if self.small { "ns" } else { "GB/s" }
    }

    fn table(&self) -> String {
        let mut heads = Vec::new();
        for (way, peers) in &self.ways {
            heads.push(format!("{}\nours", way.name()));
            heads.extend(peers.iter().map(|name| two_lines(name)));
            heads.push("\nratio".to_owned());
        }
        let figures = heads.iter().map(|head| Column::Right(head));
        let columns: Vec<_> = [Column::Left("case")].into_iter().chain(figures).collect();
        table(&columns, self.rows.iter().map(|row| self.cells(row)).collect())
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let width = if self.ways.len() > 1 { 18 } else { 25 };
        let mut cells = vec![cut(&row.id, width)];
        for (way, peers) in &self.ways {
            cells.push(self.figure(row, Some(way.own(row))));
            cells.extend(peers.iter().map(|name| self.figure(row, way.peer(row, name))));
            cells.push(way.ratio(row).map_or_else(missing, |ratio| format!("{ratio:.2}")));
        }
        cells
    }

    fn figure(&self, row: &Row, ns: Option<f64>) -> String {
        match ns {
            None => missing(),
            Some(ns) if self.small => format!("{ns:.0}"),
            Some(ns) => bandwidth(row.bytes, ns),
        }
    }

    fn summary(&self) -> String {
        self.ways.iter().map(|(way, _)| self.summary_of(*way)).collect()
    }

    fn summary_of(&self, way: ResultMemory) -> String {
        let Some(stats) = GroupStats::of(&self.rows, |row| way.ratio(row)) else {
            return String::new();
        };
        let (way, GroupStats { mean, worst, .. }) = (way.name(), stats);
        let name = stats.case(25);
        format!("ratio, {way}: geometric mean {mean:.2}, worst {worst:.2} ({name})\n")
    }
}

fn missing() -> String {
    "–".to_owned()
}

/// The names of all peers that have a figure, in the order of the rows.
fn peers<'a>(rows: &[&'a Row], way: ResultMemory) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        let able = row.peers.iter().filter(|peer| way.peer(row, &peer.name).is_some());
        for peer in able {
            if !names.contains(&peer.name.as_str()) {
                names.push(&peer.name);
            }
        }
    }
    names
}

/// A name as the head of a narrow column.
fn two_lines(name: &str) -> String {
    match name.split_once('-') {
        Some((first, second)) => format!("{first}-\n{second}"),
        None if name.len() > 8 => {
            format!("{}-\n{}", &name[..name.len() / 2], &name[name.len() / 2..])
        }
        None => format!("\n{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{PeerTimes, tests::row},
        *,
    };

    fn peer(name: &str, preallocated_ns: f64, allocating_ns: Option<f64>) -> PeerTimes {
        PeerTimes { name: name.to_owned(), preallocated_ns: Some(preallocated_ns), allocating_ns }
    }

    #[test]
    fn the_ratio_is_to_the_fastest_peer() {
        let peers = vec![peer("ndarray", 20.0, Some(30.0)), peer("strided-perm", 15.0, None)];
        let rows = [
            Row { preallocated_ns: 10.0, allocating_ns: 60.0, peers, ..row("transposed") },
            row("alone"),
        ];
        let expected = "\
copy, g, 1 thread, ns

case    preallocated           strided-         allocating
        ours  ndarray      perm  ratio   ours  ndarray  ratio
transposed    10       20        15   1.50     60       30   0.50
ratio, preallocated: geometric mean 1.50, worst 1.50 (transposed)
ratio, allocating: geometric mean 0.50, worst 0.50 (transposed)

";
        assert_eq!(render(&rows), expected.to_owned() + LEGEND);
    }

    #[test]
    fn what_a_library_cannot_do_is_a_dash() {
        let able = Row { peers: vec![peer("transpose", 20.0, None)], ..row("able") };
        let cannot = PeerTimes { preallocated_ns: None, ..peer("transpose", 0.0, None) };
        let unable =
            Row { peers: vec![cannot], bytes: 1 << 30, preallocated_ns: 1e9, ..row("unable") };
        let text = render(&[able, unable]);
        assert!(text.contains("\nunable   1.1      –      –\n"), "{text}");
    }

    #[test]
    fn without_peers_there_is_no_table() {
        assert_eq!(render(&[row("a")]), "");
    }
}
