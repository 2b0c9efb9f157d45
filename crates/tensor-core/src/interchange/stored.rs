//! Elements as bytes: read from a source, found in a memory map, written to a sink.
//!
//! Elements are read into memory of their own type, without a buffer between. Bools are checked,
//! because not every byte is one.

use std::{
    io::{self, Read, Write},
    marker::PhantomData,
    ops::Range,
    sync::Arc,
};

use bytemuck::{
    Pod, Zeroable,
    checked::{self, CheckedBitPattern, CheckedCastError},
};
use memmap2::Mmap;

use super::{InterchangeError, Mapped, Result, WhyCopied, check_bools};
use crate::{
    AnyTensorBase, BuiltIn, DType, DTypeError, Layout, ReadKernel, TensorBase, TensorViewBase,
    ViewRef, dtype::for_each_dtype,
};

/// Views that are not made of longer runs are packed and written in blocks of about this size. A
/// block of 256 rows of a transposed matrix reads 1 KiB of each row of the matrix.
const BLOCK_BYTES: usize = 4 << 20;
const LONG_RUN_BYTES: usize = 4 << 10;

/// An element type as files have it.
trait Stored: BuiltIn + Zeroable + CheckedBitPattern {
    /// The bytes of what has a byte order of its own: half a complex number.
    const PART: usize;

    /// Fills `elements` from a source.
    fn read_into(elements: &mut [Self], source: &mut dyn Read, swap: bool) -> Result<()>;
}

fn read_plain<T: Stored + Pod>(
    elements: &mut [T],
    source: &mut dyn Read,
    swap: bool,
) -> Result<()> {
    let bytes = bytemuck::cast_slice_mut(elements);
    source.read_exact(bytes).map_err(cut)?;
    if swap {
        swap_parts(bytes, T::PART);
    }
    Ok(())
}

fn swap_parts(bytes: &mut [u8], part: usize) {
    match part {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|part| part.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|part| part.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|part| part.reverse()),
        _ => {}
    }
}

fn cut(error: io::Error) -> InterchangeError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "truncated: the data ends before the last element").into()
        }
        _ => error.into(),
    }
}

macro_rules! stored {
    ($($(#[$gate:meta])* $type:ty: $part:literal;)*) => {$(
        $(#[$gate])*
        impl Stored for $type {
            const PART: usize = $part;

            fn read_into(elements: &mut [Self], source: &mut dyn Read, swap: bool) -> Result<()> {
                read_plain(elements, source, swap)
            }
        }
    )*};
}

stored! {
    u8: 1; u16: 2; u32: 4; u64: 8; i8: 1; i16: 2; i32: 4; i64: 8; f32: 4; f64: 8;
    #[cfg(feature = "half")] half::f16: 2;
    #[cfg(feature = "half")] half::bf16: 2;
    #[cfg(feature = "complex")] num_complex::Complex<f32>: 4;
    #[cfg(feature = "complex")] num_complex::Complex<f64>: 8;
}

impl Stored for bool {
    const PART: usize = 1;

    fn read_into(elements: &mut [Self], source: &mut dyn Read, _: bool) -> Result<()> {
        let mut buffer = [0; 16 << 10];
        let mut before = 0;
        for part in elements.chunks_mut(buffer.len()) {
            let bytes = &mut buffer[..part.len()];
            source.read_exact(bytes).map_err(cut)?;
            check_bools(bytes, before)?;
            part.iter_mut().zip(bytes).for_each(|(to, &mut byte)| *to = byte != 0);
            before += part.len();
        }
        Ok(())
    }
}

/// Runs an expression with `T` as the element type of a dtype.
macro_rules! with_stored {
    ([$dtype:expr, $t:ident => $value:expr]
     $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
        match $dtype {
            $($(#[$gate])* DType::$variant => { type $t = $type; $value })*
            #[allow(unreachable_patterns, reason = "a build with all features")]
            dtype => Err(crate::Error::from(DTypeError::NotInBuild { dtype }).into()),
        }
    };
}

/// The alignment of a dtype's elements, in bytes.
#[cfg(feature = "safetensors")]
pub(super) fn alignment(dtype: DType) -> Result<usize> {
    for_each_dtype!(with_stored, dtype, T => Ok(align_of::<T>()))
}

/// The elements of a dense layout from offset 0, in the order of memory.
///
/// Memory is allocated before anything is read: the caller has checked that the source has as many
/// bytes.
pub(super) fn read<K>(
    source: &mut dyn Read,
    dtype: DType,
    layout: Layout,
    swap: bool,
) -> Result<AnyTensorBase<K>> {
    for_each_dtype!(with_stored, dtype, T => read_typed::<T, K>(source, layout, swap))
}

fn read_typed<T: Stored, K>(
    source: &mut dyn Read,
    layout: Layout,
    swap: bool,
) -> Result<AnyTensorBase<K>> {
    let tensor = TensorBase::<T, K>::zeros([layout.numel()])?;
    {
        let mut guard = tensor.write()?;
        let mut view = guard.as_view_mut()?;
        let elements = view.as_slice_mut().expect("zeros are contiguous");
        T::read_into(elements, source, swap)?;
    }
    Ok(T::into_any(tensor.with_layout(layout)?))
}

/// The elements of a dense layout from offset 0 in a part of a memory map: not copied if their
/// alignment and byte order allow it.
pub(super) fn map<K>(
    map: &Arc<Mmap>,
    range: Range<usize>,
    dtype: DType,
    layout: Layout,
    swap: bool,
) -> Result<Mapped<K>> {
    for_each_dtype!(with_stored, dtype, T => map_typed::<T, K>(map, range, layout, swap))
}

fn map_typed<T: Stored, K>(
    map: &Arc<Mmap>,
    range: Range<usize>,
    layout: Layout,
    swap: bool,
) -> Result<Mapped<K>> {
    let mut bytes = &map[range.clone()];
    let copied = match checked::try_cast_slice::<u8, T>(bytes) {
        _ if swap && size_of::<T>() > 1 => WhyCopied::ByteOrder,
        Ok(_) => {
            let owner = MappedElements { map: Arc::clone(map), range, element: PhantomData };
            let tensor = TensorBase::<T, K>::from_owner(owner, layout)?;
            return Ok(Mapped { tensor: T::into_any(tensor), copied: None });
        }
        // Only bools have these.
        Err(CheckedCastError::InvalidBitPattern) => {
            check_bools(bytes, 0)?;
            WhyCopied::Misaligned
        }
        Err(CheckedCastError::PodCastError(_)) => WhyCopied::Misaligned,
    };
    let tensor = read_typed::<T, K>(&mut bytes, layout, swap)?;
    Ok(Mapped { tensor, copied: Some(copied) })
}

/// A part of a memory map that has been found to consist of aligned elements `T`.
struct MappedElements<T> {
    map: Arc<Mmap>,
    range: Range<usize>,
    element: PhantomData<fn() -> T>,
}

impl<T: Stored> AsRef<[T]> for MappedElements<T> {
    fn as_ref(&self) -> &[T] {
        checked::try_cast_slice(&self.map[self.range.clone()]).expect("checked by `map_typed`")
    }
}

/// Writes the elements in logical order, with at most a block of further memory.
pub(super) fn write<K: ReadKernel>(
    out: &mut dyn Write,
    tensor: &AnyTensorBase<K>,
    swap: bool,
) -> Result<()> {
    macro_rules! typed {
        ([] $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {
            match tensor {
                $($(#[$gate])* AnyTensorBase::$variant(tensor) => {
                    write_blocks(out, &tensor.read()?.as_view(), swap)
                })*
            }
        };
    }
    for_each_dtype!(typed)
}

fn write_blocks<T: Stored, K: ReadKernel>(
    out: &mut dyn Write,
    view: &TensorViewBase<'_, T, K>,
    swap: bool,
) -> Result<()> {
    let long = LONG_RUN_BYTES / size_of::<T>();
    if view.is_contiguous() || view.layout().runs().next().is_none_or(|(_, len)| len >= long) {
        return view.runs().try_for_each(|run| write_run(out, run, swap));
    }
    let block = BLOCK_BYTES / size_of::<T>();
    if view.numel() <= block {
        let packed = K::to_vec(ViewRef::from(view))?;
        return write_run(out, &packed, swap);
    }
    let outer = view.shape().iter().position(|&size| size > 1).expect("more than one element");
    let size = view.shape()[outer];
    let rows = (block / (view.numel() / size)).max(1);
    for start in (0..size).step_by(rows) {
        write_blocks(out, &view.narrow(outer, start as isize, rows.min(size - start))?, swap)?;
    }
    Ok(())
}

fn write_run<T: Stored>(out: &mut dyn Write, run: &[T], swap: bool) -> Result<()> {
    if !swap {
        return Ok(out.write_all(bytemuck::cast_slice(run))?);
    }
    for part in run.chunks(BLOCK_BYTES / size_of::<T>()) {
        let mut bytes = bytemuck::cast_slice(part).to_vec();
        swap_parts(&mut bytes, T::PART);
        out.write_all(&bytes)?;
    }
    Ok(())
}
