//! A block of a copy, and the loads and stores that it needs.

use super::loops::Loops;

/// Registers narrower than the widest have up to 32 bytes.
pub(super) const NARROW: usize = 6;

/// Offsets within a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accesses<O> {
    /// Of the widest registers.
    pub(super) wide: Vec<O>,
    /// Of 1, 2, 4, … bytes; none of the widest.
    pub(super) narrow: [Vec<O>; NARROW],
    /// Whether there are any of these.
    pub(super) has_narrow: bool,
}

impl<O> Accesses<O> {
    fn count(&self) -> usize {
        self.wide.len() + self.narrow.iter().map(Vec::len).sum::<usize>()
    }

    fn map<P>(self, f: impl Fn(O) -> P + Copy) -> Accesses<P> {
        let all = |offsets: Vec<O>| offsets.into_iter().map(f).collect();
        let Accesses { wide, narrow, has_narrow } = self;
        Accesses { wide: all(wide), narrow: narrow.map(all), has_narrow }
    }
}

/// A block that spans no more is accessed in a window of fixed length, so that the compiler sees
/// that all offsets are in bounds.
const NEAR: usize = 1 << 16;

/// The length of a window: the widest register at the last offset fits. Buffers are longer than
/// their data by so much.
pub(super) const WINDOW: usize = NEAR + 64;

/// The accesses of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Offsets {
    /// Within a window.
    Near(Accesses<u16>),
    /// Farther apart; each is checked.
    Far(Accesses<u32>),
}

impl Offsets {
    fn new(accesses: Accesses<u32>, span: usize) -> Offsets {
        match span <= NEAR {
            true => Offsets::Near(accesses.map(|at| at as u16)),
            false => Offsets::Far(accesses),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Offsets::Near(accesses) => accesses.count(),
            Offsets::Far(accesses) => accesses.count(),
        }
    }
}

/// The loads and stores of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// From the first byte of the source that the block needs to behind the last one.
    pub(super) from_span: usize,
    /// The same of the result.
    pub(super) to_span: usize,
    /// Offsets from the first byte of the source.
    pub(super) loads: Offsets,
    /// Offsets from the first byte of the result.
    pub(super) stores: Offsets,
    /// The runs of adjacent bytes of the result.
    pub(super) runs: Vec<(u32, u32)>,
}

/// Bytes `start..end`.
type Run = (usize, usize);

impl Table {
    /// The table of a block of these iterations of each loop, for registers of up to `widest`
    /// bytes. `None` for a block that spans more than 4 GiB.
    pub(super) fn of(loops: &Loops, block: &[usize], widest: usize) -> Option<Table> {
        let strides = loops.loops.iter().zip(block);
        let to = runs(loops.row, strides.clone().map(|(l, &len)| (len, l.to)));
        let from = runs(loops.row, strides.map(|(l, &len)| (len, l.from.unsigned_abs())));
        let span = |runs: &[Run]| runs.last().map_or(0, |run| run.1);
        let (from_span, to_span) = (span(&from), span(&to));
        u32::try_from(from_span.max(to_span)).ok()?;
        let loads = Offsets::new(loads(&from, widest), from_span);
        let stores = Offsets::new(stores(&to, widest), to_span);
        let runs = to.iter().map(|&(start, end)| (start as u32, end as u32)).collect();
        Some(Table { from_span, to_span, loads, stores, runs })
    }

    /// How many loads and stores there are.
    pub(super) fn accesses(&self) -> usize {
        self.loads.count() + self.stores.count()
    }
}

/// The runs of adjacent bytes that loops of these lengths and strides visit, ascending. The
/// direction of a loop makes no difference: offsets count from the first byte.
fn runs(row: usize, loops: impl Iterator<Item = (usize, usize)>) -> Vec<Run> {
    let mut starts = vec![0];
    for (len, stride) in loops {
        let len = if stride == 0 { len.min(1) } else { len };
        starts = (0..len).flat_map(|i| starts.iter().map(move |at| at + i * stride)).collect();
    }
    starts.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    for start in starts {
        match runs.last_mut() {
            Some(run) if start <= run.1 => run.1 = run.1.max(start + row),
            _ => runs.push((start, start + row)),
        }
    }
    runs
}

/// The fewest loads that cover the runs: each begins with the first byte that no load has covered.
/// A load may cover gaps, and bytes that another one has, but none outside of the block.
fn loads(runs: &[Run], widest: usize) -> Accesses<u32> {
    let span = runs.last().map_or(0, |run| run.1);
    let mut loads = List::new(widest);
    let (mut next, mut done) = (0, 0);
    while let Some(&(start, end)) = runs.get(next) {
        let at = done.max(start);
        let within = runs[next..].iter().take_while(|run| run.0 < at + widest).last();
        done = within.map_or(end, |run| run.1.min(at + widest));
        // In a long run all loads are the widest, the last one too.
        let long = end - start >= widest && done == end;
        let width = if long { widest } else { (done - at).next_power_of_two() };
        // Rather bytes of the same run again than those of a gap.
        let back = done.checked_sub(width).filter(|&back| back >= start || at + width > span);
        match back {
            Some(back) => loads.add(back, width),
            None if at + width <= span => loads.add(at, width),
            None => loads.split(at, done),
        }
        next += runs[next..].iter().take_while(|run| run.1 <= done).count();
    }
    loads.accesses
}

/// The stores that write the runs and nothing else, all stores of a run of one width: the last one
/// may write some bytes again.
fn stores(runs: &[Run], widest: usize) -> Accesses<u32> {
    let mut stores = List::new(widest);
    for &(start, end) in runs {
        let width = widest.min(1 << (end - start).ilog2());
        let whole = (start..=end - width).step_by(width);
        let written = whole.clone().last().map_or(start, |last| last + width);
        whole.for_each(|at| stores.add(at, width));
        if written < end {
            stores.add(end - width, width);
        }
    }
    stores.accesses
}

/// Accesses that are being collected.
struct List {
    accesses: Accesses<u32>,
    widest: usize,
}

impl List {
    fn new(widest: usize) -> List {
        List { accesses: Accesses::default(), widest }
    }

    fn add(&mut self, at: usize, width: usize) {
        if width == self.widest {
            return self.accesses.wide.push(at as u32);
        }
        self.accesses.narrow[width.ilog2() as usize].push(at as u32);
        self.accesses.has_narrow = true;
    }

    /// Bytes of which no wider register fits into the block, each once.
    fn split(&mut self, mut at: usize, end: usize) {
        while at < end {
            let width = 1 << (end - at).ilog2();
            self.add(at, width);
            at += width;
        }
    }
}
