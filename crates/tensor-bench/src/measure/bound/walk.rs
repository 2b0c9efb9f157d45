//! The ways to go through a copy block by block: which blocks, and in which order.

use std::collections::BTreeMap;

use super::{
    block::Table,
    loops::{ByteLoop, Loops},
};

/// A way to go through a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) blocks: Blocks,
    pub(super) order: Order,
    /// Whether the result is written past the caches.
    pub(super) streamed: bool,
}

/// What is done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// The loads and stores of a block.
    Sides {
        /// The bytes of a side along the result.
        to: usize,
        /// The same along the source; 0 for blocks that are long along the result only.
        from: usize,
    },
    /// A plain copy of a row.
    Rows,
}

/// The order of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they lie in the result.
    Result,
    /// As they lie in the source.
    Source,
    /// As they lie in the result, among groups of blocks that fit a second-level cache.
    Grouped,
}

/// The sides of blocks that are tried, in bytes: along the result and along the source.
const SIDES: [(usize, usize); 16] = [
    (256, 256),
    (128, 128),
    (64, 64),
    (64, 256),
    (256, 64),
    (256, 0),
    (64, 1024),
    (1024, 64),
    (1024, 1024),
    (64, 4096),
    (256, 4096),
    (4096, 64),
    (4096, 256),
    (16384, 64),
    (16384, 256),
    (65536, 64),
];

/// From this size on groups of blocks are tried: smaller copies fit a first-level cache.
const GROUPED_BYTES: usize = 32 << 10;

/// From this size on non-temporal stores are tried.
const STREAMED_BYTES: usize = 1 << 20;

/// The shortest run that is worth a call of its own.
const STREAMED_RUN: usize = 1 << 10;

/// Rows of this size are also copied one by one …
const LEAST_ROW: usize = 64;

/// … and longer ones only so.
const MOST_BLOCK_ROW: usize = 4 << 10;

/// The ways that are tried.
pub(super) fn ways(loops: &Loops) -> Vec<Way> {
    let bytes = loops.bytes();
    let streams: &[bool] = if bytes >= STREAMED_BYTES { &[false, true] } else { &[false] };
    let orders = if bytes >= GROUPED_BYTES { &ORDERS[..] } else { &ORDERS[..2] };
    let sides = if loops.row <= MOST_BLOCK_ROW { &SIDES[..] } else { &[] };
    let rows = (loops.row >= LEAST_ROW).then_some(Blocks::Rows);
    let sides = sides.iter().map(|&(to, from)| Blocks::Sides { to, from });
    let blocks: Vec<Blocks> = rows.into_iter().chain(sides).collect();
    let mut ways = Vec::new();
    for &streamed in streams {
        for &order in orders {
            ways.extend(blocks.iter().map(|&blocks| Way { blocks, order, streamed }));
        }
    }
    ways
}

const ORDERS: [Order; 3] = [Order::Result, Order::Source, Order::Grouped];

/// A block: where it begins, and its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) table: u32,
}

/// All blocks of a copy in their order.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub(super) kind: Kind,
    pub(super) steps: Vec<Step>,
    /// Whether the result is written past the caches.
    pub(super) streamed: bool,
    /// The bytes of the longest run of a block, for non-temporal stores; else 0.
    pub(super) longest_run: usize,
}

/// What is done in each step.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The loads and stores of one of these tables.
    Tables(Vec<Table>),
    /// A plain copy of a row of these bytes.
    Row(usize),
}

/// A line of a cache.
const LINE: usize = 64;

/// A block has at most this many loads and stores.
const MOST_ACCESSES: usize = 1 << 15;

/// A block has at most this many rows: its table is made of them.
const MOST_ROWS: usize = 1 << 18;

/// A pass has at most this many steps: reading their list must not take time.
const MOST_STEPS: usize = 1 << 18;

/// A group of blocks has about this many bytes.
const GROUP_BYTES: usize = 256 << 10;

impl Pass {
    /// The steps of a way; `None` for a way that this copy does not have.
    pub(super) fn new(loops: &Loops, way: Way, widest: usize) -> Option<Pass> {
        let Way { blocks, order, streamed } = way;
        if streamed && matches!(blocks, Blocks::Sides { to, .. } if to < STREAMED_RUN) {
            return None;
        }
        let block = block(loops, blocks);
        let rows: usize = block.iter().product();
        let cuts: Vec<Cut> =
            loops.loops.iter().zip(block).map(|(l, block)| Cut::new(*l, block)).collect();
        let count: usize = cuts.iter().map(|cut| cut.count).product();
        if rows > MOST_ROWS || count > MOST_STEPS {
            return None;
        }
        let counters = counters(&cuts, order, rows * loops.row)?;
        let (kind, steps) = match blocks {
            Blocks::Sides { .. } => {
                let mut tables = Tables { loops, widest, tables: vec![], numbers: BTreeMap::new() };
                let steps = steps(loops.start, &cuts, &counters, |lens| tables.number(lens))?;
                (Kind::Tables(tables.tables), steps)
            }
            Blocks::Rows => {
                (Kind::Row(loops.row), steps(loops.start, &cuts, &counters, |_| Some(0))?)
            }
        };
        let (shortest, longest) = kind.runs();
        let longest_run = if streamed { longest } else { 0 };
        let short = streamed && shortest < STREAMED_RUN;
        (!short).then_some(Pass { kind, steps, streamed, longest_run })
    }
}

/// The steps in the order of the counters; `None` if a block has no table.
fn steps(
    start: isize,
    cuts: &[Cut],
    counters: &[Counter],
    mut table: impl FnMut(&[usize]) -> Option<u32>,
) -> Option<Vec<Step>> {
    let mut steps = Some(Vec::new());
    visit(counters, cuts, &mut vec![0; cuts.len()], &mut |at| {
        let Some(found) = &mut steps else { return };
        let lens: Vec<usize> = cuts.iter().zip(at).map(|(cut, &i)| cut.len(i)).collect();
        let (from, to) = place(start, cuts, at, &lens);
        match table(&lens) {
            Some(table) => found.push(Step { from, to, table }),
            None => steps = None,
        }
    });
    steps
}

impl Kind {
    /// The bytes of the shortest and the longest run of the result.
    fn runs(&self) -> (usize, usize) {
        let lens: Vec<usize> = match self {
            Kind::Row(bytes) => vec![*bytes],
            Kind::Tables(tables) => {
                let runs = tables.iter().flat_map(|table| &table.runs);
                runs.map(|(start, end)| (end - start) as usize).collect()
            }
        };
        (lens.iter().min().copied().unwrap_or(0), lens.iter().max().copied().unwrap_or(0))
    }
}

/// The tables of a pass: one for blocks of equal lengths.
struct Tables<'a> {
    loops: &'a Loops,
    widest: usize,
    tables: Vec<Table>,
    numbers: BTreeMap<Vec<usize>, u32>,
}

impl Tables<'_> {
    /// The number of the table of blocks of these lengths; `None` for too many accesses.
    fn number(&mut self, lens: &[usize]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(lens) {
            return Some(number);
        }
        let table = Table::of(self.loops, lens, self.widest)?;
        let number = self.tables.len() as u32;
        if table.accesses() > MOST_ACCESSES {
            return None;
        }
        self.tables.push(table);
        self.numbers.insert(lens.to_vec(), number);
        Some(number)
    }
}

/// The first bytes of a block in the source and in the result.
fn place(start: isize, cuts: &[Cut], at: &[usize], lens: &[usize]) -> (usize, usize) {
    let (mut from, mut to) = (start, 0);
    for ((cut, &i), &len) in cuts.iter().zip(at).zip(lens) {
        from += cut.around.from * (i * cut.block) as isize;
        from += cut.around.from.min(0) * (len as isize - 1);
        to += cut.around.to * i * cut.block;
    }
    (from.unsigned_abs(), to)
}

/// A loop in parts of equal length, but for the last.
struct Cut {
    around: ByteLoop,
    block: usize,
    count: usize,
}

impl Cut {
    /// A short rest is part of the last block, which is then up to half longer.
    fn new(around: ByteLoop, block: usize) -> Cut {
        let block = block.max(1);
        let (whole, rest) = (around.len / block, around.len % block);
        let count = whole + usize::from(rest > 0 && whole == 0 || rest * 2 > block);
        Cut { around, block, count }
    }

    fn len(&self, i: usize) -> usize {
        if i + 1 < self.count { self.block } else { self.around.len - i * self.block }
    }
}

/// How many iterations of each loop a block has.
fn block(loops: &Loops, blocks: Blocks) -> Vec<usize> {
    match blocks {
        Blocks::Sides { to, from } => block_of_sides(loops, to, from),
        Blocks::Rows => vec![1; loops.loops.len()],
    }
}

fn block_of_sides(loops: &Loops, to: usize, from: usize) -> Vec<usize> {
    let mut block = vec![1; loops.loops.len()];
    let mut run = loops.row;
    for (l, b) in loops.loops.iter().zip(&mut block).rev() {
        if run >= to {
            break;
        }
        *b = iterations(l.len, run, to);
        run *= *b;
    }
    let mut by_source: Vec<usize> = (0..block.len()).collect();
    by_source.sort_by_key(|&i| loops.loops[i].from.unsigned_abs());
    let mut covered = loops.row;
    for i in by_source {
        let l = loops.loops[i];
        let stride = l.from.unsigned_abs();
        if covered >= from || stride >= covered + LINE {
            break;
        }
        if stride == 0 {
            continue;
        }
        block[i] = block[i].max(iterations(l.len, stride, from));
        covered = covered.max(stride * l.len.min(block[i]));
    }
    block
}

/// How many iterations of a loop make `bytes`: a whole number of cache lines, if that is not much
/// more.
fn iterations(len: usize, stride: usize, bytes: usize) -> usize {
    let fewest = bytes.div_ceil(stride);
    let line = LINE / gcd(stride, LINE);
    let whole = fewest.next_multiple_of(line);
    let wanted = if whole * stride <= bytes * 2 + LINE { whole } else { fewest };
    if len < wanted + wanted.div_ceil(2) { len } else { wanted }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A counter of blocks of a loop: each `step`-th of the next `most`.
#[derive(Clone, Copy, Debug)]
struct Counter {
    cut: usize,
    step: usize,
    most: usize,
}

/// The counters, outermost first; `None` if groups of blocks are no larger than blocks, or all.
fn counters(cuts: &[Cut], order: Order, block_bytes: usize) -> Option<Vec<Counter>> {
    let mut loops: Vec<usize> = (0..cuts.len()).collect();
    match order {
        Order::Result => (),
        Order::Source => {
            loops.sort_by_key(|&i| std::cmp::Reverse(cuts[i].around.from.unsigned_abs()));
            if loops.is_sorted() {
                return None;
            }
        }
        Order::Grouped => return grouped(cuts, block_bytes),
    }
    Some(loops.into_iter().map(|cut| Counter { cut, step: 1, most: usize::MAX }).collect())
}

/// Groups extend along the loops of which blocks have several iterations.
fn grouped(cuts: &[Cut], block_bytes: usize) -> Option<Vec<Counter>> {
    let mut sizes = vec![1; cuts.len()];
    let mut bytes = block_bytes;
    while bytes < GROUP_BYTES {
        let growing = (0..cuts.len()).filter(|&i| cuts[i].block > 1 && sizes[i] < cuts[i].count);
        let Some(next) = growing.min_by_key(|&i| sizes[i]) else { break };
        sizes[next] *= 2;
        bytes *= 2;
    }
    let whole = (0..cuts.len()).all(|i| sizes[i] == 1 || sizes[i] >= cuts[i].count);
    let groups = (0..cuts.len()).map(|cut| Counter { cut, step: sizes[cut], most: usize::MAX });
    let within = (0..cuts.len()).map(|cut| Counter { cut, step: 1, most: sizes[cut] });
    (!whole).then(|| groups.chain(within.filter(|counter| counter.most > 1)).collect())
}

/// Visits the blocks in the order of the counters.
fn visit(counters: &[Counter], cuts: &[Cut], at: &mut [usize], act: &mut dyn FnMut(&[usize])) {
    let [counter, inner @ ..] = counters else { return act(at) };
    let first = at[counter.cut];
    let end = cuts[counter.cut].count.min(first.saturating_add(counter.most));
    for i in (first..end).step_by(counter.step) {
        at[counter.cut] = i;
        visit(inner, cuts, at, act);
    }
    at[counter.cut] = first;
}
