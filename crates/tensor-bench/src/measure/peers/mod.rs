//! Other libraries that run the cases of a suite, behind the feature `peers`.
//!
//! Each library has a file that says which layouts it takes, with a preallocated result or an
//! allocating one. All run on the calling thread and with dynamic rank. Views of operands and of
//! the result are made before timing, as for this library.
//!
//! Candidates were all libraries that copy a strided array and that cargo alone can build.
//! candle-core is left out for its hundred dependencies, a tokenizer among them; hptt needs cmake
//! and a C++ compiler.

#[cfg(feature = "peers")]
mod ndarray;
#[cfg(feature = "peers")]
mod rten_tensor;
#[cfg(feature = "peers")]
mod strided_perm;
#[cfg(feature = "peers")]
mod transpose;

use crate::{
    cases::{sample::Sample, strided::Strided},
    measure::engine::Contender,
    suite::Op,
};

/// Whether this program was built with the feature `peers`.
pub const BUILT: bool = cfg!(feature = "peers");

/// The largest number of libraries for one operation.
pub const COUNT: usize = if BUILT { 4 } else { 0 };

/// Receives an allocated result, in row-major order.
pub(crate) type Look<'a, R> = Box<dyn Fn(&[R]) + 'a>;

/// The work with a preallocated result; `None` if the library does not take a layout.
pub(crate) type Preallocated<T, R> =
    for<'a> fn(&[Strided<'a, T>], &'a mut [R]) -> Option<Contender<'a>>;

/// The work with a newly allocated result each time.
pub(crate) type Allocating<T, R> =
    for<'a> fn(&[Strided<'a, T>], Look<'a, R>) -> Option<Contender<'a>>;

/// A library and how it does one operation.
pub(crate) struct Peer<T: 'static, R: 'static> {
    /// Its name on crates.io.
    pub(crate) name: &'static str,
    pub(crate) preallocated: Preallocated<T, R>,
    pub(crate) allocating: Allocating<T, R>,
}

/// A library that copies strided arrays.
#[cfg(feature = "peers")]
trait Copies {
    const NAME: &'static str;

    fn preallocated<'a, T: Sample>(from: Strided<'a, T>, to: &'a mut [T]) -> Option<Contender<'a>>;

    /// `None` for libraries that do not allocate results.
    fn allocating<'a, T: Sample>(
        _from: Strided<'a, T>,
        _look: Look<'a, T>,
    ) -> Option<Contender<'a>> {
        None
    }
}

#[cfg(feature = "peers")]
fn peer<P: Copies, T: Sample>() -> Peer<T, T> {
    Peer {
        name: P::NAME,
        preallocated: |from, to| P::preallocated(from[0], to),
        allocating: |from, look| P::allocating(from[0], look),
    }
}

/// Libraries that copy.
#[cfg(feature = "peers")]
pub(crate) fn copies<T: Sample>() -> Vec<Peer<T, T>> {
    vec![
        peer::<ndarray::NdArray, T>(),
        peer::<rten_tensor::RtenTensor, T>(),
        peer::<strided_perm::StridedPerm, T>(),
        peer::<transpose::Transpose, T>(),
    ]
}

/// Libraries that copy: none in this build.
#[cfg(not(feature = "peers"))]
pub(crate) fn copies<T: Sample>() -> Vec<Peer<T, T>> {
    Vec::new()
}

/// Libraries with this elementwise operation.
#[cfg(feature = "peers")]
pub(crate) fn elementwise<T: Sample>(op: Op) -> Vec<Peer<T, T>> {
    ndarray::elementwise(op).map_or_else(Vec::new, |preallocated| {
        vec![Peer { name: ndarray::NdArray::NAME, preallocated, allocating: |_, _| None }]
    })
}

/// Libraries with this elementwise operation: none in this build.
#[cfg(not(feature = "peers"))]
pub(crate) fn elementwise<T: Sample>(_op: Op) -> Vec<Peer<T, T>> {
    Vec::new()
}
