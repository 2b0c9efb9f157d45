//! Other libraries, given the work of a suite: the feature `peers`.
//!
//! One file a library, and in it what the library can do: which layouts it takes, into memory that is there or fresh. They run on the calling
//! thread, with the rank known at run time only, as the layouts here are, and prepared like our own work: views of operands and of the result are
//! made once, before the time is taken.
//!
//! Candidates were all libraries that copy a strided array and that cargo alone can build. candle-core is not here for its hundred dependencies, a
//! tokenizer among them; hptt needs cmake and a C++ compiler.

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

/// Is this program built with its peers?
pub const BUILT: bool = cfg!(feature = "peers");

/// No kind of work is done by more of them.
pub const COUNT: usize = if BUILT { 4 } else { 0 };

/// What a fresh result is shown to: its elements in row-major order.
pub(crate) type Look<'a, R> = Box<dyn Fn(&[R]) + 'a>;

/// How the work is done into memory that is there; `None` where the library cannot take a layout.
pub(crate) type Preallocated<T, R> =
    for<'a> fn(&[Strided<'a, T>], &'a mut [R]) -> Option<Contender<'a>>;

/// The same into fresh memory each time.
pub(crate) type Allocating<T, R> =
    for<'a> fn(&[Strided<'a, T>], Look<'a, R>) -> Option<Contender<'a>>;

/// A library and what it does for one kind of work.
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

    /// Only for libraries that make the result themselves.
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

/// Who copies.
#[cfg(feature = "peers")]
pub(crate) fn copies<T: Sample>() -> Vec<Peer<T, T>> {
    vec![
        peer::<ndarray::NdArray, T>(),
        peer::<rten_tensor::RtenTensor, T>(),
        peer::<strided_perm::StridedPerm, T>(),
        peer::<transpose::Transpose, T>(),
    ]
}

/// Who copies: nobody is built in.
#[cfg(not(feature = "peers"))]
pub(crate) fn copies<T: Sample>() -> Vec<Peer<T, T>> {
    Vec::new()
}

/// Who computes.
#[cfg(feature = "peers")]
pub(crate) fn elementwise<T: Sample>(op: Op) -> Vec<Peer<T, T>> {
    ndarray::elementwise(op).map_or_else(Vec::new, |preallocated| {
        vec![Peer { name: ndarray::NdArray::NAME, preallocated, allocating: |_, _| None }]
    })
}

/// Who computes: nobody is built in.
#[cfg(not(feature = "peers"))]
pub(crate) fn elementwise<T: Sample>(_op: Op) -> Vec<Peer<T, T>> {
    Vec::new()
}
