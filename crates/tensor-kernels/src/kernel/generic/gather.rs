//! Source rows shorter than a piece: a strided gather, or pixels taken apart into planes.
//!
//! Rows that lie at most 4 elements apart are read whole, gaps included, as *windows* of as many
//! pieces as the distance has elements, and every result piece is joined from one shuffle of each
//! piece of its window. Rows further apart are read one piece each, over the row's end, and
//! transposed like a tile whose surplus columns are dropped.
//!
//! Both read past the end of a row, always in the direction in which rows advance, so only the last
//! rows could leave the source block (M1), and these are moved element by element. So are single
//! elements further apart than 4: reading a piece for each was no faster than the element alone
//! from the second-level cache, and gather instructions load no faster either, but many times
//! slower on CPUs that guard them.

use std::marker::PhantomData;

use super::{
    copy,
    register::{PIECE, Registers, Vector},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::Plane, unit::Unit},
    memory::Stores,
};

/// Transposes a plane whose source rows are shorter than a piece.
///
/// # Safety
///
/// M1, M2, M3 for the plane, M4 if the stores are streamed.
#[inline(always)]
pub(super) unsafe fn short_source_rows<R: Registers, L: Unit>(
    isa: R,
    plane: Plane,
    stores: Stores,
) {
    match (plane.src_step / L::WIDTH as isize, plane.nv) {
        // SAFETY: one run of adjacent elements, the caller's contract.
        (1, 1) => unsafe { copy::copy(isa, plane.src, plane.dst, plane.nu * L::WIDTH, stores) },
        // SAFETY: the rows are that far apart, the rest is the caller's contract.
        (2, ..=2) => unsafe { windows::<R, L, 2, false>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows are 3 elements apart.
        (3, ..=3) => unsafe { windows::<R, L, 3, false>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows are 4 elements apart.
        (4, ..=4) => unsafe { windows::<R, L, 4, false>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows descend by 1, one element each.
        (-1, 1) => unsafe { windows::<R, L, 1, true>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows descend by 2, one element each.
        (-2, 1) => unsafe { windows::<R, L, 2, true>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows descend by 3, one element each.
        (-3, 1) => unsafe { windows::<R, L, 3, true>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane; its rows descend by 4, one element each.
        (-4, 1) => unsafe { windows::<R, L, 4, true>(isa, plane, stores) },
        // SAFETY: one element a row, far apart, the rest is the caller's contract.
        (_, 1) => unsafe { portable::gather::<L>(plane.src, plane.src_step, plane.dst, plane.nu) },
        // SAFETY: M1 to M3 for the plane; its rows may lie anywhere.
        _ if Reaching::<L>::IS_SHORT => unsafe { groups::<R, L, Reaching<L>>(isa, plane, stores) },
        // SAFETY: M1 to M3 for the plane: the same contract.
        _ => unsafe { portable::transpose::<L>(plane) },
    }
}

/// By windows, or element by element where windows are not [`Window::FASTER`].
///
/// # Safety
///
/// That of [`short_source_rows`], and the plane's rows are as far apart as the window's.
#[inline(always)]
unsafe fn windows<R: Registers, L: Unit, const APART: usize, const BACK: bool>(
    isa: R,
    plane: Plane,
    stores: Stores,
) {
    if Window::<L, APART, BACK>::FASTER {
        // SAFETY: the caller's contract, word for word.
        unsafe { groups::<R, L, Window<L, APART, BACK>>(isa, plane, stores) };
    } else {
        // SAFETY: M1 to M3 for the plane, whose rows have one element: two of these are a piece.
        unsafe { portable::gather::<L>(plane.src, plane.src_step, plane.dst, plane.nu) };
    }
}

/// A way to transpose as many short rows as a register has elements.
trait Group {
    /// How many of the last rows it must not be given, because it reads past their end.
    fn reach(plane: Plane) -> usize;

    /// Transposes the first `V::PIECES * L::PER_PIECE` rows of the plane.
    ///
    /// # Safety
    ///
    /// That of [`short_source_rows`], and `reach` more rows follow.
    unsafe fn transpose<V: Vector>(token: V::Token, plane: Plane, stores: Stores);
}

/// Whole registers as far as they go, then single pieces, the last one overlapping, then elements.
///
/// # Safety
///
/// That of [`short_source_rows`], and the plane's rows are as far apart as `K` says.
#[inline(always)]
unsafe fn groups<R: Registers, L: Unit, K: Group>(isa: R, plane: Plane, stores: Stores) {
    let rows = plane.nu.saturating_sub(K::reach(plane));
    let tall = R::Full::PIECES * L::PER_PIECE;
    let mut u = 0;
    while u + tall <= rows {
        // SAFETY: rows `u..u + tall` are there and `reach` more follow.
        unsafe { K::transpose::<R::Full>(isa.into(), plane.rows_from::<L>(u), stores) }
        u += tall;
    }
    while u < rows && L::PER_PIECE <= rows {
        u = u.min(rows - L::PER_PIECE);
        // SAFETY: a piece's worth of rows from `u` on is there and `reach` more follow.
        unsafe { K::transpose::<R::Piece>(isa.into(), plane.rows_from::<L>(u), Stores::Plain) }
        u += L::PER_PIECE;
    }
    // SAFETY: M1 to M3 for the rows that are left.
    unsafe { portable::transpose::<L>(plane.rows_from::<L>(u)) }
}

/// Rows `APART` elements apart, read as windows of `APART` pieces; `BACK` if the rows descend,
/// which is for rows of one element.
struct Window<L, const APART: usize, const BACK: bool>(PhantomData<L>);

impl<L: Unit, const APART: usize, const BACK: bool> Window<L, APART, BACK> {
    /// Is a window faster than a load and a store for each of its elements? 16-byte elements took
    /// the same time either way, and 8-byte ones but for two cases, where windows take two thirds
    /// and nine tenths of the time (Zen 5, AVX-512, 16 KiB to 4 MiB). What is not faster is not
    /// compiled: windows were a fifth of this crate's code.
    const FASTER: bool = match L::WIDTH {
        16 => false,
        8 => matches!((APART, BACK), (1, true) | (2, false)),
        _ => true,
    };

    /// The most elements a row may have.
    const COLUMNS: usize = if BACK { 1 } else { APART };

    /// Elements from the start of a window to the first row in it.
    const FIRST: usize = if BACK { L::PER_PIECE * APART - 1 } else { 0 };

    /// The shuffle of piece `k` of a window for column `c`, at `[c][k]`.
    const TABLE: [[[u8; PIECE]; APART]; APART] = {
        let step = if BACK { -(APART as isize) } else { APART as isize };
        let mut table = [[[0; PIECE]; APART]; APART];
        let mut i = 0;
        while i < APART * APART {
            let (c, k) = (i / APART, i % APART);
            let first = if BACK { Self::FIRST } else { c };
            table[c][k] = shuffles::pick(L::WIDTH, first, step, k);
            i += 1;
        }
        table
    };
}

impl<L: Unit, const APART: usize, const BACK: bool> Group for Window<L, APART, BACK> {
    /// The gap behind the last row.
    #[inline(always)]
    fn reach(plane: Plane) -> usize {
        usize::from(plane.nv < APART)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, plane: Plane, stores: Stores) {
        let start = plane.src.wrapping_sub(Self::FIRST * L::WIDTH);
        let mut pieces = [V::splat(token, [0; PIECE]); APART];
        unrolled!(k in 0..APART, 4 => {
            // SAFETY: piece `k` of windows that end at most `reach` rows behind the last one, M1.
            pieces[k] = unsafe {
                V::load_pieces(token, start.wrapping_add(k * PIECE), L::PER_PIECE as isize * plane.src_step)
            };
        });
        unrolled!(c in 0..Self::COLUMNS, 4 => if c < plane.nv {
            let mut column = pieces[0].shuffle(Self::TABLE[c][0]);
            unrolled!(k in 1..APART, 4 => column = column.or(pieces[k].shuffle(Self::TABLE[c][k])));
            // SAFETY: destination row `c` holds a register, M2, M4.
            unsafe { column.put(plane.dst_row(c), stores) }
        });
    }
}

/// Rows anywhere, read one piece each: forward from the row's start if rows ascend, backward from
/// its end if they descend.
struct Reaching<L>(PhantomData<L>);

impl<L: Unit> Reaching<L> {
    /// Can rows of several elements be shorter than a piece?
    const IS_SHORT: bool = L::PER_PIECE > 2;
}

impl<L: Unit> Group for Reaching<L> {
    /// Rows within a piece of the last row's end.
    #[inline(always)]
    fn reach(plane: Plane) -> usize {
        match plane.src_step.unsigned_abs() {
            0 => plane.nu,
            step => (PIECE - plane.nv * L::WIDTH).div_ceil(step),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, plane: Plane, stores: Stores) {
        let surplus = if plane.src_step < 0 { L::PER_PIECE - plane.nv } else { 0 };
        let start = plane.src.wrapping_sub(surplus * L::WIDTH);
        // SAFETY: a piece of each row, which ends at most `reach` rows behind it, M1.
        let columns = unsafe { V::load_columns::<L>(token, start, plane.src_step) };
        unrolled!(i in 0..L::PER_PIECE, 16 => if i >= surplus && i - surplus < plane.nv {
            // SAFETY: a destination row holds a register, M2, M4.
            unsafe { columns[i].put(plane.dst_row(i - surplus), stores) }
        });
    }
}
