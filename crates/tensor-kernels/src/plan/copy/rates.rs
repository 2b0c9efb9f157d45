//! The rates of the cost model: what each thing takes that `cost` counts.
//!
//! Rates are fitted to the measured times of all candidates of random layouts, by least squares of
//! relative errors. Only quotients of predictions matter, so one table serves all CPUs on which
//! kernels, caches and stores take alike parts of the time. It does not serve all: on Zen 3, by the
//! rates of AVX-512 on Zen 5, copies took 1.08 times as long as by the fastest candidate from 32 kB
//! to 2 MB and 1.10 times above (geometric means); by rates of its own 1.06 and 1.08, and 0.87 of
//! the time on 155 other layouts. Without wide registers a transpose by tables is dearer than one
//! without; lines from the second level cost little, and non-temporal stores of transposes twice as
//! much.
//!
//! The table goes by the width of vector registers ([`Machine::vector`]), which tells the two kinds
//! of CPU apart: servers without AVX-512 are of the kind of Zen 3.

use super::kernel::Kernel;
use crate::exec::Machine;

/// Nanoseconds of Zen 5. Predictions are compared with those of lists of offsets and of reductions,
/// so a CPU on which everything takes longer has rates that are as much shorter.
#[derive(Debug)]
pub(super) struct Rates {
    kernel: fn(Kernel) -> KernelRates,
    /// Every plan.
    pub(super) setup: f64,
    /// Every plan with tables, and each entry of them.
    pub(super) tables: f64,
    pub(super) entry: f64,
    /// An iteration of the loops around.
    pub(super) iteration: f64,
    /// A line of destination and source that is fetched into each level.
    pub(super) line: [[f64; 2]; 3],
    /// A line that is fetched again because it has been displaced. Nothing prefetches it.
    pub(super) again: [f64; 3],
    /// A run of such lines.
    pub(super) run: [[f64; 2]; 3],
    /// A line of the destination that displaces another from the first level.
    pub(super) displaced_line: f64,
    /// A line that is written by non-temporal stores.
    pub(super) streamed_line: f64,
    /// A line that is written in part by non-temporal stores, in part by others.
    pub(super) partial_line: f64,
    /// A streamed line for each other one that shares its cache set.
    pub(super) streamed_clash: f64,
}

/// What a kernel takes for a call, and for an amount of 1 with units of 1 byte, 2 bytes, and more.
type KernelRates = (f64, [f64; 3]);

impl Rates {
    /// The rates that suit a machine.
    pub(super) fn of(machine: &Machine) -> &'static Self {
        if machine.vector < WIDEST_VECTOR { &AVX2 } else { &AVX512 }
    }

    /// What a kernel takes for a call, and for an amount of 1, with units of `unit` bytes.
    pub(super) fn of_kernel(&self, kernel: Kernel, unit: usize) -> [f64; 2] {
        let (call, [one, two, wide]) = (self.kernel)(kernel);
        let amount = match unit {
            1 => one,
            2 => two,
            _ => wide,
        };
        [call, amount]
    }
}

/// The bytes of an AVX-512 register.
pub(crate) const WIDEST_VECTOR: usize = 64;

/// Zen 5, AVX-512. The rates of kernels and of the first two levels are fitted to 6,300 plans of
/// 850 layouts. Those of memory are estimated from pairs of layouts that differ in one term,
/// because they depend on what else uses the memory.
///
/// Rows of gathered units: estimated from rows of 8 to 64 units, reversed and of every second. The
/// kernel runs all rows of a loop itself. With the rates of one that does not, rows of 16 floats
/// were copied unit by unit, which took 2.1 times as long.
///
/// Buffered lines: estimated from transposes of one and two bytes. Those of Zen 3 are as much
/// dearer as its staged lines; none has been measured there.
///
/// Lines from tables, here and below: estimated from 28 MB in rows of 663 to 675 and of 18 and 39
/// elements, at both levels (Zen 4). They take 0.4 to 0.7 of the time of plain stores.
///
/// Packed sources, here and below: fitted to 400 layouts of 8 kB to 2 MB with steps and windows, at
/// both levels. The 95th percentile of the time over that of the fastest plan falls from 1.8 to
/// 1.3.
///
/// Displaced lines: 512 by 512 floats, whose rows lie in two places of a way, take 89 µs in blocks
/// of 128 by 128, 50 µs in blocks of 32 by 32, 33 µs in blocks of 16 by 16. Clashes: transposes of
/// 768 floats squared, whose rows are a multiple of 1 KiB apart, take 3 ns a line longer than those
/// of 700.
static AVX512: Rates = Rates {
    kernel: |kernel| match kernel {
        Kernel::Run => (1.5, [0.0097; 3]),
        Kernel::Fill => (0.5, [0.0075; 3]),
        Kernel::ShortFills => (0.35, [0.006; 3]),
        Kernel::Gather => (2.2, [0.024, 0.035, 0.058]),
        Kernel::Units | Kernel::UnitsOfTile => (4.5, [0.155, 0.24, 0.24]),
        Kernel::ShortRuns => (10.0, [0.31, 0.34, 0.35]),
        Kernel::NarrowRuns => (30.0, [0.027; 3]),
        Kernel::IndexedRuns => (1.1, [0.5, 0.53, 0.6]),
        Kernel::IndexedUnits => (1.1, [0.315, 0.325, 0.36]),
        Kernel::Tiles => (4.0, [0.0172, 0.0135, 0.0119]),
        Kernel::NarrowTiles => (4.0, [0.0215, 0.0162, 0.0152]),
        Kernel::IndexedTiles => (1.4, [0.0223, 0.0182, 0.0193]),
        Kernel::IndexedNarrowTiles => (2.6, [0.0272, 0.0259, 0.0286]),
        Kernel::Pixels => (7.6, [0.0113; 3]),
        Kernel::LanePerRow => (22.0, [0.32, 0.24, 0.21]),
        Kernel::Overwriting => (27.0, [0.3, 0.22, 0.22]),
        Kernel::IndexedShortSource => (7.0, [0.9, 0.8, 0.8]),
        Kernel::IndexedShortDestination => (1.6, [0.64, 0.57, 0.57]),
        Kernel::Shuffles => (2.0, [0.16; 3]),
        Kernel::Picks => (5.0, [0.5, 0.46, 0.46]),
        Kernel::PackedSource => (0.12, [0.045, 0.09, 0.15]),
        Kernel::AlignedLines => (50.0, [0.06, 0.053, 0.004]),
        Kernel::StitchedLines => (50.0, [0.075, 0.045, 0.012]),
        Kernel::StagedLines => (80.0, [0.058, 0.025, 0.02]),
        Kernel::BufferedLines => (80.0, [0.025, 0.02, 0.02]),
        Kernel::PackedLines => (6.0, [0.014, 0.015, 0.012]),
        Kernel::IndexedStitchedLines => (50.0, [0.02, 0.006, 0.012]),
        Kernel::IndexedPackedLines => (6.0, [0.014, 0.015, 0.012]),
        Kernel::TransposedRuns => (0.4, [0.006; 3]),
    },
    setup: 25.0,
    tables: 10.0,
    entry: 0.72,
    iteration: 3.4,
    line: [[0.03, 0.02], [0.09, 0.3], [3.5, 1.2]],
    again: [0.7, 0.8, 1.0],
    run: [[0.13, 0.01], [0.35, 0.35], [1.0, 1.5]],
    displaced_line: 4.0,
    streamed_line: 0.8,
    partial_line: 8.0,
    streamed_clash: 0.45,
};

/// Zen 3, AVX2: five eighths of its nanoseconds. Fitted to 9,300 plans of 1,750 layouts of up to 48
/// MB, the fastest time of each in two allocations. From 200 kB on two runs were timed together,
/// after something else had been in the caches, as in a program that does more than copying. Plans
/// that take four times as long as the fastest one are left out: their predictions do not matter.
/// Units of tiles were among them, and taken for those of rows: bytes of 694 by 9 by 8, all
/// dimensions reversed, took four times as long as by tables, and have rates of their own now.
/// Streamed lines are those of rows, which follow each other: long rows of 10 to 60 MB take 0.25 to
/// 0.9 of the time streamed. Transposes write each line in another row, and take 0.6 longer for it,
/// which the kernels that stream them include.
static AVX2: Rates = Rates {
    kernel: |kernel| match kernel {
        Kernel::Run => (0.64, [0.013, 0.012, 0.011]),
        Kernel::Fill => (0.5, [0.0075; 3]),
        Kernel::ShortFills => (0.35, [0.006; 3]),
        Kernel::Gather => (2.8, [0.019, 0.039, 0.078]),
        Kernel::Units => (2.4, [0.046, 0.082, 0.081]),
        Kernel::UnitsOfTile => (2.4, [0.33, 0.3, 0.15]),
        Kernel::ShortRuns => (8.0, [0.36, 0.34, 0.36]),
        Kernel::NarrowRuns => (30.0, [0.04; 3]),
        Kernel::IndexedRuns => (1.5, [0.63, 0.56, 0.52]),
        Kernel::IndexedUnits => (1.1, [0.43, 0.44, 0.38]),
        Kernel::Tiles => (2.9, [0.028, 0.018, 0.011]),
        Kernel::NarrowTiles => (4.2, [0.027, 0.019, 0.014]),
        Kernel::IndexedTiles => (1.1, [0.044, 0.026, 0.023]),
        Kernel::IndexedNarrowTiles => (1.8, [0.05, 0.03, 0.036]),
        Kernel::Pixels => (6.3, [0.013, 0.017, 0.012]),
        Kernel::LanePerRow => (8.3, [0.43, 0.31, 0.097]),
        Kernel::Overwriting => (14.0, [0.45, 0.25, 0.42]),
        Kernel::IndexedShortSource => (8.4, [1.4, 1.1, 0.92]),
        Kernel::IndexedShortDestination => (1.9, [0.89, 0.98, 0.66]),
        Kernel::Shuffles => (6.0, [0.2; 3]),
        Kernel::Picks => (f64::INFINITY, [f64::INFINITY; 3]),
        Kernel::PackedSource => (0.12, [0.045, 0.09, 0.13]),
        Kernel::AlignedLines => (6.0, [0.078, 0.07, 0.014]),
        Kernel::StitchedLines => (6.0, [0.074, 0.039, 0.022]),
        Kernel::StagedLines => (11.0, [0.092, 0.047, 0.038]),
        Kernel::BufferedLines => (11.0, [0.05, 0.035, 0.035]),
        Kernel::PackedLines => (7.0, [0.033, 0.03, 0.029]),
        Kernel::IndexedStitchedLines => (6.0, [0.008, 0.004, 0.012]),
        Kernel::IndexedPackedLines => (7.0, [0.02, 0.012, 0.008]),
        Kernel::TransposedRuns => (0.4, [0.019; 3]),
    },
    setup: 25.0,
    tables: 9.3,
    entry: 0.52,
    iteration: 2.7,
    line: [[0.074, 0.03], [0.34, 0.7], [0.78, 0.56]],
    again: [0.016, 0.018, 0.023],
    run: [[0.12, 0.012], [0.084, 0.034], [0.023, 0.035]],
    displaced_line: 0.09,
    streamed_line: 0.9,
    partial_line: 6.5,
    streamed_clash: 0.63,
};
