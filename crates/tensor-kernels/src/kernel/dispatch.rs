//! Chooses the instruction set of a [`SimdLevel`] at run time. A kernel is compiled once per level.

use pulp::NullaryFnOnce;

#[cfg(target_arch = "aarch64")]
use super::aarch64::neon::Neon;
use super::isa::{Isa, Kernel, Scalar};
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
        SimdLevel::Scalar => compiled_for(Scalar, kernel),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V3 => compiled_for(Avx2::new().unwrap_or_else(|| missing(level)), kernel),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        SimdLevel::V4 => compiled_for(Avx512::new().unwrap_or_else(|| missing(level)), kernel),
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => compiled_for(Neon::new().unwrap_or_else(|| missing(level)), kernel),
        _ => missing(level),
    }
}

#[cold]
fn missing(level: SimdLevel) -> ! {
    panic!("SIMD level {level} is not available on this CPU")
}

/// Runs `kernel`, compiled for `isa`.
fn compiled_for<I: Isa, K: Kernel>(isa: I, kernel: K) -> K::Output {
    isa.vectorize(OnIsa { isa, kernel })
}

/// A kernel and its instruction set. A type, because a closure cannot carry `#[inline(always)]`.
struct OnIsa<I, K> {
    isa: I,
    kernel: K,
}

impl<I: Isa, K: Kernel> NullaryFnOnce for OnIsa<I, K> {
    type Output = K::Output;

    #[inline(always)]
    fn call(self) -> K::Output {
        self.kernel.run(self.isa)
    }
}
