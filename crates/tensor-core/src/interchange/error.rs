//! The errors of conversions from and to other libraries' arrays, and of files.

use std::{error, fmt, io};

use crate::{DType, Error};

/// Why an array of another library, or a file, was refused. Nothing has been consumed or written,
/// apart from the part of a file that precedes an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum InterchangeError {
    /// Sizes, strides, borrows or memory: an error of this crate.
    Tensor(Error),

    /// An array type of a fixed number of dimensions, and a tensor of another.
    Rank {
        /// The dimensions of the array type.
        expected: usize,
        /// The dimensions of the tensor.
        found: usize,
    },

    /// A mutable view for ndarray, whose rule is narrower than that no two indices share an
    /// element: every stride must be larger than what all smaller ones span.
    Interleaved {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<isize>,
    },

    /// An element type that this crate does not have.
    UnsupportedDType {
        /// The format.
        format: &'static str,
        /// The name that the format has for the element type.
        dtype: String,
    },

    /// An element type that a format does not have.
    Inexpressible {
        /// The format.
        format: &'static str,
        /// The element type.
        dtype: DType,
    },

    /// A byte that is neither 0 nor 1, where a bool should be.
    NotBool {
        /// The index of the element in memory.
        element: usize,
        /// The byte.
        byte: u8,
    },

    /// A layout that the format cannot express without a copy.
    NotContiguous {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<isize>,
    },

    /// A file or a struct that breaks the rules of its format.
    Malformed {
        /// The format.
        format: &'static str,
        /// The rule, and the values that break it.
        why: String,
    },

    /// A name that a file does not have.
    NoSuchTensor {
        /// The name.
        name: String,
    },

    /// Two tensors of one name, in what is to be written.
    DuplicateName {
        /// The name.
        name: String,
    },

    /// Memory of another device than the CPU.
    Device {
        /// DLPack's number of the kind of device.
        device_type: i32,
        /// The number of the device.
        device_id: i32,
    },

    /// Read-only elements, for the struct of DLPack before version 1, which cannot say so.
    ReadOnlyUnversioned,

    /// An error of the operating system.
    Io(io::Error),

    /// An error, and the file or the tensor that it is about.
    At {
        /// The file, or the tensor's name.
        place: String,
        /// What happened there.
        error: Box<InterchangeError>,
    },
}

/// The result type of this module.
pub type Result<T, E = InterchangeError> = std::result::Result<T, E>;

impl InterchangeError {
    /// The error without the places where it happened.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// # #[cfg(feature = "npy")] {
    /// use tensor_kernels::{AnyTensor, interchange::InterchangeError};
    ///
    /// let missing = AnyTensor::load_npy("/missing/a.npy").unwrap_err();
    /// assert!(missing.to_string().starts_with("/missing/a.npy: "));
    /// assert!(matches!(missing.cause(), InterchangeError::Io(_)));
    /// # }
    /// ```
    pub fn cause(&self) -> &Self {
        let mut error = self;
        while let Self::At { error: inner, .. } = error {
            error = inner;
        }
        error
    }

    #[cfg(any(feature = "npy", feature = "safetensors"))]
    pub(super) fn at(self, place: impl fmt::Display) -> Self {
        Self::At { place: place.to_string(), error: Box::new(self) }
    }

    #[cfg(any(feature = "npy", feature = "safetensors", feature = "dlpack"))]
    pub(super) fn malformed(format: &'static str, why: impl Into<String>) -> Self {
        Self::Malformed { format, why: why.into() }
    }
}

impl fmt::Display for InterchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(error) => error.fmt(f),
            Self::Rank { expected, found } => write!(
                f,
                "an array type of {expected} dimensions cannot hold a tensor of {found} [IxDyn \
                 holds any number]"
            ),
            Self::Interleaved { shape, strides } => write!(
                f,
                "ndarray has no mutable view of shape {shape:?} strides {strides:?}: each stride \
                 must be larger than what the smaller ones span [read it, with to_ndarray, or \
                 write it through its parts, with split_mut]"
            ),
            Self::UnsupportedDType { format, dtype } => {
                write!(f, "{format}: dtype {dtype} is not supported")
            }
            Self::Inexpressible { format, dtype } => write!(
                f,
                "{format} has no element type for {dtype} [convert the tensor first, to another \
                 dtype]"
            ),
            Self::NotBool { element, byte } => {
                write!(f, "element {element} is {byte}, which is no bool")
            }
            Self::NotContiguous { shape, strides } => write!(
                f,
                "a tensor of shape {shape:?} strides {strides:?} is not contiguous [save a copy, \
                 .contiguous()?, or choose to write the elements in logical order: pack]"
            ),
            Self::Malformed { format, why } => write!(f, "{format}: {why}"),
            Self::NoSuchTensor { name } => write!(f, "there is no tensor named {name:?}"),
            Self::DuplicateName { name } => write!(f, "two tensors are named {name:?}"),
            Self::Device { device_type, device_id } => write!(
                f,
                "DLPack: the memory belongs to device {device_id} of type {device_type}, not to \
                 the CPU (type 1) [copy the array to the CPU first]"
            ),
            Self::ReadOnlyUnversioned => f.write_str(
                "DLPack: the elements are read-only, and the struct before version 1 cannot say \
                 so [export a copy, .deep_clone()?, or the struct of version 1]",
            ),
            Self::Io(error) => error.fmt(f),
            Self::At { place, error } => write!(f, "{place}: {error}"),
        }
    }
}

impl error::Error for InterchangeError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Tensor(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::At { error, .. } => Some(&**error),
            _ => None,
        }
    }
}

impl From<Error> for InterchangeError {
    fn from(error: Error) -> Self {
        Self::Tensor(error)
    }
}

impl From<io::Error> for InterchangeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
