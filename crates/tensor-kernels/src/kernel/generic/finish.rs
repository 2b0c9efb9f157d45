//! What happens to the registers of a transpose before they are stored: nothing, or an operation
//! with other operands.
//!
//! The operation is chosen once per tile: the branch is the same for all tiles, and a tile takes as
//! long as several branches.
//!
//! # Tried and dropped
//! A kernel for each operation, whose function of elements is called for each element of a register
//! in an unrolled loop: the compiler makes one instruction of a sum, but hundreds of a maximum.

use super::register::{Computes, LANE_BYTES};
#[cfg(feature = "elementwise")]
use super::unroll::unrolled;
#[cfg(feature = "elementwise")]
use crate::kernel::register_op::{Finish, Finishing};
use crate::kernel::unit::Unit;

/// What happens between the shuffles and the stores of a transpose.
pub(super) trait Epilogue: Copy {
    /// The registers to store, of which the first [`Unit::PER_LANE`] are used. Register `i` will be
    /// stored at `at(i)`: as it is, or lane by lane, `lane_step` bytes apart.
    ///
    /// # Safety
    ///
    /// F1 for the elements of these registers.
    unsafe fn apply<V: Computes, L: Unit>(
        self,
        token: V::Token,
        registers: [V; LANE_BYTES],
        at: impl Fn(usize) -> *mut u8,
        lane_step: Option<isize>,
    ) -> [V; LANE_BYTES];
}

/// Nothing: a copy.
#[derive(Clone, Copy)]
pub(super) struct Keep;

impl Epilogue for Keep {
    #[inline(always)]
    unsafe fn apply<V: Computes, L: Unit>(
        self,
        _token: V::Token,
        registers: [V; LANE_BYTES],
        _at: impl Fn(usize) -> *mut u8,
        _lane_step: Option<isize>,
    ) -> [V; LANE_BYTES] {
        registers
    }
}

#[cfg(feature = "elementwise")]
impl Epilogue for &Finishing {
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn apply<V: Computes, L: Unit>(
        self,
        token: V::Token,
        mut registers: [V; LANE_BYTES],
        at: impl Fn(usize) -> *mut u8,
        lane_step: Option<isize>,
    ) -> [V; LANE_BYTES] {
        /// Makes each register a value of itself and those of the other operands.
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
        match self.finish {
            Finish::Neg => each!(t => t.neg::<L>()),
            Finish::Abs => each!(t => t.abs::<L>()),
            Finish::Sqrt => each!(t => t.sqrt::<L>()),
            Finish::Relu => each!(t => t.relu::<L>()),
            Finish::Square => each!(t => t.mul::<L>(t)),
            Finish::Recip => each!(t => V::one::<L>(token).div::<L>(t)),
            Finish::Add => each!(t, x: 0 => t.add::<L>(x)),
            Finish::Sub => each!(t, x: 0 => t.sub::<L>(x)),
            Finish::SubFrom => each!(t, x: 0 => x.sub::<L>(t)),
            Finish::Mul => each!(t, x: 0 => t.mul::<L>(x)),
            Finish::Div => each!(t, x: 0 => t.div::<L>(x)),
            Finish::DivInto => each!(t, x: 0 => x.div::<L>(t)),
            Finish::MulAdd => each!(t, x: 0, y: 1 => t.mul_add::<L>(x, y)),
            Finish::AddProduct => each!(t, x: 0, y: 1 => x.mul_add::<L>(y, t)),
        }
        registers
    }
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
