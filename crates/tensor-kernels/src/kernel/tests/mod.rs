//! Every kernel at every level, compared with a few lines of plain indexing.
//!
//! A source is allocated to the byte, so that an address sanitizer detects any read beyond it. A
//! destination lies between canary bytes, gaps included, and all of that memory is compared.
//! `TENSOR_SIMD` restricts the tests to one level.

mod blocks;
#[cfg(feature = "elementwise")]
mod computed_rows;
#[cfg(feature = "in-place")]
mod exchanged;
mod flushed;
mod indexed;
mod nested_runs;
mod picked;
mod picked_copy;
mod shuffled;
mod transposes;

use std::fmt::Debug;

use super::{Isa, Kernel, Residency, Unit, dispatch, short_fills, short_runs};
use crate::{
    exec::SimdLevel,
    memory::{CACHE_LINE, Stores},
    nest::Loop,
};

/// A call of a kernel; strides and steps in elements.
#[derive(Clone, Copy, Debug)]
enum Job {
    Run {
        len: usize,
        stores: Stores,
    },
    /// More than a cache line.
    RunByLines {
        len: usize,
    },
    Fill {
        len: usize,
        stores: Stores,
    },
    Gather {
        step: isize,
        len: usize,
        stores: Stores,
    },
    Scatter {
        step: isize,
        len: usize,
    },
    TransposeAt {
        src_stride: isize,
        dst_stride: isize,
        nu: usize,
        nv: usize,
        residency: Residency,
    },
    Transpose {
        src_stride: isize,
        dst_stride: isize,
        nu: usize,
        nv: usize,
        stores: Stores,
    },
    /// `count` short runs.
    Runs {
        src_stride: isize,
        dst_stride: isize,
        len: usize,
        count: usize,
    },
    /// `count` short runs, each filled with one element.
    Fills {
        src_stride: isize,
        dst_stride: isize,
        len: usize,
        count: usize,
    },
    /// A stitched transpose in two calls: one line of columns, then the others.
    Stitch {
        src_stride: isize,
        dst_stride: isize,
        nu: usize,
        nv: usize,
    },
    /// Rows without gaps at the source, `at_once` elements of each at a time.
    Flush {
        dst_stride: isize,
        len: usize,
        rows: usize,
        at_once: usize,
    },
}

impl Job {
    /// The specification: source and destination offset of every element.
    fn moves(self) -> Vec<(isize, isize)> {
        let line = |len: usize, src: isize, dst: isize| -> Vec<_> {
            (0..len as isize).map(|i| (i * src, i * dst)).collect()
        };
        match self {
            Self::Run { len, .. } | Self::RunByLines { len } => line(len, 1, 1),
            Self::Fill { len, .. } => line(len, 0, 1),
            Self::Gather { step, len, .. } => line(len, step, 1),
            Self::Scatter { step, len } => line(len, 1, step),
            Self::Runs { src_stride, dst_stride, len, count } => (0..count as isize)
                .flat_map(|r| (0..len as isize).map(move |i| (r, i)))
                .map(|(r, i)| (r * src_stride + i, r * dst_stride + i))
                .collect(),
            Self::Fills { src_stride, dst_stride, len, count } => (0..count as isize)
                .flat_map(|r| (0..len as isize).map(move |i| (r, i)))
                .map(|(r, i)| (r * src_stride, r * dst_stride + i))
                .collect(),
            Self::Flush { dst_stride, len, rows, .. } => (0..rows as isize)
                .flat_map(|r| (0..len as isize).map(move |i| (r, i)))
                .map(|(r, i)| (r * len as isize + i, r * dst_stride + i))
                .collect(),
            Self::Stitch { src_stride, dst_stride, nu, nv }
            | Self::TransposeAt { src_stride, dst_stride, nu, nv, .. }
            | Self::Transpose { src_stride, dst_stride, nu, nv, .. } => (0..nu as isize)
                .flat_map(|u| (0..nv as isize).map(move |v| (u, v)))
                .map(|(u, v)| (u * src_stride + v, v * dst_stride + u))
                .collect(),
        }
    }
}

/// A job with its memory.
struct Call<L> {
    job: Job,
    src: *const L,
    dst: *mut L,
}

impl<L: Unit> Kernel for Call<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (src, dst) = (self.src, self.dst);
        match self.job {
            // SAFETY: `check` allocates what the job's moves reach, M1, M2, M3.
            Job::Run { len, stores } => unsafe { isa.run(src, dst, len, stores) },
            // SAFETY: as above.
            Job::RunByLines { len } => unsafe {
                isa.run_by_lines(src.cast(), dst.cast(), len * L::WIDTH);
            },
            Job::Fill { len, stores } => {
                // SAFETY: as above; the job reads offset 0.
                let value = unsafe { src.read_unaligned() };
                // SAFETY: as above.
                unsafe { isa.fill(value, dst, len, stores) }
            }
            // SAFETY: as above.
            Job::Gather { step, len, stores } => unsafe {
                isa.gather_run(src, step, dst, len, stores);
            },
            // SAFETY: as above.
            Job::Scatter { step, len } => unsafe { isa.scatter_run(src, dst, step, len) },
            Job::Transpose { src_stride, dst_stride, nu, nv, stores: Stores::NonTemporal } => {
                // SAFETY: as above.
                unsafe { isa.transpose_stream((src, src_stride), (dst, dst_stride), (nu, nv)) }
            }
            Job::Transpose { src_stride, dst_stride, nu, nv, stores: _ } => {
                // SAFETY: as above.
                unsafe {
                    isa.transpose(
                        (src, src_stride),
                        (dst, dst_stride),
                        (nu, nv),
                        Residency::FirstLevel,
                    );
                }
            }
            Job::TransposeAt { src_stride, dst_stride, nu, nv, residency } => {
                // SAFETY: as above.
                unsafe {
                    isa.transpose((src, src_stride), (dst, dst_stride), (nu, nv), residency);
                }
            }
            Job::Stitch { src_stride, dst_stride, nu, nv } if I::STITCHES_LINES => {
                let mut pending = vec![Line([0xEE; CACHE_LINE]); nv];
                let pending: *mut u8 = pending.as_mut_ptr().cast();
                let line = CACHE_LINE / L::WIDTH;
                // Columns are stitched if a line of them follows, where rows are short.
                let last = if nv < 16 / L::WIDTH { line } else { 0 };
                let at =
                    |u: usize| (src.wrapping_offset(u as isize * src_stride), dst.wrapping_add(u));
                for (from, to) in [(0, line), (line, nu - last)] {
                    let (src, dst) = at(from);
                    // SAFETY: as above; `pending` has a line for each row, which the call before
                    // has written.
                    unsafe {
                        isa.transpose_stitched(
                            (src, src_stride),
                            (dst, dst_stride),
                            (to - from, nv),
                            pending,
                            from == 0,
                        );
                    }
                }
                let (src, dst) = at(nu - last);
                let step = dst_stride * L::WIDTH as isize;
                // SAFETY: as above.
                unsafe { isa.finish_stitched(dst.cast(), step, nv, pending) }
                // SAFETY: as above.
                unsafe {
                    isa.transpose(
                        (src, src_stride),
                        (dst, dst_stride),
                        (last, nv),
                        Residency::FirstLevel,
                    );
                }
            }
            // SAFETY: as above.
            Job::Stitch { src_stride, dst_stride, nu, nv } => unsafe {
                isa.transpose(
                    (src, src_stride),
                    (dst, dst_stride),
                    (nu, nv),
                    Residency::FirstLevel,
                );
            },
            Job::Runs { src_stride, dst_stride, len, count } => {
                let runs = Loop { len: count, strides: [dst_stride, src_stride] };
                let (loops, bytes) = ([runs.in_bytes(L::WIDTH), Loop::ONCE], len * L::WIDTH);
                // SAFETY: as above.
                unsafe {
                    short_runs::copy_runs(
                        isa,
                        src.cast(),
                        dst.cast(),
                        bytes,
                        loops,
                        Residency::Cached,
                    );
                }
            }
            Job::Fills { src_stride, dst_stride, len, count } => {
                let iterations = Loop { len: count, strides: [dst_stride, src_stride] };
                // SAFETY: as above.
                unsafe { short_fills::fill_runs(src, dst, len, iterations) }
            }
            Job::Flush { dst_stride, len, rows, at_once } => {
                flushed::flush::<_, L>(
                    isa,
                    (src.cast(), dst.cast()),
                    dst_stride * L::WIDTH as isize,
                    [len * L::WIDTH, rows, at_once * L::WIDTH],
                );
            }
        }
        isa.fence();
    }
}

#[repr(align(64))]
#[derive(Clone)]
struct Line(#[allow(dead_code, reason = "its bytes are used, through a pointer")] [u8; CACHE_LINE]);

/// The levels under test.
fn levels() -> Vec<SimdLevel> {
    match std::env::var_os("TENSOR_SIMD") {
        Some(_) => vec![SimdLevel::from_env().expect("TENSOR_SIMD names a level of this CPU")],
        None => SimdLevel::available(),
    }
}

/// Bytes that differ from those near them.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The lowest and the highest of some offsets; 0 if there are none.
fn ends(offsets: impl Iterator<Item = isize> + Clone) -> (isize, isize) {
    (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0))
}

/// Runs `job` on every level, its memory `skew` bytes off alignment, and compares all bytes.
fn check<L: Unit>(job: Job, skew: usize) {
    check_moves::<L>(&job.moves(), skew, &job, |level, src, dst| {
        dispatch(level, Call { job, src, dst });
    });
}

/// Runs a case on every level, which moves elements from and to these offsets, its memory `skew`
/// bytes off alignment. Compares all bytes: the source is allocated to the byte, and the
/// destination lies between canary bytes.
fn check_moves<L: Unit>(
    moves: &[(isize, isize)],
    skew: usize,
    case: &dyn Debug,
    run: impl Fn(SimdLevel, *const L, *mut L),
) {
    let (src_low, src_high) = ends(moves.iter().map(|m| m.0));
    let (dst_low, dst_high) = ends(moves.iter().map(|m| m.1));
    let src_bytes = if moves.is_empty() { 0 } else { (src_high - src_low + 1) as usize * L::WIDTH };
    let src = noise(skew + src_bytes);
    let margin = 2 * CACHE_LINE;
    let mut field = vec![0xA5_u8; (dst_high - dst_low + 1) as usize * L::WIDTH + 3 * margin];
    let low = margin + field[margin..].as_ptr().align_offset(CACHE_LINE) + skew;

    let src_at = |offset: isize| skew + (offset - src_low) as usize * L::WIDTH;
    let dst_at = |offset: isize| low + (offset - dst_low) as usize * L::WIDTH;
    let mut expected = field.clone();
    for &(from, to) in moves {
        expected[dst_at(to)..][..L::WIDTH].copy_from_slice(&src[src_at(from)..][..L::WIDTH]);
    }
    for level in levels() {
        field.fill(0xA5);
        let src = src.as_ptr().wrapping_add(src_at(0)).cast::<L>();
        let dst = field.as_mut_ptr().wrapping_add(dst_at(0)).cast::<L>();
        run(level, src, dst);
        assert!(field == expected, "{level}, {} bytes, {case:?}, {skew} bytes off", L::WIDTH);
    }
}

/// Runs `job` for every width, aligned and not aligned.
fn check_widths(job: Job) {
    for skew in [0, 1] {
        check::<u8>(job, skew);
        check::<u16>(job, skew);
        check::<u32>(job, skew);
        check::<u64>(job, skew);
        check::<u128>(job, skew);
    }
}

/// Lengths around multiples of lanes, registers, lines and unrolled loops.
const LENGTHS: [usize; 25] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 79, 127, 128, 129, 200, 1100,
];

const STORES: [Stores; 3] = [Stores::Plain, Stores::Narrow, Stores::NonTemporal];

#[test]
fn runs_are_copied() {
    for len in LENGTHS {
        for stores in STORES {
            check_widths(Job::Run { len, stores });
        }
    }
}

#[test]
fn runs_are_copied_by_lines() {
    for len in [65, 66, 100, 127, 128, 129, 191, 192, 193, 255, 256, 257, 512] {
        for skew in [0, 1, 16, 63] {
            check::<u8>(Job::RunByLines { len }, skew);
        }
    }
}

#[test]
fn long_streamed_runs_are_copied_page_by_page() {
    for len in [16_384, 20_011, 50_000] {
        for skew in [0, 1, 63] {
            check::<u8>(Job::Run { len, stores: Stores::NonTemporal }, skew);
        }
    }
}

#[test]
fn fills_repeat_the_value() {
    for len in LENGTHS.into_iter().filter(|&len| len > 0) {
        for stores in STORES {
            check_widths(Job::Fill { len, stores });
        }
    }
}

#[test]
fn gathers_collect_any_step() {
    for len in LENGTHS.into_iter().filter(|&len| len <= 200) {
        for step in (-9..=9).chain([-70, 17, 64]) {
            for stores in STORES {
                check_widths(Job::Gather { step, len, stores });
            }
        }
    }
}

#[test]
fn scatters_leave_the_gaps_alone() {
    for len in LENGTHS.into_iter().filter(|&len| len <= 200) {
        for step in [-70, -3, -2, -1, 1, 2, 3, 4, 5, 17] {
            check_widths(Job::Scatter { step, len });
        }
    }
}

#[test]
fn short_runs_leave_the_gaps_alone() {
    for len in [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 40, 65] {
        for count in [0, 1, 2, 7] {
            for gap in [0, 1, 5] {
                let (src_stride, dst_stride) = (len as isize + gap, len as isize + 2 * gap);
                check_widths(Job::Runs { src_stride, dst_stride, len, count });
                check_widths(Job::Runs { src_stride: -src_stride, dst_stride, len, count });
            }
        }
    }
}

#[test]
fn short_fills_leave_the_gaps_alone() {
    for len in [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 40, 64, 65] {
        for count in [0, 1, 2, 7] {
            for gap in [0, 1, 5] {
                let dst_stride = len as isize + 2 * gap;
                for src_stride in [gap, -1 - gap] {
                    check_widths(Job::Fills { src_stride, dst_stride, len, count });
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "is not available on this CPU")]
fn a_level_of_another_cpu_is_never_entered() {
    let missing = SimdLevel::ALL.into_iter().find(|level| !level.is_available());
    let call = Call::<u8> {
        job: Job::Run { len: 0, stores: Stores::Plain },
        src: [].as_ptr(),
        dst: [].as_mut_ptr(),
    };
    dispatch(missing.expect("no CPU has the levels of two architectures"), call);
}

/// Extents of the transpose tests for a width: around multiples of lanes and registers, up to two
/// tiles and 3 elements.
fn extents<L: Unit>() -> Vec<usize> {
    let lane = 16 / L::WIDTH;
    let around = |n: usize| [n.saturating_sub(1), n, n + 1];
    let mut extents: Vec<_> = (0..=8).chain([12]).collect();
    extents.extend([lane, 2 * lane, 4 * lane, 8 * lane].into_iter().flat_map(around));
    extents.push(8 * lane + 3);
    extents.sort_unstable();
    extents.dedup();
    extents
}
