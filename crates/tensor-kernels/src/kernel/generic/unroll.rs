//! Loops over registers that are unrolled for certain.
//!
//! An array of registers stays in registers only if every index is a constant. The compiler unrolls
//! a loop of 16 iterations only if its body is small, which that of a 16×16 tile is not. If the
//! loop is not unrolled the registers go through memory, at a quarter of the speed.

/// `unrolled!(i in 0..N, 16 => statement)`: a loop for a constant `N` of at most 16. Replace 16 by
/// 8, 4 or 2 for smaller bounds. Iterations from `N` on are not compiled.
macro_rules! unrolled {
    ($i:ident in $a:literal..$n:expr, 2 => $body:expr) => {
        unrolled!(@ $i, $a, $n, $body; 0 1)
    };
    ($i:ident in $a:literal..$n:expr, 4 => $body:expr) => {
        unrolled!(@ $i, $a, $n, $body; 0 1 2 3)
    };
    ($i:ident in $a:literal..$n:expr, 8 => $body:expr) => {
        unrolled!(@ $i, $a, $n, $body; 0 1 2 3 4 5 6 7)
    };
    ($i:ident in $a:literal..$n:expr, 16 => $body:expr) => {
        unrolled!(@ $i, $a, $n, $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $i:ident, $a:literal, $n:expr, $body:expr; $($k:literal)*) => {{
        $(if const { $k >= $a && $k < $n } {
            let $i: usize = $k;
            $body;
        })*
    }};
}

pub(super) use unrolled;
