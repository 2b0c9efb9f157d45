//! The loads and stores of a pass, compiled for each instruction set.
//!
//! What is stored depends on all that was loaded, so no load can be left out. Several sums are kept
//! at a time, or each load would wait for the one before.

use std::ops::Range;

use bytemuck::Pod;
use pulp::{Arch, Scalar, Simd, WithSimd};
use tensor_kernels::{SimdLevel, stream_copy};

use super::{
    block::{Accesses, Offsets, Table, WINDOW},
    walk::{Kind, Pass},
};

/// Calls an operation that is compiled for a level.
pub(super) fn dispatch<O: WithSimd>(level: SimdLevel, operation: O) -> O::Output {
    match level {
        SimdLevel::Scalar => Scalar::new().vectorize(operation),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V3 => match pulp::x86::V3::try_new() {
            Some(simd) => Simd::vectorize(simd, operation),
            None => Scalar::new().vectorize(operation),
        },
        _ => Arch::new().dispatch(operation),
    }
}

/// The bytes of the widest register.
pub(super) struct Widest;

impl WithSimd for Widest {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        size_of::<S::u64s>()
    }
}

/// One pass over a copy.
pub(super) struct Run<'a> {
    pub(super) pass: &'a Pass,
    pub(super) from: &'a [u8],
    pub(super) to: &'a mut [u8],
    /// At least as long as the longest run that is written by non-temporal stores.
    pub(super) scratch: &'a mut [u8],
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Run { pass, from, to, scratch } = self;
        match &pass.kind {
            Kind::Tables(tables) => blocks(simd, pass, tables, from, to, scratch),
            Kind::Row(bytes) => {
                let copy = if pass.streamed { stream_copy } else { <[u8]>::copy_from_slice };
                for step in &pass.steps {
                    copy(&mut to[step.to..][..*bytes], &from[step.from..][..*bytes]);
                }
            }
        }
    }
}

#[inline(always)]
fn blocks<S: Simd>(
    simd: S,
    pass: &Pass,
    tables: &[Table],
    from: &[u8],
    to: &mut [u8],
    scratch: &mut [u8],
) {
    for step in &pass.steps {
        let table = &tables[step.table as usize];
        let (from, to) = (&from[step.from..], &mut to[step.to..]);
        let value = match &table.loads {
            Offsets::Near(offsets) => load(simd, offsets, near(from)),
            Offsets::Far(offsets) => load(simd, offsets, &from[..table.from_span]),
        };
        match &table.stores {
            _ if pass.streamed => stream(table, to, value, scratch),
            Offsets::Near(offsets) => store(offsets, near_mut(to), value),
            Offsets::Far(offsets) => store(offsets, &mut to[..table.to_span], value),
        }
    }
}

/// The next bytes, of a length that the compiler knows.
#[inline(always)]
fn near(bytes: &[u8]) -> &[u8; WINDOW] {
    bytes.first_chunk().expect("buffers are longer than their data by a window")
}

/// The same, to be written.
#[inline(always)]
fn near_mut(bytes: &mut [u8]) -> &mut [u8; WINDOW] {
    bytes.first_chunk_mut().expect("buffers are longer than their data by a window")
}

/// The bytes at an offset.
#[inline(always)]
fn place<P>(at: impl Into<u32>) -> Range<usize> {
    let at: u32 = at.into();
    at as usize..at as usize + size_of::<P>()
}

/// Loads a block, and returns what depends on every byte.
#[inline(always)]
fn load<S: Simd, O: Into<u32> + Copy>(simd: S, offsets: &Accesses<O>, from: &[u8]) -> S::u64s {
    let mut rest = 0;
    if offsets.has_narrow {
        let [b1, b2, b4, b8, b16, b32] = &offsets.narrow;
        rest ^= narrow::<u8, O>(b1, from) ^ narrow::<u16, O>(b2, from) ^ narrow::<u32, O>(b4, from);
        if size_of::<S::u64s>() > 8 {
            rest ^= narrow::<u64, O>(b8, from);
        }
        if size_of::<S::u64s>() > 16 {
            rest ^= narrow::<[u64; 2], O>(b16, from);
        }
        if size_of::<S::u64s>() > 32 {
            rest ^= narrow::<[u64; 4], O>(b32, from);
        }
    }
    let load = |at: O| bytemuck::pod_read_unaligned::<S::u64s>(&from[place::<S::u64s>(at)]);
    let mut sums = [simd.splat_u64s(rest); 4];
    let (chunks, others) = offsets.wide.as_chunks::<4>();
    for chunk in chunks {
        for (sum, &at) in sums.iter_mut().zip(chunk) {
            *sum = simd.xor_u64s(*sum, load(at));
        }
    }
    for &at in others {
        sums[0] = simd.xor_u64s(sums[0], load(at));
    }
    let [a, b, c, d] = sums;
    simd.xor_u64s(simd.xor_u64s(a, b), simd.xor_u64s(c, d))
}

/// The same with narrower registers.
#[inline(always)]
fn narrow<P: Register, O: Into<u32> + Copy>(offsets: &[O], from: &[u8]) -> u64 {
    let load = |at: O| bytemuck::pod_read_unaligned::<P>(&from[place::<P>(at)]);
    let mut sums = [P::zeroed(); 4];
    let (chunks, others) = offsets.as_chunks::<4>();
    for chunk in chunks {
        for (sum, &at) in sums.iter_mut().zip(chunk) {
            *sum = sum.xor(load(at));
        }
    }
    for &at in others {
        sums[0] = sums[0].xor(load(at));
    }
    let [a, b, c, d] = sums;
    a.xor(b).xor(c.xor(d)).fold()
}

/// Stores the value to a block.
#[inline(always)]
fn store<V: Pod, O: Into<u32> + Copy>(offsets: &Accesses<O>, to: &mut [u8], value: V) {
    fill(&offsets.wide, to, value);
    if offsets.has_narrow {
        let [b1, b2, b4, b8, b16, b32] = &offsets.narrow;
        let bytes = bytemuck::bytes_of(&value);
        if size_of::<V>() > 32 {
            fill(b32, to, first::<[u64; 4]>(bytes));
        }
        if size_of::<V>() > 16 {
            fill(b16, to, first::<[u64; 2]>(bytes));
        }
        if size_of::<V>() > 8 {
            fill(b8, to, first::<u64>(bytes));
        }
        fill(b4, to, first::<u32>(bytes));
        fill(b2, to, first::<u16>(bytes));
        fill(b1, to, first::<u8>(bytes));
    }
}

/// The first bytes of a register as a narrower one.
#[inline(always)]
fn first<P: Pod>(bytes: &[u8]) -> P {
    bytemuck::pod_read_unaligned(&bytes[..size_of::<P>()])
}

#[inline(always)]
fn fill<P: Pod, O: Into<u32> + Copy>(offsets: &[O], to: &mut [u8], value: P) {
    let (chunks, others) = offsets.as_chunks::<4>();
    for chunk in chunks {
        for &at in chunk {
            to[place::<P>(at)].copy_from_slice(bytemuck::bytes_of(&value));
        }
    }
    for &at in others {
        to[place::<P>(at)].copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// Stores something to a block, past the caches. Only the first bytes of a run depend on the loads.
#[inline(always)]
fn stream<V: Pod>(table: &Table, to: &mut [u8], value: V, scratch: &mut [u8]) {
    let first = size_of::<V>().min(scratch.len());
    scratch[..first].copy_from_slice(&bytemuck::bytes_of(&value)[..first]);
    for &(start, end) in &table.runs {
        let run = &mut to[start as usize..end as usize];
        let len = run.len();
        stream_copy(run, &scratch[..len]);
    }
}

/// A register that is not the widest.
trait Register: Pod {
    fn xor(self, other: Self) -> Self;

    /// Depends on every bit.
    fn fold(self) -> u64;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Register for $integer {
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn fold(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}

integers!(u8, u16, u32, u64);

macro_rules! lanes {
    ($($lanes:literal),*) => {$(
        impl Register for [u64; $lanes] {
            #[inline(always)]
            fn xor(mut self, other: Self) -> Self {
                for (a, b) in self.iter_mut().zip(other) {
                    *a ^= b;
                }
                self
            }

            #[inline(always)]
            fn fold(self) -> u64 {
                let mut all = 0;
                for lane in self {
                    all ^= lane;
                }
                all
            }
        }
    )*};
}

lanes!(2, 4);
