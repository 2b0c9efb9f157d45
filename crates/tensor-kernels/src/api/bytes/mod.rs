//! Copies of items whose size in bytes is known at run time only: of a storage format, of another
//! library, of a file.
//!
//! A [`ByteView`] or [`ByteViewMut`] is memory, an item size, and where the items lie. Copies
//! between them are planned and run as those of tensors: an item of 4 bytes is copied as an `f32`
//! is, in the same time. Neither memory nor strides need any alignment.

mod copy;
mod view;

pub use copy::{copy_bytes, copy_bytes_uninit, to_byte_vec};
pub use view::{Byte, ByteView, ByteViewMut};
