//! The cache lines that loops touch, and how many of them have to be fetched again.
//!
//! A cache keeps what the innermost loops touch, up to the loop at which its capacity is exceeded;
//! each iteration of the loops around fetches all of that again. This is the classical model of
//! capacity misses of a loop nest. Conflict misses are modelled by the part of the cache's sets in
//! which an operand's lines lie: rows 4096 bytes apart all lie in the same few.
//!
//! All strides are in bytes.

use smallvec::SmallVec;

use crate::{memory::CACHE_LINE, nest::Loop};

/// A cache: its size, and the bytes of one way, after which addresses share a set again. 0 for a
/// cache whose sets are not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    pub(super) size: usize,
    pub(super) way: usize,
}

/// The part of a cache that a copy can use; the rest holds tables, stacks and what the hardware
/// prefetches.
pub(super) const USABLE: f64 = 0.75;

/// The longest gap that holds no whole line wherever it starts: every line of an extent with such
/// gaps is touched.
const LINE_GAP: usize = CACHE_LINE - 1;

/// Loops that move one operand: stride and length, in ascending order of strides.
#[derive(Clone, Debug, Default)]
struct Moves(SmallVec<[(usize, usize); 16]>);

impl Moves {
    fn of(loops: &[Loop<2>], operand: usize) -> Self {
        let mut moves = Self::default();
        loops.iter().for_each(|l| {
            moves.add(l, operand);
        });
        moves
    }

    /// Adds a loop, and returns where; `None` if it does not move the operand.
    fn add(&mut self, l: &Loop<2>, operand: usize) -> Option<usize> {
        let stride = l.strides[operand].unsigned_abs();
        if stride == 0 || l.len <= 1 {
            return None;
        }
        let at = self.0.iter().rposition(|&(other, _)| other <= stride).map_or(0, |at| at + 1);
        self.0.insert(at, (stride, l.len));
        Some(at)
    }
}

/// Joins the loops that touch one extent, with gaps of at most `gap` bytes in it. Returns the bytes
/// of that extent, and how many of the loops have been joined.
fn join(Moves(moves): &Moves, unit: usize, gap: usize) -> (usize, usize) {
    let mut extent = unit;
    for (at, &(stride, len)) in moves.iter().enumerate() {
        if stride > extent.saturating_add(gap) {
            return (extent, at);
        }
        extent = extent.saturating_add(stride.saturating_mul(len - 1));
    }
    (extent, moves.len())
}

/// The lines of an operand that some loops touch: on average over all offsets in a line, or exactly
/// if all runs start and end at lines.
pub(super) fn lines(loops: &[Loop<2>], operand: usize, unit: usize) -> f64 {
    lines_of(&Moves::of(loops, operand), unit)
}

fn lines_of(moves: &Moves, unit: usize) -> f64 {
    let runs = RunsOfMoves::of(moves, unit);
    runs.lines(unit, runs.are_aligned)
}

/// The runs of bytes that loops touch, which gaps of less than a line do not end.
struct RunsOfMoves {
    count: f64,
    bytes: usize,
    /// Do all of them start and end at lines, if the first one starts at one?
    are_aligned: bool,
}

impl RunsOfMoves {
    fn of(moves: &Moves, unit: usize) -> Self {
        let (bytes, joined) = join(moves, unit, LINE_GAP);
        let rest = &moves.0[joined..];
        let whole = |bytes: usize| bytes.is_multiple_of(CACHE_LINE);
        let are_aligned = whole(bytes) && rest.iter().all(|&(stride, _)| whole(stride));
        Self { count: rest.iter().map(|&(_, len)| len as f64).product(), bytes, are_aligned }
    }

    /// Their lines: exactly if they are aligned, else on average over all offsets in a line.
    fn lines(&self, unit: usize, are_aligned: bool) -> f64 {
        let partial = if are_aligned { 0 } else { CACHE_LINE - unit };
        self.count * (self.bytes + partial) as f64 / CACHE_LINE as f64
    }
}

/// The adjacent bytes of an operand that some loops touch.
pub(super) fn run_bytes(loops: &[Loop<2>], operand: usize, unit: usize) -> usize {
    join(&Moves::of(loops, operand), unit, 0).0
}

/// The bytes of an operand that loops touch one after the other, in the order in which they run,
/// with gaps of less than a line.
pub(super) fn run_in_order(loops: &[Loop<2>], operand: usize, unit: usize) -> usize {
    let mut extent = unit;
    for l in loops {
        let stride = l.strides[operand].unsigned_abs();
        if stride > extent.saturating_add(LINE_GAP) {
            break;
        }
        extent = extent.saturating_add(stride.saturating_mul(l.len - 1));
    }
    extent
}

/// The part of a cache's sets in which an operand's lines lie.
///
/// Runs at a stride that is nearly a divisor of a way return to nearly the same sets after a few
/// iterations: 64 rows 2052 bytes apart lie in two places of a way of 4096 bytes, each 256 bytes
/// longer than a run. `k` such places have room for `k (extent + n / k · drift)` bytes, of which
/// the least over a few `k` counts.
pub(super) fn coverage(loops: &[Loop<2>], operand: usize, unit: usize, way: usize) -> f64 {
    coverage_of(&Moves::of(loops, operand), unit, way)
}

fn coverage_of(moves: &Moves, unit: usize, way: usize) -> f64 {
    if way == 0 {
        return 1.0;
    }
    let (extent, joined) = join(moves, unit, LINE_GAP);
    let mut covered = (extent + CACHE_LINE - unit) as f64;
    for &(stride, len) in &moves.0[joined..] {
        let least = PLACES.into_iter().map(|places| {
            let drift = (places * (stride % way)) % way;
            let drift = drift.min(way - drift);
            let (places, len) = (places.min(len) as f64, len as f64);
            places * (covered + (len / places - 1.0) * drift as f64)
        });
        covered = least.fold(covered * len as f64, f64::min);
    }
    (covered / way as f64).min(1.0)
}

/// The numbers of places in a way that are tried.
const PLACES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The lines of each operand that are fetched into a cache while the loops run, the innermost
/// first; nothing if all that they touch stays in it. `cached` says which operands use the cache.
pub(super) fn fetched(path: &[Loop<2>], unit: usize, cache: Cache, cached: [bool; 2]) -> [f64; 2] {
    let mut kept = [Moves::default(), Moves::default()];
    for (inside, next) in path.iter().enumerate() {
        let added = [0, 1].map(|k| kept[k].add(next, k));
        if fits(&kept, unit, cache, cached) {
            continue;
        }
        // What the loops before this one touch fits. Consecutive iterations of it may share lines.
        let around: f64 = path[inside + 1..].iter().map(|l| l.len as f64).product();
        return [0, 1].map(|k| fetched_by(&mut kept[k], added[k], next.len, unit) * around);
    }
    [0.0; 2]
}

/// The lines that a loop of `len` iterations fetches: the last to be added, at `added`, of which
/// one iteration stays in the cache.
fn fetched_by(moves: &mut Moves, added: Option<usize>, len: usize, unit: usize) -> f64 {
    let Some(at) = added else { return lines_of(moves, unit) };
    moves.0[at].1 = 2;
    let two = RunsOfMoves::of(moves, unit);
    moves.0.remove(at);
    let one = RunsOfMoves::of(moves, unit);
    // Two halves of a line are not fewer lines than one half.
    let are_aligned = one.are_aligned && two.are_aligned;
    let [once, twice] = [one, two].map(|runs| runs.lines(unit, are_aligned));
    once + (twice - once).max(0.0) * (len - 1) as f64
}

/// Do the lines that some loops touch stay in a cache?
fn fits(moves: &[Moves; 2], unit: usize, cache: Cache, cached: [bool; 2]) -> bool {
    let capacity = cache.size as f64 * USABLE / CACHE_LINE as f64;
    let lines = [0, 1].map(|k| if cached[k] { lines_of(&moves[k], unit) } else { 0.0 });
    let used = lines[0] + lines[1];
    if used > capacity || used * MAX_CONFLICTS <= capacity {
        return used <= capacity;
    }
    let needed = |k: usize| lines[k] / coverage_of(&moves[k], unit, cache.way);
    needed(0) + needed(1) <= capacity
}

/// Lines that need less than this part of a cache fit it, whatever sets they share.
const MAX_CONFLICTS: f64 = 32.0;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The lines that loops touch, one element at a time, with the first element at `start`.
    fn count(loops: &[Loop<2>], operand: usize, unit: usize, start: usize) -> usize {
        let mut offsets = vec![1 << 40 | start];
        for l in loops {
            let at = |&offset: &usize| {
                (0..l.len).map(move |i| offset.wrapping_add_signed(i as isize * l.strides[operand]))
            };
            offsets = offsets.iter().flat_map(at).collect();
        }
        let lines = |offset: usize| offset / CACHE_LINE..=(offset + unit - 1) / CACHE_LINE;
        offsets.into_iter().flat_map(lines).collect::<BTreeSet<_>>().len()
    }

    fn loops(of: &[(usize, isize)]) -> Vec<Loop<2>> {
        of.iter().map(|&(len, stride)| Loop { len, strides: [stride, 0] }).collect()
    }

    /// The average over all starts of elements that are aligned.
    fn average(loops: &[Loop<2>], unit: usize) -> f64 {
        let starts = (0..CACHE_LINE).step_by(unit);
        let all: usize = starts.clone().map(|start| count(loops, 0, unit, start)).sum();
        all as f64 / starts.count() as f64
    }

    #[test]
    fn lines_counted_are_lines_touched() {
        for (unit, of) in [
            (4, vec![(100, 4)]),
            (4, vec![(16, 4), (20, 400)]),
            (4, vec![(10, 4), (30, 260)]),
            (4, vec![(25, 36), (9, 4000)]),
            (8, vec![(3, 8), (5, 24), (7, 1000)]),
            (1, vec![(50, -1), (40, 333)]),
            (2, vec![(40, 500), (9, 2)]),
        ] {
            let loops = loops(&of);
            let (counted, touched) = (lines(&loops, 0, unit), average(&loops, unit));
            assert!((counted / touched - 1.0).abs() < 0.05, "{of:?}: {counted}, {touched}");
        }
    }

    #[test]
    fn aligned_rows_have_no_partial_lines() {
        let loops = loops(&[(32, 4), (10, 512)]);
        assert_eq!(lines(&loops, 0, 4), count(&loops, 0, 4, 0) as f64);
    }

    #[test]
    fn runs_are_adjacent() {
        let nest = loops(&[(10, 100), (25, 4), (3, 5000)]);
        assert_eq!(run_bytes(&nest, 0, 4), 1000, "in any order");
        assert_eq!(run_in_order(&nest, 0, 4), 4, "in the order in which they run");
    }

    #[test]
    fn rows_a_way_apart_cover_few_sets() {
        let covered = |stride| coverage(&loops(&[(64, 4), (64, stride)]), 0, 4, 4096);
        assert!(covered(4096) < 0.1, "all in the same place");
        assert!(covered(2052) < 0.7, "in two places that drift");
        assert_eq!(covered(2000), 1.0, "everywhere");
    }

    #[test]
    fn rows_of_half_a_line_are_fetched_like_longer_rows() {
        let fetched = |row: usize| {
            let nest = loops(&[(row, 4), (16_000 / row, 4 * row as isize)]);
            fetched(&nest, 4, Cache { size: 8 << 10, way: 0 }, [true, false])[0]
        };
        for row in [4, 5, 8, 16, 20, 32] {
            assert!((1000.0..1005.0).contains(&fetched(row)), "{row}: {}", fetched(row));
        }
    }

    #[test]
    fn lines_are_fetched_again_if_what_is_between_does_not_fit() {
        let nest = loops(&[(64, 4), (64, 256), (10, 0)]);
        let lines_of_array = lines(&nest, 0, 4);
        let cached = |size| fetched(&nest, 4, Cache { size, way: 0 }, [true, false])[0];
        assert_eq!(cached(64 << 10), 0.0, "all of it stays");
        assert_eq!(cached(8 << 10), 10.0 * lines_of_array, "nothing stays");
    }
}
