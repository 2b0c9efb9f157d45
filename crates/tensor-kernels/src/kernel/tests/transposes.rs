//! Transposes: plain, streamed and stitched, of any extents and strides.

use super::*;

/// Every pair of extents with one choice of strides.
fn check_transposes<L: Unit>(strides: impl Fn(usize, usize) -> (isize, isize)) {
    for nu in extents::<L>() {
        for nv in extents::<L>() {
            let (src_stride, dst_stride) = strides(nu, nv);
            let stores = Stores::Plain;
            let skew = (nu + nv) % 2;
            check::<L>(Job::Transpose { src_stride, dst_stride, nu, nv, stores }, skew);
            for residency in [Residency::Cached, Residency::Memory] {
                check::<L>(Job::TransposeAt { src_stride, dst_stride, nu, nv, residency }, skew);
            }
        }
    }
}

fn check_transposes_of_all_widths(strides: impl Fn(usize, usize) -> (isize, isize) + Copy) {
    check_transposes::<u8>(strides);
    check_transposes::<u16>(strides);
    check_transposes::<u32>(strides);
    check_transposes::<u64>(strides);
    check_transposes::<u128>(strides);
}

#[test]
fn transposes_without_gaps() {
    check_transposes_of_all_widths(|nu, nv| (nv as isize, nu as isize));
}

#[test]
fn transposes_with_gaps_that_stay_untouched() {
    check_transposes_of_all_widths(|nu, nv| (nv as isize + 5, nu as isize + 3));
}

#[test]
fn transposes_to_rows_far_apart_whose_lines_are_prefetched() {
    fn check_width<L: Unit>() {
        let extents = [(64, 9), (65, 16), (129, 17), (200, 127), (67, 130)];
        for (at, (nu, nv)) in extents.into_iter().enumerate() {
            let (src_stride, residency) = (nv as isize, Residency::Cached);
            let dst_stride = (nu.max(3077 / L::WIDTH) + at) as isize;
            check::<L>(Job::TransposeAt { src_stride, dst_stride, nu, nv, residency }, at);
        }
    }
    check_width::<u8>();
    check_width::<u16>();
    check_width::<u32>();
    check_width::<u64>();
    check_width::<u128>();
}

#[test]
fn transposes_upside_down() {
    check_transposes_of_all_widths(|nu, nv| (-(nv as isize), -(nu as isize) - 1));
}

#[test]
fn transposes_of_overlapping_or_repeated_source_rows() {
    for stride in [-1, 0, 1, 2, 3] {
        check_transposes_of_all_widths(move |nu, _| (stride, nu as isize));
    }
}

#[test]
fn transposes_take_some_channels_of_each_pixel() {
    for (channels, taken) in [(4, 3), (4, 1), (3, 2), (6, 5), (-4, 3), (-4, 4), (-3, 3), (-2, 2)] {
        for nu in extents::<u8>() {
            let job = Job::Transpose {
                src_stride: channels,
                dst_stride: nu as isize,
                nu,
                nv: taken,
                stores: Stores::Plain,
            };
            check_widths(job);
        }
    }
}

#[test]
fn transposes_write_mirrored_pixels() {
    for channels in 2..=6 {
        for nv in extents::<u8>() {
            let job = Job::Transpose {
                src_stride: nv as isize + 1,
                dst_stride: -(channels as isize),
                nu: channels,
                nv,
                stores: Stores::Plain,
            };
            check_widths(job);
        }
    }
}

#[test]
fn transposes_longer_than_a_strip() {
    let job = |nu: usize, nv: usize| Job::Transpose {
        src_stride: nv as isize,
        dst_stride: nu as isize,
        nu,
        nv,
        stores: Stores::Plain,
    };
    check::<u8>(job(67, 4096 + 5), 0);
    check::<u32>(job(18, 2048 + 5), 0);
    check::<u128>(job(5, 257), 0);
}

/// Streamed transposes of whole lines and more, with and without a line between rows, and of rows
/// that start at different offsets in a line; aligned, off by an element, and off by part of one.
fn check_streamed<L: Unit>() {
    let per_line = CACHE_LINE / L::WIDTH;
    for nv in extents::<L>() {
        for (nu, gap) in [(1, 0), (per_line, 0), (2 * per_line, 1), (3 * per_line + 1, 0)] {
            let lines = nu.next_multiple_of(per_line) + gap * per_line;
            let unlike = nu + gap;
            for (src_stride, dst_stride) in [
                (nv as isize, lines),
                (-(nv as isize) - 1, lines),
                (-(nv as isize), lines),
                (3, lines),
                (nv as isize, unlike),
            ] {
                let (dst_stride, stores) = (dst_stride as isize, Stores::NonTemporal);
                for skew in [0, L::WIDTH, L::WIDTH.div_ceil(2)] {
                    check::<L>(Job::Transpose { src_stride, dst_stride, nu, nv, stores }, skew);
                }
            }
        }
    }
}

#[test]
fn streamed_transposes_write_whole_lines_and_the_rest() {
    check_streamed::<u8>();
    check_streamed::<u16>();
    check_streamed::<u32>();
    check_streamed::<u64>();
    check_streamed::<u128>();
}

/// Stitched transposes, with rows that start at every unit of a line, or at every word.
fn check_stitched<L: Unit>() {
    let per_line = CACHE_LINE / L::WIDTH;
    for nv in extents::<L>().into_iter().filter(|&nv| nv > usize::from(L::WIDTH < 16)) {
        for nu in [2 * per_line, 5 * per_line] {
            for dst_stride in [nu, nu + 1, nu + per_line, nu + 7].map(|s| s as isize) {
                for src_stride in [nv as isize, -(nv as isize) - 1, 3, nv as isize + 1] {
                    for skew in [0, 4, 7, 32, 61] {
                        // Units of more than 4 bytes may start at any word.
                        let skew = skew / L::WIDTH.min(4) * L::WIDTH.min(4);
                        check::<L>(Job::Stitch { src_stride, dst_stride, nu, nv }, skew);
                    }
                }
            }
        }
    }
}

#[test]
fn stitched_transposes_write_lines_from_any_unit() {
    check_stitched::<u8>();
    check_stitched::<u16>();
    check_stitched::<u32>();
    check_stitched::<u64>();
    check_stitched::<u128>();
}
