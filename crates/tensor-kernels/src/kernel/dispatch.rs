//! Chooses the instruction set of a [`SimdLevel`] at run time. A kernel is compiled once per level.

#[cfg(target_arch = "aarch64")]
use super::aarch64::neon::Neon;
use super::isa::{Kernel, Scalar, Vectorize};
#[cfg(target_arch = "x86_64")]
use super::x86::avx2::Avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use super::x86::avx512::Avx512;
use crate::exec::SimdLevel;

/// Runs `kernel` compiled for `level`.
///
/// # Panics
///
/// If this CPU lacks `level`; see [`SimdLevel::is_available`].
pub(crate) fn dispatch<K: Kernel>(level: SimdLevel, kernel: K) -> K::Output {
    match level {
        SimdLevel::Scalar => Scalar.run_kernel(kernel),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V3 => match Avx2::new() {
            Some(isa) => isa.run_kernel(kernel),
            None => missing(level),
        },
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        SimdLevel::V4 => match Avx512::new() {
            Some(isa) => isa.run_kernel(kernel),
            None => missing(level),
        },
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => match Neon::new() {
            Some(isa) => isa.run_kernel(kernel),
            None => missing(level),
        },
        _ => missing(level),
    }
}

#[cold]
fn missing(level: SimdLevel) -> ! {
    panic!("SIMD level {level} is not available on this CPU")
}
