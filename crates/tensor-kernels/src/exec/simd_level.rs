//! The SIMD level: the instruction set that the kernels use.
//!
//! A level is chosen once per run, by the CPU or by `TENSOR_SIMD`, and passed on as plain data. The
//! kernels turn it into a proof that the CPU has the instructions. So a level that is not available
//! is an error when it is chosen, and never an illegal instruction.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The environment variable that forces a level.
const VARIABLE: &str = "TENSOR_SIMD";

/// An instruction set for which kernels exist.
///
/// ```
/// use tensor_kernels::SimdLevel;
///
/// let best = SimdLevel::detect();
/// assert!(best.is_available());
/// assert_eq!("scalar".parse(), Ok(SimdLevel::Scalar));
/// assert_eq!(SimdLevel::V3.to_string(), "v3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimdLevel {
    /// Portable Rust, compiled for the target's baseline. Every CPU has it.
    Scalar,
    /// x86-64-v3: AVX2, FMA and BMI2, 256-bit registers.
    V3,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ and VL, 512-bit registers. In builds with the feature
    /// `avx512`, which is on by default.
    V4,
    /// AArch64 Advanced SIMD, 128-bit registers.
    Neon,
}

impl SimdLevel {
    /// Every level; per architecture from the narrowest to the widest.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::V3, Self::V4, Self::Neon];

    /// The best level of this CPU.
    #[must_use]
    pub fn detect() -> Self {
        let widest_first = [Self::V4, Self::V3, Self::Neon];
        widest_first.into_iter().find(|level| level.is_available()).unwrap_or(Self::Scalar)
    }

    /// The levels of this CPU, [`SimdLevel::Scalar`] first and the best one last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|level| level.is_available()).collect()
    }

    /// Whether this CPU, and this build, can run the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::V3 => pulp::x86::V3::try_new().is_some(),
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Self::V4 => pulp::x86::V4::try_new().is_some(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => pulp::aarch64::Neon::try_new().is_some(),
            _ => false,
        }
    }

    /// The level that `TENSOR_SIMD` names, or [`SimdLevel::detect`] when it is not set.
    ///
    /// # Errors
    ///
    /// [`SimdError::Unknown`] when the value names no level, [`SimdError::Unavailable`] when this
    /// CPU lacks the level.
    pub fn from_env() -> Result<Self, SimdError> {
        match std::env::var_os(VARIABLE) {
            Some(value) => Self::forced(&value.to_string_lossy()),
            None => Ok(Self::detect()),
        }
    }

    /// The level of that name, if this CPU has it.
    fn forced(name: &str) -> Result<Self, SimdError> {
        let level = name.parse::<Self>()?;
        if level.is_available() { Ok(level) } else { Err(SimdError::Unavailable(level)) }
    }

    /// The bytes of a vector register, as [`Machine::vector`](super::Machine::vector) has them.
    pub(crate) const fn vector_bytes(self) -> usize {
        match self {
            Self::V4 => 64,
            Self::V3 => 32,
            Self::Scalar | Self::Neon => 16,
        }
    }

    /// The level's name in `TENSOR_SIMD` and in reports.
    const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::V3 => "v3",
            Self::V4 => "v4",
            Self::Neon => "neon",
        }
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SimdLevel {
    type Err = SimdError;

    fn from_str(name: &str) -> Result<Self, SimdError> {
        let known = Self::ALL.into_iter().find(|level| level.name() == name);
        known.ok_or_else(|| SimdError::Unknown(name.to_owned()))
    }
}

/// Why a SIMD level cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimdError {
    /// No level has this name.
    Unknown(String),
    /// The level exists, but not on this CPU or not in this build.
    Unavailable(SimdLevel),
}

impl fmt::Display for SimdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "unknown SIMD level {name:?}: expected {}", names(&SimdLevel::ALL))
            }
            Self::Unavailable(level) => {
                let here = names(&SimdLevel::available());
                write!(f, "SIMD level {level} is not available on this CPU, which has {here}")
            }
        }
    }
}

impl Error for SimdError {}

/// `a, b or c`.
fn names(levels: &[SimdLevel]) -> String {
    let names: Vec<_> = levels.iter().map(|level| level.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_as_its_level() {
        for level in SimdLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_valid_ones() {
        for name in ["", "avx2", "V3", " v3"] {
            let error = SimdLevel::forced(name).unwrap_err();
            assert_eq!(error, SimdError::Unknown(name.to_owned()));
            let text = error.to_string();
            assert!(text.ends_with("expected scalar, v3, v4 or neon"), "{text}");
        }
    }

    #[test]
    fn a_level_of_another_cpu_is_refused_by_name() {
        for level in SimdLevel::ALL.into_iter().filter(|level| !level.is_available()) {
            let error = SimdLevel::forced(level.name()).unwrap_err();
            assert_eq!(error, SimdError::Unavailable(level));
            let text = error.to_string();
            assert!(text.starts_with(&format!("SIMD level {level} is not available")), "{text}");
        }
    }

    #[test]
    fn scalar_is_everywhere_and_the_best_level_comes_last() {
        let available = SimdLevel::available();
        assert_eq!(available.first(), Some(&SimdLevel::Scalar));
        assert_eq!(available.last(), Some(&SimdLevel::detect()));
    }

    #[test]
    fn every_available_level_can_be_forced() {
        for level in SimdLevel::available() {
            assert_eq!(SimdLevel::forced(level.name()), Ok(level));
        }
    }

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn the_best_level_of_aarch64_is_neon() {
        assert_eq!(SimdLevel::detect(), SimdLevel::Neon);
    }

    #[test]
    fn no_level_belongs_to_two_architectures() {
        let x86 = SimdLevel::V3.is_available() || SimdLevel::V4.is_available();
        assert!(!(x86 && SimdLevel::Neon.is_available()));
    }
}
