//! What a transpose does with the registers that it has read, before they are stored: nothing, or
//! an operation with other operands.
//!
//! The operation is chosen once per tile: the branch is the same for all tiles, and a tile takes as
//! long as several branches.
//!
//! # Tried and dropped
//! A kernel for each operation, whose function of elements is called for each element of a register
//! in an unrolled loop: the compiler makes one instruction of a sum, but hundreds of a maximum.

#[cfg(feature = "elementwise")]
use super::unroll::unrolled;
use super::{
    register::{Computes, LANE_BYTES},
    source::Source,
};
#[cfg(feature = "elementwise")]
use crate::kernel::register_op::{Finish, Finishing};
use crate::kernel::unit::Unit;

/// What happens between the shuffles and the stores of a transpose.
pub(super) trait Epilogue: Copy {
    /// Is the source prefetched, if it is read from memory?
    const PREFETCHES: bool = true;

    /// Reads the registers of the tile at `src`, and returns those to store, of which the first
    /// [`Unit::PER_LANE`] are used. Register `i` will be stored at `at(i)`: as it is, or lane by
    /// lane, `lane_step` bytes apart.
    ///
    /// # Safety
    ///
    /// M1 for the elements of the tile, F1 for those of its registers.
    unsafe fn load<V: Computes, L: Unit>(
        self,
        token: V::Token,
        tile: (impl Source, *const u8),
        at: impl Fn(usize) -> *mut u8 + Copy,
        lane_step: Option<isize>,
    ) -> [V; LANE_BYTES];
}

/// Nothing: a copy.
#[derive(Clone, Copy)]
pub(super) struct Keep;

impl Epilogue for Keep {
    #[inline(always)]
    unsafe fn load<V: Computes, L: Unit>(
        self,
        token: V::Token,
        (source, src): (impl Source, *const u8),
        _at: impl Fn(usize) -> *mut u8 + Copy,
        _lane_step: Option<isize>,
    ) -> [V; LANE_BYTES] {
        // SAFETY: this function's contract.
        unsafe { source.load::<V, L>(token, src) }
    }
}

/// The registers of results of an operation: `each!` with the registers that it needs, of the
/// transposed element and of other operands by their numbers, and what it makes of them.
#[cfg(feature = "elementwise")]
macro_rules! by_operation {
    ($finish:expr, $each:ident, $V:ident, $L:ident, $token:ident) => {
        match $finish {
            Finish::Neg => $each!(t => t.neg::<$L>()),
            Finish::Abs => $each!(t => t.abs::<$L>()),
            Finish::Sqrt => $each!(t => t.sqrt::<$L>()),
            Finish::Relu => $each!(t => t.relu::<$L>()),
            Finish::Square => $each!(t => t.mul::<$L>(t)),
            Finish::Recip => $each!(t => $V::one::<$L>($token).div::<$L>(t)),
            Finish::Add => $each!(t, x: 0 => t.add::<$L>(x)),
            Finish::Sub => $each!(t, x: 0 => t.sub::<$L>(x)),
            Finish::SubFrom => $each!(t, x: 0 => x.sub::<$L>(t)),
            Finish::Mul => $each!(t, x: 0 => t.mul::<$L>(x)),
            Finish::Div => $each!(t, x: 0 => t.div::<$L>(x)),
            Finish::DivInto => $each!(t, x: 0 => x.div::<$L>(t)),
            Finish::MulAdd => $each!(t, x: 0, y: 1 => t.mul_add::<$L>(x, y)),
            Finish::AddProduct => $each!(t, x: 0, y: 1 => x.mul_add::<$L>(y, t)),
        }
    };
}

#[cfg(feature = "elementwise")]
impl Epilogue for &Finishing {
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load<V: Computes, L: Unit>(
        self,
        token: V::Token,
        (source, src): (impl Source, *const u8),
        at: impl Fn(usize) -> *mut u8 + Copy,
        lane_step: Option<isize>,
    ) -> [V; LANE_BYTES] {
        // SAFETY: M1 holds for the elements of the tile.
        let mut registers = unsafe { source.load::<V, L>(token, src) };
        /// Makes each register a value of itself and those of the other operands, which are read
        /// one by one: there are few registers.
        macro_rules! each {
            ($t:ident $(, $other:ident: $k:literal)* => $value:expr) => {
                unrolled!(i in 0..L::PER_LANE, 16 => {
                    let $t = registers[i];
                    // SAFETY: F1 holds for the elements of this register.
                    $(let $other: V = unsafe { load_other(token, self, $k, at(i), lane_step) };)*
                    registers[i] = $value;
                })
            };
        }
        by_operation!(self.finish, each, V, L, token);
        registers
    }
}

/// An operation of which other operands are transposed too. An [`Epilogue`] of its own: it needs
/// more registers, and sums with one transposed operand would take up to a third longer.
#[cfg(feature = "elementwise")]
#[derive(Clone, Copy)]
pub(super) struct Several<'f>(pub(super) &'f Finishing);

#[cfg(feature = "elementwise")]
impl Epilogue for Several<'_> {
    /// Two transposed inputs of 35 to 48 MB take 1.2 times as long (Zen 4).
    const PREFETCHES: bool = false;

    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load<V: Computes, L: Unit>(
        self,
        token: V::Token,
        (source, src): (impl Source, *const u8),
        at: impl Fn(usize) -> *mut u8 + Copy,
        lane_step: Option<isize>,
    ) -> [V; LANE_BYTES] {
        let Self(finishing) = self;
        // SAFETY: M1 holds for the elements of the tile.
        let mut registers = unsafe { source.load::<V, L>(token, src) };
        let (mut others, tile) = ([registers; 2], (source, src));
        // SAFETY: this function's contract.
        unsafe { load_others::<V, L>(finishing, token, (0, &mut others[0]), tile, at, lane_step) };
        if finishing.finish.others() > 1 {
            let y = (1, &mut others[1]);
            // SAFETY: this function's contract.
            unsafe { load_others::<V, L>(finishing, token, y, tile, at, lane_step) };
        }
        macro_rules! each {
            ($t:ident $(, $other:ident: $k:literal)* => $value:expr) => {
                unrolled!(i in 0..L::PER_LANE, 16 => {
                    let $t = registers[i];
                    $(let $other = others[$k][i];)*
                    registers[i] = $value;
                })
            };
        }
        by_operation!(finishing.finish, each, V, L, token);
        registers
    }
}

/// Another operand's registers for those of a tile: transposed too, or as they are.
///
/// # Safety
///
/// That of [`Epilogue::load`].
#[cfg(feature = "elementwise")]
#[inline(always)]
unsafe fn load_others<V: Computes, L: Unit>(
    finishing: &Finishing,
    token: V::Token,
    (k, registers): (usize, &mut [V; LANE_BYTES]),
    (source, src): (impl Source, *const u8),
    at: impl Fn(usize) -> *mut u8,
    lane_step: Option<isize>,
) {
    if finishing.others[k].is_transposed {
        // SAFETY: F1 holds for the elements of the tile.
        *registers = unsafe { source.load::<V, L>(token, finishing.transposed(k, src)) };
        return;
    }
    unrolled!(i in 0..L::PER_LANE, 16 => {
        // SAFETY: F1 holds for the elements of this register.
        registers[i] = unsafe { load_other(token, finishing, k, at(i), lane_step) };
    });
}

/// The results at `at` for a register of adjacent elements, none of other operands transposed.
///
/// # Safety
///
/// F1 for these elements.
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn adjacent<V: Computes, L: Unit>(
    finishing: &Finishing,
    token: V::Token,
    t: V,
    at: *mut u8,
) -> V {
    // A macro, because a closure might not be inlined.
    macro_rules! each {
        ($t:ident $(, $other:ident: $k:literal)* => $value:expr) => {{
            let $t = t;
            // SAFETY: F1 holds for these elements.
            $(let $other: V = unsafe { load_other(token, finishing, $k, at, None) };)*
            $value
        }};
    }
    by_operation!(finishing.finish, each, V, L, token)
}

/// The elements of another operand for a register of results at `at`.
///
/// # Safety
///
/// F1 for these elements.
#[cfg(feature = "elementwise")]
#[inline(always)]
unsafe fn load_other<V: Computes>(
    token: V::Token,
    finishing: &Finishing,
    k: usize,
    at: *mut u8,
    lane_step: Option<isize>,
) -> V {
    let src = finishing.other(k, at);
    match lane_step {
        // SAFETY: F1 holds for adjacent results; a value is repeated for a register.
        None => unsafe { V::load(token, src) },
        // SAFETY: F1 holds for the results of each lane; those of a value lie at its first lane.
        Some(step) => unsafe { V::load_lanes(token, src, finishing.step(k, step)) },
    }
}
