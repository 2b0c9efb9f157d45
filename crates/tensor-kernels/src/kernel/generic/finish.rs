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
    /// stored at `at(i)`.
    ///
    /// # Safety
    ///
    /// F1 for the elements of these registers.
    unsafe fn apply<V: Computes, L: Unit>(
        self,
        token: V::Token,
        registers: [V; LANE_BYTES],
        at: impl Fn(usize) -> *mut u8,
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
    ) -> [V; LANE_BYTES] {
        /// Makes each register a value of itself and those of the other operands.
        macro_rules! each {
            ($t:ident $(, $other:ident: $k:literal)* => $value:expr) => {
                unrolled!(i in 0..L::PER_LANE, 16 => {
                    let $t = registers[i];
                    // SAFETY: F1 holds for the elements of this register.
                    $(let $other = unsafe { V::load(token, self.other($k, at(i))) };)*
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
