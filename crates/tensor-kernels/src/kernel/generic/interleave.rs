//! Destination rows shorter than a piece: planes put together into pixels, or a strided scatter.
//!
//! Where the rows leave no gaps, a few planes are interleaved by shuffles, every result piece
//! joined from one shuffle of each plane. More than 4 planes are transposed like a tile whose rows
//! are stored whole, one after the other: what is written past a row's end is overwritten by the
//! next rows, and the last ones are moved element by element. Where there are gaps, which nobody
//! may write, it is always element by element.

use std::marker::PhantomData;

use super::{
    copy,
    register::{PIECE, Registers, Vector, transpose_pieces},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::Plane, unit::Unit},
    memory::Stores,
};

/// Transposes a plane whose destination rows are shorter than a piece.
///
/// # Safety
///
/// M1, M2, M3 for the plane.
#[inline(always)]
pub(super) unsafe fn short_destination_rows<R: Registers, L: Unit>(isa: R, plane: Plane) {
    let dense = plane.dst_step == (plane.nu * L::WIDTH) as isize;
    match (dense, plane.nu) {
        // SAFETY: one run of adjacent elements, the caller's contract.
        (true, 1) => unsafe {
            copy::copy(isa, plane.src, plane.dst, plane.nv * L::WIDTH, Stores::Plain);
        },
        // SAFETY: so many planes and no gaps, the rest is the caller's contract.
        (true, 2) => unsafe { interleave::<R, L, 2>(isa, plane) },
        // SAFETY: M1 to M3 for the plane; it has 3 source rows and no gaps.
        (true, 3) => unsafe { interleave::<R, L, 3>(isa, plane) },
        // SAFETY: M1 to M3 for the plane; it has 4 source rows and no gaps.
        (true, 4) => unsafe { interleave::<R, L, 4>(isa, plane) },
        // SAFETY: no gaps, the rest is the caller's contract.
        (true, _) if Weave::<L, 5>::IS_SHORT => unsafe { overwriting::<R, L>(isa, plane) },
        // SAFETY: M1 to M3 for the plane: the same contract.
        _ => unsafe { portable::transpose::<L>(plane) },
    }
}

/// Whole registers of pixels as far as they go, then pieces, the last one overlapping, then
/// elements.
///
/// # Safety
///
/// That of [`short_destination_rows`], `nu` is `PLANES` and the destination has no gaps.
#[inline(always)]
unsafe fn interleave<R: Registers, L: Unit, const PLANES: usize>(isa: R, plane: Plane) {
    if !Weave::<L, PLANES>::IS_SHORT {
        // SAFETY: M1 to M3 for the plane: the same contract.
        return unsafe { portable::transpose::<L>(plane) };
    }
    let wide = R::Full::PIECES * L::PER_PIECE;
    let mut v = 0;
    while v + wide <= plane.nv {
        // SAFETY: columns `v..v + wide` are there.
        unsafe { pixels::<R::Full, L, PLANES>(isa.into(), plane.columns_from::<L>(v)) }
        v += wide;
    }
    while v < plane.nv && L::PER_PIECE <= plane.nv {
        v = v.min(plane.nv - L::PER_PIECE);
        // SAFETY: a piece's worth of columns from `v` on is there.
        unsafe { pixels::<R::Piece, L, PLANES>(isa.into(), plane.columns_from::<L>(v)) }
        v += L::PER_PIECE;
    }
    // SAFETY: M1 to M3 for the columns that are left.
    unsafe { portable::transpose::<L>(plane.columns_from::<L>(v)) }
}

/// The first `V::PIECES * L::PER_PIECE` pixels of a plane.
///
/// # Safety
///
/// That of [`interleave`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn pixels<V: Vector, L: Unit, const PLANES: usize>(token: V::Token, plane: Plane) {
    let mut planes = [V::splat(token, [0; PIECE]); PLANES];
    unrolled!(c in 0..PLANES, 4 => {
        // SAFETY: source row `c` holds a register, M1.
        planes[c] = unsafe { V::load(token, plane.rows_from::<L>(c).src) };
    });
    unrolled!(k in 0..PLANES, 4 => {
        let mut piece = planes[0].shuffle(Weave::<L, PLANES>::TABLE[k][0]);
        unrolled!(c in 1..PLANES, 4 => {
            piece = piece.or(planes[c].shuffle(Weave::<L, PLANES>::TABLE[k][c]));
        });
        let dst = plane.dst.wrapping_add(k * PIECE);
        // SAFETY: piece `k` of every group of pixels, which lie side by side, M2.
        unsafe { piece.store_pieces(dst, (PLANES * PIECE) as isize) }
    });
}

/// The tables of [`pixels`].
struct Weave<L, const PLANES: usize>(PhantomData<L>);

impl<L: Unit, const PLANES: usize> Weave<L, PLANES> {
    /// Is a destination row of so many planes shorter than a piece?
    const IS_SHORT: bool = PLANES * L::WIDTH < PIECE;

    /// The shuffle of plane `c` for piece `k`, at `[k][c]`.
    const TABLE: [[[u8; PIECE]; PLANES]; PLANES] = {
        let mut table = [[[0; PIECE]; PLANES]; PLANES];
        let mut i = 0;
        while i < PLANES * PLANES {
            let (k, c) = (i / PLANES, i % PLANES);
            table[k][c] = shuffles::weave(L::WIDTH, PLANES, c, k);
            i += 1;
        }
        table
    };
}

/// Rows of a piece, of which the next row overwrites what exceeds `nu` elements.
///
/// # Safety
///
/// That of [`short_destination_rows`], and the destination has no gaps.
#[inline(always)]
unsafe fn overwriting<R: Registers, L: Unit>(isa: R, plane: Plane) {
    let row = plane.nu * L::WIDTH;
    let columns = plane.nv.saturating_sub((PIECE - row).div_ceil(row));
    let mut v = 0;
    while v < columns && L::PER_PIECE <= columns {
        v = v.min(columns - L::PER_PIECE);
        // SAFETY: columns from `v` on are there and a piece from each row's start is inside.
        unsafe { piece_rows::<R::Piece, L>(isa.into(), plane.columns_from::<L>(v)) }
        v += L::PER_PIECE;
    }
    // SAFETY: M1 to M3 for the columns that are left.
    unsafe { portable::transpose::<L>(plane.columns_from::<L>(v)) }
}

/// A piece's worth of destination rows, in ascending order, a piece each.
///
/// # Safety
///
/// That of [`overwriting`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn piece_rows<V: Vector, L: Unit>(token: V::Token, plane: Plane) {
    let mut rows = [V::splat(token, [0; PIECE]); PIECE];
    unrolled!(r in 0..L::PER_PIECE, 16 => {
        let row = plane.rows_from::<L>(r.min(plane.nu - 1));
        // SAFETY: every source row holds a piece, M1; the surplus ones repeat the last.
        rows[r] = unsafe { V::load(token, row.src) };
    });
    let columns = transpose_pieces::<V, L>(rows);
    unrolled!(i in 0..L::PER_PIECE, 16 => {
        // SAFETY: inside the destination, M2, in ascending order.
        unsafe { columns[i].store(plane.dst_row(i)) }
    });
}
