//! The families of layouts: what is drawn for each.

use clap::ValueEnum;
use tensor_kernels::Slice;

use super::random::Random;
use crate::cases::view_op::ViewOp;

/// Where layouts come from. Cases of a family differ in rank, sizes and order of dimensions.
///
/// A family's position in this list is part of what its cases are drawn from: new ones go to the
/// end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Family {
    /// Any order of 2 to 6 dimensions
    Permuted,
    /// The same with one dimension much longer than all others
    Skewed,
    /// Transposed matrices, square or nearly so, of any size and parity
    Square,
    /// Slices of one or two dimensions, then any order
    Window,
    /// Every second to fifth index of one or two dimensions, in any order
    Step,
    /// One or two dimensions reversed, in any order
    Flip,
    /// One dimension repeated, in any order
    Broadcast,
    /// Matrices with rows of 2 to 13 elements, or columns of as many, transposed
    ShortRows,
    /// Batches of images, HWC to CHW or back, some mirrored or cropped
    Image,
    /// Every operand in an order of its own (elementwise operations only)
    Mixed,
    /// Row-major arrays (reductions only)
    Contiguous,
}

/// A dense array and the view operations on it.
pub(super) type View = (Vec<usize>, Vec<ViewOp>);

/// The ranks of arrays: four dimensions are the commonest.
const RANKS: [usize; 7] = [2, 3, 3, 4, 4, 5, 6];

/// How often a view has another order of dimensions, in percent, where the family does not say so.
const REORDERED: u64 = 60;

impl Family {
    /// The name in the ids of cases, and on the command line with a hyphen.
    pub fn name(self) -> &'static str {
        match self {
            Family::Permuted => "permuted",
            Family::Skewed => "skewed",
            Family::Square => "square",
            Family::Window => "window",
            Family::Step => "step",
            Family::Flip => "flip",
            Family::Broadcast => "broadcast",
            Family::ShortRows => "short_rows",
            Family::Image => "image",
            Family::Mixed => "mixed",
            Family::Contiguous => "contiguous",
        }
    }

    /// A view of about `elements` elements.
    pub(super) fn draw(self, random: &mut Random, elements: u64) -> View {
        match self {
            Family::Permuted | Family::Mixed => permuted(random, elements),
            Family::Skewed => skewed(random, elements),
            Family::Square => square(random, elements),
            Family::Window => window(random, elements),
            Family::Step => step(random, elements),
            Family::Flip => flip(random, elements),
            Family::Broadcast => broadcast(random, elements),
            Family::ShortRows => short_rows(random, elements),
            Family::Image => image(random, elements),
            Family::Contiguous => (array(random, elements), vec![]),
        }
    }
}

fn array(random: &mut Random, elements: u64) -> Vec<usize> {
    let rank = random.one_of(&RANKS);
    random.sizes(rank, elements)
}

fn permute(order: &[usize]) -> ViewOp {
    ViewOp::Permute(order.iter().map(|&dim| dim as isize).collect())
}

fn reordered(random: &mut Random, rank: usize) -> ViewOp {
    permute(&random.other_order(rank))
}

/// One or two of the dimensions.
fn one_or_two(random: &mut Random, rank: usize) -> Vec<usize> {
    let count = random.between(1, 2.min(rank));
    random.order(rank).into_iter().take(count).collect()
}

fn slice(dim: usize, start: usize, stop: usize, step: usize) -> ViewOp {
    let bounds = Slice::new(Some(start as isize), Some(stop as isize), step as isize);
    ViewOp::Slice(dim as isize, bounds)
}

fn permuted(random: &mut Random, elements: u64) -> View {
    let base = array(random, elements);
    let order = reordered(random, base.len());
    (base, vec![order])
}

fn skewed(random: &mut Random, elements: u64) -> View {
    let rank = random.between(2, 5);
    let long = random.between(0, rank - 1);
    let mut base: Vec<usize> = (0..rank).map(|_| random.between(2, 13)).collect();
    base[long] = 1;
    let others: usize = base.iter().product();
    base[long] = (elements as usize / others).max(2);
    let order = reordered(random, rank);
    (base, vec![order])
}

fn square(random: &mut Random, elements: u64) -> View {
    let side = elements.isqrt() as usize;
    let rows = (side * random.between(85, 117) / 100).max(2);
    let third = rows / 3;
    let columns = match random.between(0, 5) {
        0..=2 => rows,
        3 => rows + 1,
        4 => rows - 1,
        _ => rows - third + random.between(0, 2 * third),
    };
    (vec![rows, columns.max(2)], vec![permute(&[1, 0])])
}

fn window(random: &mut Random, elements: u64) -> View {
    let mut base = array(random, elements);
    let mut ops = Vec::new();
    for dim in one_or_two(random, base.len()) {
        let kept = base[dim];
        let beside = random.between(1, 1 + kept / 2);
        let start = random.between(0, beside);
        base[dim] = kept + beside;
        ops.push(slice(dim, start, start + kept, 1));
    }
    if random.chance(REORDERED) {
        ops.push(reordered(random, base.len()));
    }
    (base, ops)
}

fn step(random: &mut Random, elements: u64) -> View {
    let mut base = array(random, elements);
    let mut ops = Vec::new();
    for dim in one_or_two(random, base.len()) {
        let step = random.one_of(&[2, 2, 3, 4, 5]);
        // The last step may end before the array does.
        base[dim] = base[dim] * step - random.between(0, step - 1);
        ops.push(slice(dim, 0, base[dim], step));
    }
    if random.chance(REORDERED) {
        ops.push(reordered(random, base.len()));
    }
    (base, ops)
}

fn flip(random: &mut Random, elements: u64) -> View {
    let base = array(random, elements);
    let dims = one_or_two(random, base.len());
    let mut ops = vec![ViewOp::Flip(dims.iter().map(|&dim| dim as isize).collect())];
    if random.chance(REORDERED) {
        ops.push(reordered(random, base.len()));
    }
    (base, ops)
}

fn broadcast(random: &mut Random, elements: u64) -> View {
    let mut base = array(random, elements);
    let dim = random.between(0, base.len() - 1);
    let full = base.iter().map(|&size| size as isize).collect();
    base[dim] = 1;
    let mut ops = vec![ViewOp::Expand(full)];
    if random.chance(REORDERED) {
        ops.push(reordered(random, base.len()));
    }
    (base, ops)
}

fn short_rows(random: &mut Random, elements: u64) -> View {
    let short = random.between(2, 13);
    let matrices = if random.chance(50) { random.between(2, 32) } else { 1 };
    let long = (elements as usize / short / matrices).max(2);
    let mut sides = [short, long];
    if random.chance(50) {
        sides.reverse();
    }
    let [rows, columns] = sides;
    match matrices {
        1 => (vec![rows, columns], vec![permute(&[1, 0])]),
        _ => (vec![matrices, rows, columns], vec![permute(&[0, 2, 1])]),
    }
}

fn image(random: &mut Random, elements: u64) -> View {
    let channels = random.one_of(&[3, 3, 3, 4, 2, 16, 32, 64, 96]);
    let images = random.one_of(&[1, 1, 2, 4, 8, 16]);
    let pixels = (elements / (channels * images) as u64).max(4);
    let height = (pixels.isqrt() as usize * random.between(60, 140) / 100).max(2);
    let width = (pixels as usize / height).max(2);
    let channels_last = random.chance(50);
    let (mut base, order, rows) = match channels_last {
        true => (vec![images, height, width, channels], [0, 3, 1, 2], 1),
        false => (vec![images, channels, height, width], [0, 2, 3, 1], 2),
    };
    let mut ops = Vec::new();
    if random.chance(20) {
        for dim in [rows, rows + 1] {
            let (kept, margin) = (base[dim], random.between(1, 1 + base[dim] / 4));
            base[dim] += margin;
            ops.push(slice(dim, margin / 2, margin / 2 + kept, 1));
        }
    }
    if random.chance(30) {
        ops.push(ViewOp::Flip(vec![rows as isize + 1]));
    }
    ops.push(permute(&order));
    (base, ops)
}
