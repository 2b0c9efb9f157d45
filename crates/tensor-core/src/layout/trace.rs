//! The contiguity check as text, for teaching and debugging.
//!
//! Every public function here has an example.

use std::fmt;

use super::Layout;

impl Layout {
    /// The contiguity check, step by step, as text.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let transposed = Layout::contiguous(&[3, 4])?.t()?;
    /// assert_eq!(
    ///     transposed.contiguity_trace().to_string(),
    ///     "stride=(1, 4) size=torch.Size([4, 3])\n\
    ///      dim 1 is not contiguous. stride is 4, but expected 1\n\
    ///      False"
    /// );
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn contiguity_trace(&self) -> ContiguityTrace<'_> {
        ContiguityTrace(self)
    }
}

/// The contiguity check of one layout, printed step by step; see [`Layout::contiguity_trace`].
#[derive(Clone, Copy, Debug)]
pub struct ContiguityTrace<'a>(&'a Layout);

impl fmt::Display for ContiguityTrace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { shape, strides, .. } = self.0;
        writeln!(f, "stride={} size=torch.Size({:?})", Tuple(strides), shape.as_slice())?;
        if self.0.numel == 0 {
            return write!(f, "no elements\nTrue");
        }
        let mut expected = 1isize;
        for d in (0..shape.len()).rev().filter(|&d| shape[d] != 1) {
            if strides[d] != expected {
                return write!(
                    f,
                    "dim {d} is not contiguous. stride is {}, but expected {expected}\nFalse",
                    strides[d]
                );
            }
            writeln!(
                f,
                "dim {d} stride is {expected}, next stride should be {expected} x {}",
                shape[d]
            )?;
            expected *= shape[d] as isize;
        }
        f.write_str("True")
    }
}

/// Prints as a Python tuple: `()`, `(1,)`, `(4, 1)`.
struct Tuple<'a>(&'a [isize]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            many => {
                f.write_str("(")?;
                for (i, stride) in many.iter().enumerate() {
                    write!(f, "{}{stride}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}
