//! What the programs of this folder share: measuring contenders in turn, and printing a table.

use std::{fmt, fs, hint::black_box, thread, time::Instant};

/// Rounds that each contender gets at least.
const MIN_ROUNDS: usize = 7;
/// Rounds are added until a case has taken as long.
const SECONDS: f64 = 4.0;

/// Runs `f` once and returns the seconds it took, without those for dropping its result.
pub fn timed<R>(f: impl FnOnce() -> R) -> f64 {
    let start = Instant::now();
    let result = black_box(f());
    let seconds = start.elapsed().as_secs_f64();
    drop(result);
    seconds
}

/// The best seconds of each contender. They take turns, so that other work on the machine slows
/// all of them. A contender returns the seconds of one run, such as those that [`timed`] returns.
pub fn best_of<const N: usize>(mut contenders: [&mut dyn FnMut() -> f64; N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < MIN_ROUNDS || start.elapsed().as_secs_f64() < SECONDS {
        for (best, run) in best.iter_mut().zip(contenders.iter_mut()) {
            *best = best.min(run());
        }
        rounds += 1;
    }
    best
}

/// The line that names the machine, for the given SIMD level of the library.
pub fn machine(simd: impl fmt::Display) -> String {
    let described = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = described.lines().find(|line| line.starts_with("model name"));
    let cpu = named.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown CPU");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{cpu}, {cores} cores, SIMD level {simd}; one thread, best of at least {MIN_ROUNDS}")
}

/// Rows of text below a heading: as many columns in each. The first is aligned to the left.
pub fn print_table(rows: &[Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..rows[0].len()).filter_map(width).collect();
    for row in rows {
        print!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            print!("  {cell:>width$}");
        }
        println!();
    }
}

/// A row of a table.
pub fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Seconds in milliseconds.
pub fn ms(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

/// How many times faster `after` is than `before`.
pub fn speedup(before: f64, after: f64) -> String {
    format!("{:.1} ×", before / after)
}

/// Floats from -1 to 1 that look random, the same in each run.
pub fn noise(count: usize) -> Vec<f32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
