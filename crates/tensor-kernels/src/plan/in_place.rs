//! Plans permutations of a contiguous array in its own memory, as a sequence of steps.
//!
//! Neighbouring dimensions that stay neighbours are one *group*; what stays last is part of the
//! item. Each step brings the array closer to the requested order:
//!
//! - [`Step::Swap`]: two groups of equal size change places: pairs of tiles are exchanged. One pass
//!   over the memory, without scratch. A square matrix is the simplest case.
//! - [`Step::Staged`]: parts that fit into scratch are copied there in the requested order, and
//!   copied back. One pass.
//! - [`Step::Rotate`]: two neighbouring runs of groups of any size change places: the transpose of
//!   a matrix `m` by `n` that does not fit. See [`Blocks`]. Two to three passes.
//!
//! Any permutation is a sequence of rotations. Of all sequences up to three steps the one with the
//! fewest estimated passes is taken; if there are more than five groups, each step moves the group
//! that belongs to the front.

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

pub(crate) use super::in_place_blocks::{BlockScratch, Blocks, MOVED_BYTES};

/// Scratch for a permutation of `bytes`: 1 percent of them, or this much if that is more.
pub(crate) const MIN_SCRATCH_BYTES: usize = 256 << 10;

/// Copies through scratch take this many bytes at a time, which stay in the second-level cache
/// while they are copied back.
const STAGED_BYTES: usize = 128 << 10;

/// Items of this many bytes are moved one by one, without panels.
const LONG_ITEM_BYTES: usize = 2 << 10;

/// A matrix of at most this many rows or columns needs one kind of panels only.
const MAX_PANEL_SIDE: usize = 64;

/// Steps of a sequence that are searched exhaustively, for up to [`MAX_SEARCHED_GROUPS`].
const MAX_SEARCHED_STEPS: usize = 3;
const MAX_SEARCHED_GROUPS: usize = 5;

/// The passes of the fastest step.
const LEAST_PASSES: f64 = 1.2;

/// The bytes of a square whose exchange takes twice as long as its bytes: a call for each square
/// takes about as long as copying that many. 12,000 squares of 10 by 10 bytes take 620 µs, 1875 of
/// 8 by 8 doubles as much as a plain copy and a half (Zen 5).
const SQUARE_BYTES: f64 = 2500.0;

/// Sizes of a few groups.
pub(crate) type Sizes = SmallVec<[usize; 8]>;

/// One step, for each of the adjacent parts of the memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `[len][between][len]` items of `item` bytes: the two equal dimensions change places.
    Swap { len: usize, between: usize, item: usize },
    /// Parts of these sizes, in items of `item` bytes, are put into the order of `dims`.
    Staged { sizes: Sizes, dims: Sizes, item: usize, together: usize },
    /// `[m][n]` items of `item` bytes become `[n][m]`.
    Rotate { m: usize, n: usize, item: usize, blocks: Blocks },
}

impl Step {
    /// The scratch that it needs, in bytes.
    pub(crate) fn scratch_bytes(&self) -> usize {
        match self {
            Self::Swap { .. } => 0,
            Self::Staged { sizes, item, together, .. } => {
                sizes.iter().product::<usize>() * item * together
            }
            Self::Rotate { m, n, item, blocks, .. } => blocks.scratch_bytes(*m, *n, *item),
        }
    }

    /// The estimated time, in passes over the memory.
    fn passes(&self) -> f64 {
        match self {
            Self::Swap { len, item, .. } => LEAST_PASSES + SQUARE_BYTES / (len * len * item) as f64,
            Self::Staged { .. } if self.scratch_bytes() <= MAX_STAGED_SQUARE => 1.3,
            Self::Staged { .. } => 1.35,
            Self::Rotate { item, .. } if *item >= LONG_ITEM_BYTES => 1.4,
            Self::Rotate { m, n, .. } if *m.min(n) <= MAX_PANEL_SIDE => 2.7,
            Self::Rotate { .. } => 4.0,
        }
    }
}

/// The steps of a permutation.
pub(crate) type Steps = SmallVec<[Step; 2]>;

/// The scratch that a permutation of `bytes` may use.
pub(crate) fn scratch_limit(bytes: usize) -> usize {
    (bytes / 100).max(MIN_SCRATCH_BYTES).min(bytes)
}

/// The steps that bring a contiguous array of `item`-byte elements into the order of `dims`, a
/// permutation of the dimensions.
pub(crate) fn steps(shape: &[usize], dims: &[usize], item: usize) -> Steps {
    let numel: usize = shape.iter().product();
    if numel <= 1 || item == 0 {
        return Steps::new();
    }
    let limit = scratch_limit(numel * item);
    let groups = Groups::new(shape, dims, item);
    if let &[len, other] = &groups.sizes[..]
        && len == other
    {
        // A square, which needs no search: that takes as long as the transpose of 40 by 40 floats.
        let swap = Step::Swap { len, between: 1, item: groups.item };
        return Steps::from_iter([smaller(swap, 1, limit)]);
    }
    let found = groups.search(limit, MAX_SEARCHED_STEPS, f64::INFINITY);
    let mut steps = found.map_or_else(|| groups.greedy(limit), |(steps, _)| steps);
    for step in &mut steps {
        if let Step::Rotate { m, n, item, blocks, .. } = step {
            *blocks = Blocks::fastest(*m, *n, *item, limit);
        }
    }
    steps
}

/// The rows of the transpose of a square that is exchanged in one step: not one of the small ones,
/// which go through scratch.
pub(crate) fn exchanged_rows(shape: &[usize], dims: &[usize], item: usize) -> Option<usize> {
    let (&[rows, columns], &[1, 0]) = (shape, dims) else { return None };
    (rows == columns && rows * columns * item > SMALL_SQUARE_BYTES).then_some(rows)
}

/// Groups of dimensions in the order of memory. `goal[k]` is the position that group `k` shall
/// have.
#[derive(Clone, Debug, PartialEq)]
struct Groups {
    sizes: Sizes,
    goal: Sizes,
    item: usize,
}

impl Groups {
    /// The groups of a permutation, without dimensions of size 1.
    fn new(shape: &[usize], dims: &[usize], item: usize) -> Self {
        let kept: Sizes = dims.iter().copied().filter(|&d| shape[d] != 1).collect();
        let mut goal: Sizes = SmallVec::from_elem(usize::MAX, shape.len());
        for (at, &d) in kept.iter().enumerate() {
            goal[d] = at;
        }
        let (mut sizes, mut goals) = (Sizes::new(), Sizes::new());
        for (d, &size) in shape.iter().enumerate().filter(|&(_, &size)| size != 1) {
            sizes.push(size);
            goals.push(goal[d]);
        }
        Self { sizes, goal: goals, item }.fused()
    }

    /// The same with neighbours that stay neighbours as one group, and the last one as part of the
    /// item if it stays the last.
    fn fused(mut self) -> Self {
        let mut at = 1;
        while at < self.sizes.len() {
            if self.goal[at] == self.goal[at - 1] + 1 {
                self.sizes[at - 1] *= self.sizes[at];
                self.remove(at);
            } else {
                at += 1;
            }
        }
        if let Some(last) = self.sizes.len().checked_sub(1)
            && self.goal[last] == last
        {
            self.item *= self.sizes[last];
            self.remove(last);
        }
        self
    }

    fn remove(&mut self, at: usize) {
        let goal = self.goal.remove(at);
        self.sizes.remove(at);
        self.goal.iter_mut().filter(|other| **other > goal).for_each(|other| *other -= 1);
    }

    fn is_done(&self) -> bool {
        self.goal.is_empty()
    }

    fn outer(&self, at: usize) -> usize {
        self.sizes[..at].iter().product()
    }

    fn inner(&self, at: usize) -> usize {
        self.sizes[at..].iter().product::<usize>() * self.item
    }

    /// The step that exchanges the runs `first..middle` and `middle..end`, and the permutation that
    /// remains.
    /// The sides of its blocks are not chosen yet.
    fn rotated(&self, [first, middle, end]: [usize; 3], limit: usize) -> (Step, Self) {
        let (m, n) =
            (self.sizes[first..middle].iter().product(), self.sizes[middle..end].iter().product());
        let (outer, item) = (self.outer(first), self.inner(end));
        let mut rest = self.clone();
        rest.sizes[first..end].rotate_left(middle - first);
        rest.goal[first..end].rotate_left(middle - first);
        let step = if m == n {
            Step::Swap { len: m, between: 1, item }
        } else if m * n * item <= limit {
            let (sizes, dims) = (Sizes::from_slice(&[m, n]), Sizes::from_slice(&[1, 0]));
            staged(outer, sizes, dims, item, limit)
        } else {
            Step::Rotate { m, n, item, blocks: Blocks::ITEMS }
        };
        (smaller(step, outer, limit), rest.fused())
    }

    /// The step that exchanges two groups of equal size.
    fn swapped(&self, [first, second]: [usize; 2]) -> Option<(Step, Self)> {
        if self.sizes[first] != self.sizes[second] {
            return None;
        }
        let (item, len) = (self.inner(second + 1), self.sizes[first]);
        let between = self.sizes[first + 1..second].iter().product();
        let mut rest = self.clone();
        rest.goal.swap(first, second);
        Some((Step::Swap { len, between, item }, rest.fused()))
    }

    /// The step that sorts all groups from `first` on, if these parts fit into scratch.
    fn sorted(&self, first: usize, limit: usize) -> Option<(Step, Self)> {
        if self.inner(first) > limit {
            return None;
        }
        let mut dims: Sizes = (0..self.sizes.len() - first).collect();
        sort_by_key(&mut dims, |&d| self.goal[first + d]);
        let sizes = Sizes::from_slice(&self.sizes[first..]);
        let mut rest = self.clone();
        for (at, &d) in dims.iter().enumerate() {
            rest.sizes[first + at] = self.sizes[first + d];
            rest.goal[first + at] = self.goal[first + d];
        }
        Some((staged(self.outer(first), sizes, dims, self.item, limit), rest.fused()))
    }

    /// The sequence of at most `most` steps with the fewest passes, if these are below some.
    fn search(&self, limit: usize, most: usize, mut below: f64) -> Option<(Steps, f64)> {
        if self.is_done() {
            return Some((Steps::new(), 0.0));
        }
        let count = self.sizes.len();
        if most == 0 || count > MAX_SEARCHED_GROUPS {
            return None;
        }
        let mut best: Option<(Steps, f64)> = None;
        let mut consider = |found: Option<(Step, Self)>| {
            let Some((step, rest)) = found else { return };
            let passes = step.passes();
            let least = if rest.is_done() { passes } else { passes + LEAST_PASSES };
            if least >= below {
                return;
            }
            let Some((mut steps, more)) = rest.search(limit, most - 1, below - passes) else {
                return;
            };
            if passes + more < below {
                below = passes + more;
                steps.insert(0, step);
                best = Some((steps, below));
            }
        };
        for first in 0..count {
            consider(self.sorted(first, limit).filter(|(_, rest)| rest != self));
            for second in first + 1..count {
                if second > first + 1 {
                    consider(self.swapped([first, second]));
                }
                for end in second + 1..=count {
                    consider(Some(self.rotated([first, second, end], limit)));
                }
            }
        }
        best
    }

    /// A sequence that moves the longest run that belongs to the front, again and again.
    fn greedy(&self, limit: usize) -> Steps {
        let (mut rest, mut steps) = (self.clone(), Steps::new());
        while !rest.is_done() {
            let first = rest.goal.iter().enumerate().take_while(|&(at, &goal)| at == goal).count();
            let at = rest.goal.iter().position(|&goal| goal == first).unwrap_or(first);
            let (step, next) = rest
                .sorted(first, limit)
                .unwrap_or_else(|| rest.rotated([first, at, at + 1], limit));
            steps.push(step);
            rest = next;
        }
        steps
    }
}

/// A step through scratch, as many parts at a time as fit.
fn staged(outer: usize, sizes: Sizes, dims: Sizes, item: usize, limit: usize) -> Step {
    let part = sizes.iter().product::<usize>() * item;
    let together = (STAGED_BYTES.min(limit) / part).clamp(1, outer);
    Step::Staged { sizes, dims, item, together }
}

/// A swap of small squares goes through scratch, many at a time.
fn smaller(step: Step, outer: usize, limit: usize) -> Step {
    match step {
        Step::Swap { len, between: 1, item } if len * len * item <= SMALL_SQUARE_BYTES => {
            let (sizes, dims) = (Sizes::from_slice(&[len, len]), Sizes::from_slice(&[1, 0]));
            staged(outer, sizes, dims, item, limit.min(MAX_STAGED_SQUARE))
        }
        step => step,
    }
}

/// Squares up to this size are staged, many at a time: a swap takes 0.1 µs for each (Zen 5).
const SMALL_SQUARE_BYTES: usize = 1 << 10;

/// The scratch of small squares, which is on the stack.
pub(crate) const MAX_STAGED_SQUARE: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(shape: &[usize], dims: &[usize], item: usize) -> Vec<&'static str> {
        let name = |step: &Step| match step {
            Step::Swap { .. } => "swap",
            Step::Staged { .. } => "staged",
            Step::Rotate { .. } => "rotate",
        };
        steps(shape, dims, item).iter().map(name).collect()
    }

    #[test]
    fn steps_of_some_permutations() {
        for (what, shape, dims, expected) in [
            ("no change", &[30, 40][..], &[0, 1][..], &[][..]),
            ("a dimension of size 1 moves", &[30, 1, 40], &[1, 0, 2], &[]),
            ("a square", &[3000, 3000], &[1, 0], &["swap"]),
            ("two equal dimensions around another", &[300, 70, 300], &[2, 1, 0], &["swap"]),
            ("small squares around much else", &[10, 3000, 10], &[2, 1, 0], &["rotate", "staged"]),
            ("two equal dimensions in front", &[300, 300, 20], &[1, 0, 2], &["swap"]),
            ("many small squares", &[30_000, 12, 12], &[0, 2, 1], &["staged"]),
            ("many larger squares", &[300, 100, 100], &[0, 2, 1], &["swap"]),
            ("matrices that fit into scratch", &[3000, 50, 60], &[0, 2, 1], &["staged"]),
            ("a large matrix", &[3000, 4000], &[1, 0], &["rotate"]),
            ("two runs", &[40, 50, 60, 70], &[2, 3, 0, 1], &["rotate"]),
        ] {
            assert_eq!(names(shape, dims, 4), expected, "{what}");
        }
    }

    #[test]
    fn scratch_stays_within_the_limit() {
        let sizes = [2, 3, 100, 1009, 4093, 4099, 8191, 8209, 65_537, 1 << 20, 10_000_019];
        for item in [1, 2, 3, 4, 8, 16, 48] {
            for m in sizes {
                for n in sizes.into_iter().filter(|n| (1 << 19..1 << 28).contains(&(m * n))) {
                    let limit = scratch_limit(m * n * item);
                    for step in steps(&[m, n], &[1, 0], item) {
                        assert!(step.scratch_bytes() <= limit, "{m} {n} {item}: {step:?}");
                    }
                }
            }
        }
    }
}
