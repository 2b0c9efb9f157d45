//! Refusals of memory: none left, borrowed, shared with the output, of another kind.

use super::error_enum::error_variants;

error_variants! { $ memory_errors

/// Memory for a result cannot be allocated.
#[error("cannot allocate {bytes} bytes for a tensor")]
OutOfMemory {
    /// The size asked for.
    bytes: usize,
},

/// A mutable view in which two indices share an element.
#[error(
    "unsupported operation: more than one element of the written-to tensor refers to a single \
     memory location. \
     Please deep_clone() the tensor before performing the operation; clone() would share its \
     elements. [size {shape:?} stride {strides:?}: {}]", overlap_text(overlap)
)]
WriteOverlap {
    /// The shape.
    shape: Vec<usize>,
    /// The strides, in elements.
    strides: Vec<isize>,
    /// The two indices, or [`Overlap::TooHard`].
    overlap: Box<Overlap>,
},

/// An input that shares elements with the output.
#[error(
    "unsupported operation: some elements of the input tensor and the written-to tensor refer \
     to a single memory location. \
     Please deep_clone() the input before performing the operation, as clone() would share its \
     elements, or let it be copied: Exec::copying_first(). [{op}: {}]",
    shared_text(operand, overlap)
)]
ReadWriteOverlap {
    /// The operation.
    op: &'static str,
    /// Which of its operands.
    operand: &'static str,
    /// An index of the operand and one of the output that share an element, or
    /// [`Overlap::TooHard`]. If both have one shape, the two indices differ wherever there
    /// are such: the output would overwrite an element that is read later.
    overlap: Box<Overlap>,
},

/// The storage is being written, or (for a write) read, through another guard.
#[error(
    "elements are already borrowed {held}: cannot borrow them {wanted} [a guard of some of these \
     elements is alive, or a reader of elements around them, which storage().share_parts() allows; \
     parts of one guard, by split_at_mut, split_mut or unbind_mut, can be read and written at the \
     same time]"
)]
Borrowed {
    /// How it is borrowed.
    held: &'static str,
    /// How it was asked for.
    wanted: &'static str,
},

/// A write to memory whose owner lets it be read only.
#[error(
    "the storage is read-only: its memory belongs to an owner that shares it for reading \
     [copy the tensor first, with deep_clone()]"
)]
ReadOnly,

/// A tensor of another storage than the guard that it is to be read through.
#[error(
    "{op}: operand {operand} has a storage of its own, which this guard does not borrow: use \
     .read() of that tensor"
)]
OtherStorage {
    /// The operation.
    op: &'static str,
    /// Which of its operands.
    operand: &'static str,
},

/// A stride or an offset in bytes that is no multiple of the element width.
#[error("{}", byte_stride_text(*bytes, *width))]
ByteStride {
    /// The stride or the offset; 0 if it is the width that is refused.
    bytes: i128,
    /// The width of an element in bytes.
    width: usize,
},

/// A copy by bytes between items of different sizes.
#[error("items of {from} bytes cannot be copied into items of {to} bytes")]
ItemSize {
    /// The bytes of an item of the source.
    from: usize,
    /// The bytes of an item of the destination.
    to: usize,
},

/// A buffer that is not aligned for the element type.
#[error(
    "a buffer at address {address:#x} is not aligned to {align} bytes, as the element type \
     needs"
)]
Misaligned {
    /// The address.
    address: usize,
    /// The alignment needed.
    align: usize,
},
}
