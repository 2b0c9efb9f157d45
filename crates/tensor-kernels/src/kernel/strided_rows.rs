//! Elements of the operands of an elementwise operation at any strides, computed one by one where
//! they lie.
//!
//! Of few elements, where several operands lie in several orders, this takes less time than copying
//! them into rows first, which are then computed a register at a time: copying them by loops takes
//! as long as these loops do.

use crate::nest::Loop;

/// Elements of `N` operands: the first of each, and two loops over them, with strides in bytes.
pub(crate) struct StridedRows<const N: usize> {
    pub(crate) ptrs: [*mut u8; N],
    pub(crate) rows: Loop<N>,
    pub(crate) columns: Loop<N>,
}

/// Writes `value`, computed from the elements of the inputs, for each element of the block. A macro
/// for the reason that `each!` is one.
///
/// Accesses are volatile, so that the compiler makes no vector code: it would compare all strides
/// with 1 and all addresses with each other, or gather and scatter, in several times the code.
macro_rules! each_strided {
    ($block:expr, $out:ident $out_step:ident: $result:ty,
        [$($input:ident $step:ident: $type:ty),*] => $value:expr) => {{
        let StridedRows { ptrs: [$out, $($input),*], rows, columns } = $block;
        let (mut $out, $(mut $input),*) = (*$out, $(*$input),*);
        for _ in 0..rows.len {
            {
                let [$out_step, $($step),*] = &columns.strides;
                let (mut $out, $(mut $input),*) = ($out, $($input),*);
                for _ in 0..columns.len {
                    let value = {
                        // SAFETY: `Compute::strided`: each element can be read, and is aligned.
                        $(let $input = unsafe { $input.cast::<$type>().read_volatile() };)*
                        $value
                    };
                    // SAFETY: `Compute::strided`: each result can be written, and is aligned.
                    unsafe { $out.cast::<$result>().write_volatile(value) };
                    $out = $out.wrapping_offset(*$out_step);
                    $($input = $input.wrapping_offset(*$step);)*
                }
            }
            let [$out_step, $($step),*] = &rows.strides;
            $out = $out.wrapping_offset(*$out_step);
            $($input = $input.wrapping_offset(*$step);)*
        }
    }};
}

pub(super) use each_strided;
