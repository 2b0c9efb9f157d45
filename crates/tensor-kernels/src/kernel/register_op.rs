//! Operations that are computed between the transpose of a register and its store.
//!
//! An operation with a transposed operand costs two passes if the operand is packed first: the
//! elements are written to scratch, and read again. What one or two instructions compute can be
//! done while the elements are in registers: then it takes as long as the copy alone. The
//! operations are data here, not types, so that the kernel is compiled once for all of them.

use bytemuck::Pod;

use super::transpose_block::Residency;
use crate::element::Real;

/// An operation on f32 or f64 that takes one or two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterOp {
    Neg,
    Abs,
    Sqrt,
    Relu,
    Square,
    Recip,
    Add,
    Sub,
    Mul,
    Div,
    MulAdd,
}

/// An operation on a transposed element `t` and the elements `x` and `y` of the other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// `−t`.
    Neg,
    /// `|t|`.
    Abs,
    /// `√t`.
    Sqrt,
    /// 0 where `t` is negative, else `t`.
    Relu,
    /// `t · t`.
    Square,
    /// `1 / t`.
    Recip,
    /// `t + x`.
    Add,
    /// `t − x`.
    Sub,
    /// `x − t`.
    SubFrom,
    /// `t · x`.
    Mul,
    /// `t / x`.
    Div,
    /// `x / t`.
    DivInto,
    /// `t · x + y`, rounded once.
    MulAdd,
    /// `x · y + t`, rounded once.
    AddProduct,
}

impl RegisterOp {
    /// The operation if its input `transposed`, counted from 0, is the transposed element, and the
    /// others follow in their order.
    pub(crate) fn with_transposed(self, transposed: usize) -> Finish {
        match (self, transposed) {
            (Self::Neg, _) => Finish::Neg,
            (Self::Abs, _) => Finish::Abs,
            (Self::Sqrt, _) => Finish::Sqrt,
            (Self::Relu, _) => Finish::Relu,
            (Self::Square, _) => Finish::Square,
            (Self::Recip, _) => Finish::Recip,
            (Self::Add, _) => Finish::Add,
            (Self::Sub, 0) => Finish::Sub,
            (Self::Sub, _) => Finish::SubFrom,
            (Self::Mul, _) => Finish::Mul,
            (Self::Div, 0) => Finish::Div,
            (Self::Div, _) => Finish::DivInto,
            (Self::MulAdd, 2) => Finish::AddProduct,
            (Self::MulAdd, _) => Finish::MulAdd,
        }
    }
}

impl Finish {
    /// Does it take as many cycles as a transpose?
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Sqrt | Self::Recip | Self::Div | Self::DivInto)
    }

    /// The number of other operands.
    #[inline(always)]
    pub(crate) fn others(self) -> usize {
        match self {
            Self::Neg | Self::Abs | Self::Sqrt | Self::Relu | Self::Square | Self::Recip => 0,
            Self::Add | Self::Sub | Self::SubFrom | Self::Mul | Self::Div | Self::DivInto => 1,
            Self::MulAdd | Self::AddProduct => 2,
        }
    }
}

/// Another operand of a [`Finish`]. Its elements lie as those of the result do, or as those of the
/// transposed operand, or all are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherOperand {
    /// The element that belongs to [`Finishing::result`] and [`Finishing::source`].
    pub(crate) base: *const u8,
    /// Do its elements lie as those of the transposed operand do?
    pub(crate) is_transposed: bool,
    /// Of an operand that is not transposed: all bits set, or none if the element is repeated from
    /// `base` on, for a register.
    pub(crate) mask: isize,
}

/// An operation, and where the other operands' elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finishing {
    pub(crate) finish: Finish,
    /// An element of the result.
    pub(crate) result: *mut u8,
    /// The element of the transposed operand that belongs to it.
    pub(crate) source: *const u8,
    pub(crate) others: [OtherOperand; 2],
    /// Where all operands lie; a copy takes it from the transposed one and the result alone.
    pub(crate) residency: Residency,
}

impl Finishing {
    /// Are other operands transposed too?
    #[inline(always)]
    pub(super) fn transposes_others(&self) -> bool {
        self.others.iter().any(|other| other.is_transposed)
    }

    /// The element of another operand for the result's element at `at`.
    #[inline(always)]
    pub(super) fn other(&self, k: usize, at: *mut u8) -> *const u8 {
        let offset = at.addr().wrapping_sub(self.result.addr()) as isize;
        let OtherOperand { base, mask, .. } = self.others[k];
        base.wrapping_offset(offset & mask)
    }

    /// The element of another operand that is transposed too, for the element at `src`.
    #[inline(always)]
    pub(super) fn transposed(&self, k: usize, src: *const u8) -> *const u8 {
        let offset = src.addr().wrapping_sub(self.source.addr()) as isize;
        self.others[k].base.wrapping_offset(offset)
    }

    /// How far another operand's elements are apart for results `step` bytes apart.
    #[inline(always)]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(super) fn step(&self, k: usize, step: isize) -> isize {
        step & self.others[k].mask
    }

    /// The result at `at` for one transposed element, at `src`, without a register.
    ///
    /// # Safety
    /// This element and those of the other operands for the result can be read.
    #[inline(always)]
    pub(super) unsafe fn one<F: Real<Magnitude = F> + Pod>(
        &self,
        src: *const u8,
        at: *mut u8,
    ) -> F {
        // SAFETY: this function's contract.
        let t = unsafe { src.cast::<F>().read_unaligned() };
        let mut others = [t; 2];
        for (k, other) in others.iter_mut().enumerate().take(self.finish.others()) {
            let from = match self.others[k].is_transposed {
                true => self.transposed(k, src),
                false => self.other(k, at),
            };
            // SAFETY: it can be read, by this function's contract.
            *other = unsafe { from.cast::<F>().read_unaligned() };
        }
        let [x, y] = others;
        match self.finish {
            Finish::Neg => t.negated(),
            Finish::Abs => t.magnitude(),
            Finish::Sqrt => t.square_root(),
            Finish::Relu => t.relu(),
            Finish::Square => t.times(t),
            Finish::Recip => t.reciprocal(),
            Finish::Add => t.plus(x),
            Finish::Sub => t.minus(x),
            Finish::SubFrom => x.minus(t),
            Finish::Mul => t.times(x),
            Finish::Div => t.divided_by(x),
            Finish::DivInto => x.divided_by(t),
            Finish::MulAdd => t.times_plus(x, y),
            Finish::AddProduct => x.times_plus(y, t),
        }
    }
}

// SAFETY: the addresses are those of operands of an operation, which all its threads read, and of
// its result, of which each thread writes a part; or of a value that outlives the operation.
unsafe impl Send for Finishing {}
// SAFETY: as above.
unsafe impl Sync for Finishing {}
