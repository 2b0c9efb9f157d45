//! Arrays of other libraries, and files: what they give is what this library reads, and the other
//! way round. Inputs that break the rules of a format are errors.

// The files of other libraries have every dtype.
#![cfg(all(feature = "half", feature = "complex"))]

mod common;

#[cfg(feature = "dlpack")]
mod dlpack;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "npz")]
mod npz_properties;
#[cfg(feature = "safetensors")]
mod safetensors;
