//! This library beside other libraries: a table for each kind of work, group of cases and memory of
//! the result.

use super::{
    Row,
    group_stats::GroupStats,
    text::{groups, heading},
};
use crate::output::render::{Column, LONGEST_NAME, bandwidth, cut, fitted_table};

/// Figures of results of at most this many bytes are nanoseconds; those of larger ones, bandwidth.
const SMALL_RESULT_BYTES: u64 = 64 << 10;

/// The tables of all rows that have peers; nothing where none has.
pub fn render(rows: &[Row]) -> String {
    let rows: Vec<Row> = rows.iter().filter(|row| !row.peers.is_empty()).cloned().collect();
    let mut text = String::new();
    for group in groups(&rows) {
        for memory in [ResultMemory::Preallocated, ResultMemory::Allocating] {
            text.push_str(&Group::new(&group, memory).render());
        }
    }
    if !text.is_empty() {
        text.push_str(LEGEND);
    }
    text
}

const LEGEND: &str = "\
preallocated: the result is given (out=); allocating: a new result each time
speedup: over the fastest other library; –: not in the library
";

/// Whether the result is written to memory that exists, or allocated.
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

    /// The speedup over the fastest peer.
    pub(super) fn speedup(self, row: &Row) -> Option<f64> {
        let peers = row.peers.iter().filter_map(|peer| self.peer(row, &peer.name));
        Some(peers.min_by(f64::total_cmp)? / self.own(row))
    }
}

/// The rows of one table, and the peers that have a figure in it.
struct Group<'a> {
    rows: &'a [&'a Row],
    memory: ResultMemory,
    peers: Vec<&'a str>,
    small: bool,
}

impl<'a> Group<'a> {
    fn new(rows: &'a [&'a Row], memory: ResultMemory) -> Self {
        let small = rows.iter().all(|row| row.bytes <= SMALL_RESULT_BYTES);
        Group { rows, memory, peers: peers(rows, memory), small }
    }

    /// The table with its heading and summary; nothing if no peer has a figure.
    fn render(&self) -> String {
        if self.peers.is_empty() {
            return String::new();
        }
        let (heading, memory) = (heading(self.rows[0]), self.memory.name());
        let unit = if self.small { "ns" } else { "GB/s" };
        format!("{heading}, {memory}, {unit}\n\n{}{}\n", self.table(), self.summary())
    }

    fn table(&self) -> String {
        use Column::{Left, Right};
        let mut columns = vec![Left("case"), Right("this library")];
        columns.extend(self.peers.iter().map(|name| Right(name)));
        columns.push(Right("speedup"));
        fitted_table(&columns, self.rows.iter().map(|row| self.cells(row)).collect())
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let mut cells =
            vec![cut(&row.id, LONGEST_NAME), self.figure(row, Some(self.memory.own(row)))];
        let peers = self.peers.iter().map(|name| self.figure(row, self.memory.peer(row, name)));
        cells.extend(peers);
        let speedup = self.memory.speedup(row);
        cells.push(speedup.map_or_else(missing, |speedup| format!("{speedup:.2}")));
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
        let Some(stats) = GroupStats::of(self.rows, |row| self.memory.speedup(row)) else {
            return String::new();
        };
        let GroupStats { mean, worst, .. } = stats;
        let worst_case = stats.case();
        format!("speedup: geometric mean {mean:.2}, worst {worst:.2} ({worst_case})\n")
    }
}

fn missing() -> String {
    "–".to_owned()
}

/// The names of all peers that have a figure, in the order of the rows.
fn peers<'a>(rows: &[&'a Row], memory: ResultMemory) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        let able = row.peers.iter().filter(|peer| memory.peer(row, &peer.name).is_some());
        for peer in able {
            if !names.contains(&peer.name.as_str()) {
                names.push(&peer.name);
            }
        }
    }
    names
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
    fn the_speedup_is_over_the_fastest_peer() {
        let peers = vec![peer("ndarray", 20.0, Some(30.0)), peer("strided-perm", 15.0, None)];
        let rows = [
            Row { preallocated_ns: 10.0, allocating_ns: 60.0, peers, ..row("transposed") },
            row("alone"),
        ];
        let expected = "\
copy, g, 1 thread, preallocated, ns

case        this library  ndarray  strided-perm  speedup
transposed            10       20            15     1.50
speedup: geometric mean 1.50, worst 1.50 (transposed)

copy, g, 1 thread, allocating, ns

case        this library  ndarray  speedup
transposed            60       30     0.50
speedup: geometric mean 0.50, worst 0.50 (transposed)

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
        assert!(text.contains("\nunable           1.1          –        –\n"), "{text}");
    }

    #[test]
    fn without_peers_there_is_no_table() {
        assert_eq!(render(&[row("a")]), "");
    }
}
