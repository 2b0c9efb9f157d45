//! How an operation runs: the machine it is planned for, the instruction set, the number of
//! threads.

use std::sync::OnceLock;

use tensor_core::{Error, Result};

use crate::tuning::TASKS_PER_THREAD;

mod calibrated;
mod machine;
pub(crate) mod pool;
mod simd_level;

pub use machine::Machine;
pub use simd_level::{SimdError, SimdLevel};

/// Whether an operation may use other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Par {
    /// The rayon pool of the caller (`pool.install(..)`), else the global one, for work that is
    /// large enough. Without the `rayon` feature: serial.
    #[default]
    Auto,
    /// The calling thread only. The pool is not touched.
    Serial,
}

/// Whether operands of different shapes are broadcast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Broadcast {
    /// Implicitly, as PyTorch does. Single values fit any shape.
    #[default]
    Implicit,
    /// Only explicitly, by `broadcast_to` or `expand`. Operands of different shapes are
    /// [`Error::ImplicitBroadcast`]; single values still fit any shape.
    Strict,
}

/// What happens to an operand that overlaps the result at other indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overlapping {
    /// It is an error, [`Error::ReadWriteOverlap`], as in PyTorch.
    #[default]
    Refuse,
    /// It is copied first, as in NumPy.
    CopyFirst,
}

/// How an operation runs. The methods of [`TensorExt`](crate::TensorExt) use [`Exec::current`];
/// free functions take one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exec {
    /// Whether other threads may be used.
    pub par: Par,
    /// The machine that plans are made for.
    pub machine: Machine,
    /// Whether operands of different shapes are broadcast.
    pub broadcast: Broadcast,
    /// What happens to an operand that overlaps the result at other indices.
    pub overlapping: Overlapping,
    /// Invariant: this CPU has the level.
    pub(crate) simd: SimdLevel,
}

impl Exec {
    /// This machine, its best instruction set or the one that `TENSOR_SIMD` names, and the caller's
    /// threads.
    ///
    /// # Errors
    /// [`Error::Simd`] if `TENSOR_SIMD` names no level or one that this CPU lacks.
    pub fn from_env() -> Result<Self> {
        let asked = || std::env::var("TENSOR_SIMD").unwrap_or_default();
        let simd = SimdLevel::from_env().map_err(|why| refused(asked(), &why))?;
        Ok(Self {
            par: Par::Auto,
            machine: Machine::detect().with_vectors_of(simd),
            broadcast: Broadcast::Implicit,
            overlapping: Overlapping::Refuse,
            simd,
        })
    }

    /// As [`from_env`](Self::from_env), evaluated once and kept.
    ///
    /// # Errors
    /// Those of [`from_env`](Self::from_env), each time.
    pub fn current() -> Result<&'static Self> {
        static CURRENT: OnceLock<Result<Exec>> = OnceLock::new();
        CURRENT.get_or_init(Self::from_env).as_ref().map_err(Clone::clone)
    }

    /// The same, on the calling thread only.
    #[must_use]
    pub fn serial(self) -> Self {
        Self { par: Par::Serial, ..self }
    }

    /// The same, without implicit broadcasting.
    ///
    /// ```
    /// use tensor_kernels::{Error, Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?.strict();
    /// let (x, row) = (Tensor::full([2, 3], 1.0)?, Tensor::full([3], 2.0)?);
    /// assert!(matches!(ops::add(&exec, &x, &row), Err(Error::ImplicitBroadcast { .. })));
    /// assert!(ops::add(&exec, &x, &row.expand(&[2, 3])?).is_ok());
    /// assert!(ops::add(&exec, &x, 2.0).is_ok());
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn strict(self) -> Self {
        Self { broadcast: Broadcast::Strict, ..self }
    }

    /// The same, but operands that overlap the result at other indices are copied first.
    ///
    /// ```
    /// use tensor_kernels::{Error, Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// let refused = ops::add_inplace(exec, &x, &x.t()?);
    /// assert!(matches!(refused, Err(Error::ReadWriteOverlap { operand: "b", .. })));
    /// ops::add_inplace(&exec.copying_first(), &x, &x.t()?)?;
    /// assert_eq!(x.to_vec()?, [2, 5, 5, 8]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn copying_first(self) -> Self {
        Self { overlapping: Overlapping::CopyFirst, ..self }
    }

    /// The same, with the kernels of another instruction set.
    ///
    /// # Errors
    /// [`Error::Simd`] if this CPU lacks it.
    pub fn with_simd(self, level: SimdLevel) -> Result<Self> {
        if !level.is_available() {
            return Err(refused(level.to_string(), &SimdError::Unavailable(level)));
        }
        Ok(Self { simd: level, machine: self.machine.with_vectors_of(level), ..self })
    }

    /// The same, with plans for another machine: one that was
    /// [measured](Machine::calibrated), or a fixed one. Its vectors stay those of the instruction
    /// set.
    #[must_use]
    pub fn with_machine(self, machine: Machine) -> Self {
        Self { machine: machine.with_vectors_of(self.simd), ..self }
    }

    /// The instruction set that kernels use.
    pub fn simd(&self) -> SimdLevel {
        self.simd
    }

    /// The number of tasks to cut `bytes` of work into.
    pub(crate) fn tasks(&self, bytes: usize) -> usize {
        match self.par {
            Par::Serial => 1,
            Par::Auto if bytes / 2 < self.machine.grain => 1,
            Par::Auto => match pool::threads() {
                1 => 1,
                threads => (bytes / self.machine.grain.max(1)).min(threads * TASKS_PER_THREAD),
            },
        }
    }
}

fn refused(level: String, why: &SimdError) -> Error {
    Error::Simd { level, why: why.to_string() }
}
