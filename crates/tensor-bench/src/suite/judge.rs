//! Who is faster than this library, measured twice: what is longer by chance is not so twice.

use super::{Against, Case, Row, measure};
use crate::{Result, measure::setting::Setting};

/// A contender that is faster by no more than this is as fast.
const MARGIN: f64 = 1.05;

/// The name of the naive loop among those that were faster.
pub const NAIVE: &str = "naive loop";

/// Measures a case. Where the naive loop or a library was faster, it is measured again with more
/// samples; the second figures count, [`Row::slower_than`] has those that were faster by over 5 %
/// in both, and [`Row::slower_than_naive`] says whether the naive loop was in both.
///
/// # Errors
/// Those of [`measure()`].
pub fn judged(setting: &Setting, case: &Case, against: Against) -> Result<Row> {
    let first = measure(setting, case, against)?;
    if !first.slower_than_naive && faster(&first).is_empty() {
        return Ok(first);
    }
    let again = Setting { budget: setting.budget.larger(), ..*setting };
    Ok(of_both(&first, measure(&again, case, against)?))
}

/// The second figures, with those who were faster in both.
fn of_both(first: &Row, second: Row) -> Row {
    let (mut names, again) = (faster(first), faster(&second));
    names.retain(|name| again.contains(name));
    let slower_than_naive = first.slower_than_naive && second.slower_than_naive;
    Row { slower_than: Some(names), slower_than_naive, ..second }
}

/// The contenders that are faster by more than the margin, with preallocated results.
fn faster(row: &Row) -> Vec<String> {
    let peers =
        row.peers.iter().filter_map(|peer| Some((peer.name.as_str(), peer.preallocated_ns?)));
    let all = [(NAIVE, row.naive_ns)].into_iter().chain(peers);
    let faster = all.filter(|(_, ns)| row.preallocated_ns > ns * MARGIN);
    faster.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{PeerTimes, tests::row},
        *,
    };

    fn beside(naive_ns: f64, peer_ns: f64) -> Row {
        let peer =
            PeerTimes { name: "peer".into(), preallocated_ns: Some(peer_ns), allocating_ns: None };
        let cannot = PeerTimes { name: "none".into(), preallocated_ns: None, allocating_ns: None };
        Row { preallocated_ns: 100.0, naive_ns, peers: vec![peer, cannot], ..row("a") }
    }

    #[test]
    fn faster_is_faster_by_more_than_five_percent() {
        assert_eq!(faster(&beside(96.0, 100.0)), [""; 0]);
        assert_eq!(faster(&beside(95.0, 200.0)), [NAIVE]);
        assert_eq!(faster(&beside(90.0, 50.0)), [NAIVE, "peer"]);
    }

    #[test]
    fn who_was_faster_once_was_not_faster() {
        let first = beside(90.0, 50.0);
        let slower_than = |second| of_both(&first, second).slower_than.unwrap();
        assert_eq!(slower_than(beside(100.0, 50.0)), ["peer"]);
        assert_eq!(slower_than(beside(100.0, 100.0)), [""; 0]);
        let naive = |slower_than_naive| Row { slower_than_naive, ..beside(90.0, 100.0) };
        for (first, second) in [(true, true), (true, false), (false, true)] {
            let row = of_both(&naive(first), naive(second));
            assert_eq!(row.slower_than_naive, first && second);
        }
    }
}
