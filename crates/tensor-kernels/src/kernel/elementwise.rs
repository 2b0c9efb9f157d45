//! The innermost loops of elementwise operations, on rows of adjacent elements.
//!
//! An operation is a function of one element of each input. Each input of a loop is either a row of
//! adjacent elements or a scalar, one element for the whole row. Every combination of the two is a
//! loop of its own, so that the compiler vectorises it at the SIMD level into which it is inlined.
//!
//! These loops are compiled for every operation, element type and SIMD level of a program, and make
//! up most of its code. So only code that gains from this is here. Cases without a loop
//! ([`RowBlock::input_to_repeat`]), and rows for which a loop would not vectorise, are first
//! rewritten by code that does not depend on the operation (`run::bounce`).

use std::{any::TypeId, marker::PhantomData};

use tensor_core::Element;

use super::{
    function::{Function1, Function2, Function3},
    isa::Isa,
    operation::{Compute, OperationOf},
    register_op::RegisterOp,
    row_block::RowBlock,
    row_chunks::{array_ptr, each_in_chunks, in_chunks, is_short, parts, values},
    strided_rows::{StridedRows, each_strided},
};
use crate::tuning::{
    LARGE_ARGUMENT_BLOCK_ELEMENTS, MIN_WIDE_ROW, MIN_WIDE_ROW_OF_ROOTS, ROW_PART_ELEMENTS,
};

/// Quotients and roots of single floats take longer than a load and a store.
const fn is_cheap_op(op: Option<RegisterOp>) -> bool {
    use RegisterOp::{Abs, Add, Mul, MulAdd, Neg, Relu, Square, Sub};
    matches!(op, Some(Neg | Abs | Relu | Square | Add | Sub | Mul | MulAdd))
}

/// Does a result take longer to compute than to load and to store?
const fn is_slow(computes_much: bool, op: Option<RegisterOp>) -> bool {
    computes_much || matches!(op, Some(RegisterOp::Sqrt | RegisterOp::Recip))
}

/// Is a row computed by the loop for rows of any length, because that fills registers of 512 bits,
/// which are `wide`, and a chunk does not?
macro_rules! is_wide_row {
    ($function:ty, $len:expr, $wide:expr) => {{
        let (much, op) = (<$function>::COMPUTES_MUCH, <$function>::REGISTER_OP);
        let least = if much { MIN_WIDE_ROW } else { MIN_WIDE_ROW_OF_ROOTS };
        $wide && $len >= least && is_slow(much, op)
    }};
}

/// Are rows that are not computed in chunks computed in overlapping parts?
macro_rules! in_parts {
    ($function:ty) => {
        <$function>::HAS_LARGE_ARGUMENT_PATH
            || in_chunks!($function)
                && I::HAS_WIDE_REGISTERS
                && is_slow(<$function>::COMPUTES_MUCH, <$function>::REGISTER_OP)
    };
}

/// Are all types f32, or all f64?
fn are_floats<const N: usize>(types: [TypeId; N]) -> bool {
    [TypeId::of::<f32>(), TypeId::of::<f64>()].into_iter().any(|float| types == [float; N])
}

/// `out[at] = value` for each element of a row. A macro, because a closure might not be inlined,
/// and would then be compiled for the target's baseline.
macro_rules! each {
    ($out:expr, $len:expr, $at:ident => $value:expr) => {
        for $at in 0..$len {
            let value = $value;
            // SAFETY: `Compute::rows`: `len` elements from `out` on can be written, and `at < len`.
            unsafe { $out.wrapping_add($at).write(value) };
        }
    };
}

/// Element `at` of an input; element 0 if the input is a scalar.
///
/// # Safety
/// It can be read and is aligned.
#[inline(always)]
unsafe fn read<const SCALAR: bool, T: Copy>(ptr: *mut T, at: usize) -> T {
    // SAFETY: the element can be read and is aligned, by this function's contract.
    unsafe { ptr.wrapping_add(if SCALAR { 0 } else { at }).read() }
}

/// A function of one element.
pub(crate) struct Map<F, A>(F, PhantomData<fn(A)>);

impl<F, A> Map<F, A> {
    pub(crate) fn new(function: F) -> Self {
        Self(function, PhantomData)
    }
}

impl<A: Element, F> Map<F, A> {
    #[inline]
    pub(crate) fn of_types<R: Element>(&self) -> OperationOf<'_, 2, (A, R)>
    where
        F: Function1<A, Output = R>,
    {
        #[cfg(tensor_compiled)]
        if let Some(compiled) = F::compiled(self) {
            return OperationOf::new(compiled);
        }
        OperationOf::new(self)
    }
}

impl<A: Element, R: Element, F: Function1<A, Output = R>> Compute<2> for Map<F, A> {
    type Output = R;

    const COMPUTES_MUCH: bool = F::COMPUTES_MUCH;

    const IS_COUNTED: bool = F::IS_COUNTED;

    const IS_CHEAP: bool = is_cheap_op(F::REGISTER_OP) || F::IS_CHEAP_CONVERSION;

    fn is_cheap() -> bool {
        F::IS_CHEAP_CONVERSION || Self::IS_CHEAP && Self::register_op().is_some()
    }

    fn has_chunks(len: usize, wide: bool) -> bool {
        in_chunks!(F) && is_short::<R>(len) && !is_wide_row!(F, len, wide)
    }

    fn register_op() -> Option<RegisterOp> {
        F::REGISTER_OP.filter(|_| are_floats([TypeId::of::<A>(), TypeId::of::<R>()]))
    }

    #[inline(always)]
    unsafe fn rows<I: Isa>(&self, block: &RowBlock<2>) {
        let RowBlock { ptrs: [mut out, mut a], row_strides, is_scalar: [_, is_scalar], rows, len } =
            *block;
        if in_chunks!(F) && !is_scalar && Self::has_chunks(len, I::HAS_WIDE_REGISTERS) {
            for _ in 0..rows {
                each_in_chunks!(R, out.cast::<R>(), len, at => self.0.call::<I::FmaMode>(
                    // SAFETY: `Compute::rows`: `len` elements can be read, and `at < len`.
                    unsafe { read::<false, A>(a.cast(), at) }));
                (out, a) = (out.wrapping_offset(row_strides[0]), a.wrapping_offset(row_strides[1]));
            }
            return;
        }
        for _ in 0..rows {
            if is_scalar {
                // SAFETY: `Compute::rows`: `len` results can be written, and the scalar can be
                // read.
                unsafe { self.row_of_scalar::<I>(out.cast(), a.cast(), len) };
            } else {
                // SAFETY: `Compute::rows`: `len` results can be written, and `len` elements read.
                unsafe { self.row::<I>(out.cast(), a.cast(), len) };
            }
            (out, a) = (out.wrapping_offset(row_strides[0]), a.wrapping_offset(row_strides[1]));
        }
    }

    #[inline(always)]
    unsafe fn strided<I: Isa>(&self, block: &StridedRows<2>) {
        if Self::IS_CHEAP {
            each_strided!(block, out out_step: R, [a a_step: A] => self.0.call::<I::FmaMode>(a));
        }
    }
}

impl<A: Element, F: Function1<A>> Map<F, A> {
    /// Calls the function once per result, although the argument is the same: a closure may count
    /// its calls.
    ///
    /// # Safety
    /// An element can be read at `a`, and `len` elements be written at `out`; all are aligned.
    #[inline(always)]
    unsafe fn row_of_scalar<I: Isa>(&self, out: *mut F::Output, a: *mut A, len: usize) {
        if len == 0 {
            return;
        }
        // SAFETY: one element can be read at `a`, by this function's contract.
        let element = unsafe { a.read() };
        each!(out, len, at => self.call_checked::<I>(element));
    }

    /// # Safety
    /// `len` elements can be read at `a`, and written at `out`; all are aligned.
    #[inline(always)]
    unsafe fn row<I: Isa>(&self, out: *mut F::Output, a: *mut A, len: usize) {
        // A row is computed in parts, so that the compiler checks each row by itself for overlap
        // with the result. A check of all rows at once fails if they descend, and then none is
        // vectorised: 13 rows of 192 floats took 866 ns instead of 183 (Zen 3). The size of a part
        // is a constant because `step_by` divides by it.
        let block = if F::HAS_LARGE_ARGUMENT_PATH {
            LARGE_ARGUMENT_BLOCK_ELEMENTS
        } else {
            ROW_PART_ELEMENTS
        };
        for start in (0..len).step_by(block) {
            let (out, a) = (out.wrapping_add(start), a.wrapping_add(start));
            let count = block.min(len - start);
            // SAFETY: `start + count <= len`, so these elements can be read.
            if F::HAS_LARGE_ARGUMENT_PATH && unsafe { self.any_large_argument(a, count) } {
                // SAFETY: `at < count`: the element can be read.
                each!(out, count, at => self.call_checked::<I>(unsafe { read::<false, A>(a, at) }));
            } else if in_parts!(F) {
                for (start, count) in parts(count, out.addr() == a.addr()) {
                    let (out, a) = (out.wrapping_add(start), a.wrapping_add(start));
                    each!(out, count, at => self.0.call::<I::FmaMode>(
                        // SAFETY: the part is one of the row, so the element can be read.
                        unsafe { read::<false, A>(a, at) }));
                }
            } else {
                each!(out, count, at => self.0.call::<I::FmaMode>(
                    // SAFETY: `at < count`: the element can be read.
                    unsafe { read::<false, A>(a, at) }));
            }
        }
    }

    /// # Safety
    /// `len` elements can be read at `a` and are aligned.
    #[inline(always)]
    unsafe fn any_large_argument(&self, a: *mut A, len: usize) -> bool {
        let mut any = false;
        for (start, count) in parts(len, false) {
            let a = a.wrapping_add(start);
            for at in 0..count {
                // SAFETY: the part is one of the row, so the element can be read.
                any |= self.0.is_large_argument(unsafe { read::<false, A>(a, at) });
            }
        }
        any
    }

    #[inline(always)]
    fn call_checked<I: Isa>(&self, a: A) -> F::Output {
        if F::HAS_LARGE_ARGUMENT_PATH && self.0.is_large_argument(a) {
            self.0.call_large_argument::<I::FmaMode>(a)
        } else {
            self.0.call::<I::FmaMode>(a)
        }
    }
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident<$n:literal> of
        $function:ident($($input:ident $is_scalar:ident $step:ident: $type:ident),*)) => {
        $(#[$doc])*
        pub(crate) struct $name<F, $($type),*>(F, PhantomData<fn($($type),*)>);

        impl<F, $($type),*> $name<F, $($type),*> {
            pub(crate) fn new(function: F) -> Self {
                Self(function, PhantomData)
            }
        }

        impl<F, $($type: Element),*> $name<F, $($type),*> {
            #[inline]
            pub(crate) fn of_types<R: Element>(&self) -> OperationOf<'_, $n, ($($type,)* R)>
            where
                F: $function<$($type,)* Output = R>,
            {
                #[cfg(tensor_compiled)]
                if let Some(compiled) = F::compiled(self) {
                    return OperationOf::new(compiled);
                }
                OperationOf::new(self)
            }
        }

        impl<F, $($type: Element,)* R: Element> Compute<$n> for $name<F, $($type),*>
        where
            F: $function<$($type,)* Output = R>,
        {
            type Output = R;

            const COMPUTES_MUCH: bool = F::COMPUTES_MUCH;

            const IS_COUNTED: bool = F::IS_COUNTED;

            const IS_CHEAP: bool = is_cheap_op(F::REGISTER_OP);

            fn has_chunks(len: usize, wide: bool) -> bool {
                in_chunks!(F) && is_short::<R>(len) && !is_wide_row!(F, len, wide)
            }

            fn register_op() -> Option<RegisterOp> {
                let types = [TypeId::of::<R>(), $(TypeId::of::<$type>()),*];
                F::REGISTER_OP.filter(|_| are_floats(types))
            }

            #[inline(always)]
            unsafe fn rows<I: Isa>(&self, block: &RowBlock<$n>) {
                let RowBlock { ptrs: [out, $($input),*], row_strides: [out_step, $($step),*], .. } =
                    *block;
                let (out, [_, $($is_scalar),*]) = (out.cast::<R>(), block.is_scalar);
                rows!(self, block, out out_step, [$($input $step: $type = $is_scalar),*] []);
            }

            #[inline(always)]
            unsafe fn strided<I: Isa>(&self, block: &StridedRows<$n>) {
                if Self::IS_CHEAP {
                    each_strided!(block, out out_step: R,
                        [$($input $step: $type),*] => self.0.call::<I::FmaMode>($($input),*));
                }
            }
        }
    };
}

/// A row of a function that checks each block for large arguments. If there are any, the whole
/// block takes their path.
macro_rules! row_in_blocks {
    ($self:ident, $out:ident, $len:ident,
        [$(($input:ident: $type:ident, $is_scalar:literal))*]) => {
        for start in (0..$len).step_by(LARGE_ARGUMENT_BLOCK_ELEMENTS) {
            let count = LARGE_ARGUMENT_BLOCK_ELEMENTS.min($len - start);
            let result = $out.wrapping_add(start);
            $(let $input = $input.cast::<$type>();
            let $input = $input.wrapping_add(if $is_scalar { 0 } else { start });)*
            let mut any = false;
            for (start, count) in parts(count, false) {
                $(let $input = $input.wrapping_add(if $is_scalar { 0 } else { start });)*
                for at in 0..count {
                    any |= $self.0.is_large_argument(
                        // SAFETY: `Compute::rows`, as in `rows`: the part is one of the row.
                        $(unsafe { read::<$is_scalar, $type>($input, at) }),*);
                }
            }
            if any {
                each!(result, count, at => $self.0.call_large_argument::<I::FmaMode>(
                    // SAFETY: `start + at < len`; `Compute::rows`, as in `rows`.
                    $(unsafe { read::<$is_scalar, $type>($input, at) }),*));
                continue;
            }
            let is_input = [$($input.addr()),*].contains(&result.addr());
            for (start, count) in parts(count, is_input) {
                let result = result.wrapping_add(start);
                $(let $input = $input.wrapping_add(if $is_scalar { 0 } else { start });)*
                each!(result, count, at => $self.0.call::<I::FmaMode>(
                    // SAFETY: `Compute::rows`, as in `rows`: the part is one of the row.
                    $(unsafe { read::<$is_scalar, $type>($input, at) }),*));
            }
        }
    };
}

/// Chooses the loop by which inputs are scalars. Arguments: `[inputs not decided yet] [decided
/// inputs]`.
macro_rules! rows {
    // If all other inputs are scalars the last one is not, or rows have one element: see
    // `input_to_repeat`.
    ($self:ident, $block:ident, $out:ident $out_step:ident,
        [$input:ident $step:ident: $type:ident = $is_scalar:ident]
        [$(($other:ident $other_step:ident: $other_type:ident, true))+]) => {
        rows!($self, $block, $out $out_step, []
            [$(($other $other_step: $other_type, true))+ ($input $step: $type, false)])
    };
    ($self:ident, $block:ident, $out:ident $out_step:ident,
        [$input:ident $step:ident: $type:ident = $is_scalar:ident $(, $($rest:tt)*)?]
        [$($done:tt)*]) => {
        if $is_scalar {
            rows!($self, $block, $out $out_step, [$($($rest)*)?]
                [$($done)* ($input $step: $type, true)])
        } else {
            rows!($self, $block, $out $out_step, [$($($rest)*)?]
                [$($done)* ($input $step: $type, false)])
        }
    };
    ($self:ident, $block:ident, $out:ident $out_step:ident, []
        [$(($input:ident $step:ident: $type:ident, $is_scalar:literal))*]) => {{
        let (mut $out, $(mut $input),*) = ($out, $($input),*);
        let RowBlock { rows, len, .. } = *$block;
        // Constant first: without optimisation, too, loops that are never taken then have no room
        // for large elements on the stack.
        if in_chunks!(F) && Self::has_chunks(len, I::HAS_WIDE_REGISTERS) {
            for _ in 0..rows {
                each_in_chunks!(R, $out, len, at => $self.0.call::<I::FmaMode>(
                    // SAFETY: as below.
                    $(unsafe { read::<$is_scalar, $type>($input.cast(), at) }),*));
                $out = $out.wrapping_byte_offset($out_step);
                $($input = $input.wrapping_offset($step);)*
            }
            return;
        }
        for _ in 0..rows {
            if F::HAS_LARGE_ARGUMENT_PATH {
                row_in_blocks!($self, $out, len, [$(($input: $type, $is_scalar))*]);
            } else if in_parts!(F) {
                let is_input = [$($input.addr()),*].contains(&$out.addr());
                for (start, count) in parts(len, is_input) {
                    let result = $out.wrapping_add(start);
                    $(let $input = $input.cast::<$type>();
                    let $input = $input.wrapping_add(if $is_scalar { 0 } else { start });)*
                    each!(result, count, at => $self.0.call::<I::FmaMode>(
                        // SAFETY: as below: the part is one of the row.
                        $(unsafe { read::<$is_scalar, $type>($input, at) }),*));
                }
            } else {
                each!($out, len, at => $self.0.call::<I::FmaMode>(
                    // SAFETY: `Compute::rows`: each input has `len` elements, or one if it is a
                    // scalar. A scalar is read as a row where all inputs are scalars, but then
                    // `len` is 1, as `input_to_repeat` is `None`.
                    $(unsafe { read::<$is_scalar, $type>($input.cast(), at) }),*));
            }
            $out = $out.wrapping_byte_offset($out_step);
            $($input = $input.wrapping_offset($step);)*
        }
    }};
}

operation!(/// A function of two elements.
    Zip<3> of Function2(a a_scalar a_step: A, b b_scalar b_step: B));
operation!(/// A function of three elements.
    Zip3<4> of Function3(a a_scalar a_step: A, b b_scalar b_step: B, c c_scalar c_step: C));
