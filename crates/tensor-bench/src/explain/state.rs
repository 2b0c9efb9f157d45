//! A tensor without its elements, and what can be said about it.

use tensor_kernels::{CopyPlan, DType, Error, Exec, Layout, Lint};

use crate::{
    Result,
    input::chain::{Chain, Step},
    measure::setting::copy_path,
    output::render::{bytes, join},
};

/// How many offsets are listed.
const MAX_LISTED_OFFSETS: usize = 12;

/// What lies in a page is fast, whatever its strides.
const MIN_LINTED_BYTES: usize = 4096;

/// A tensor without its elements.
#[derive(Clone)]
pub struct State {
    /// Sizes, strides and offset.
    pub layout: Layout,
    /// The number of elements in the storage.
    pub storage_len: usize,
    /// The element type.
    pub dtype: DType,
    /// Where the storage comes from.
    pub origin: StorageOrigin,
}

/// Where the storage of a tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageOrigin {
    /// A new tensor.
    New,
    /// A view: the storage is that of the step before.
    Shared,
    /// `contiguous()` of what is contiguous: the tensor itself.
    AlreadyContiguous,
    /// A copy by a reshape.
    Reshaped,
    /// A copy by `contiguous()`, because a dimension had another stride than it needs.
    Packed {
        /// The dimension.
        dim: usize,
        /// Its stride.
        stride: isize,
        /// The stride that it would need.
        needed: usize,
    },
}

impl StorageOrigin {
    /// Were elements copied?
    pub fn is_copy(self) -> bool {
        matches!(self, Self::Reshaped | Self::Packed { .. })
    }
}

impl State {
    /// The source of a chain.
    ///
    /// # Errors
    /// A size that overflows.
    pub fn start(chain: &Chain) -> Result<State> {
        let layout = Layout::contiguous(&chain.shape)?;
        layout.dense_bytes(chain.dtype.size())?;
        let (storage_len, dtype) = (layout.numel(), chain.dtype);
        Ok(State { layout, storage_len, dtype, origin: StorageOrigin::New })
    }

    /// The tensor that a call gives.
    ///
    /// # Errors
    /// Those of the call.
    pub fn step(&self, step: &Step) -> Result<State, Error> {
        match step {
            Step::View(op) => self.view(op.apply(&self.layout)?),
            Step::ViewOrCopy(op) => match op.apply(&self.layout) {
                Err(Error::NotViewable { .. }) => {
                    self.copied(op.apply(&self.dense()?)?, StorageOrigin::Reshaped)
                }
                viewed => self.view(viewed?),
            },
            Step::Contiguous => match self.layout.contiguity_break() {
                None => {
                    let same = self.view(self.layout.clone())?;
                    Ok(State { origin: StorageOrigin::AlreadyContiguous, ..same })
                }
                Some(dim) => {
                    let stride = self.layout.strides()[dim];
                    let needed = self.layout.shape()[dim + 1..].iter().product();
                    self.copied(self.dense()?, StorageOrigin::Packed { dim, stride, needed })
                }
            },
        }
    }

    fn view(&self, layout: Layout) -> Result<State, Error> {
        layout.check_within(self.storage_len, self.dtype.size())?;
        Ok(State { layout, origin: StorageOrigin::Shared, ..self.clone() })
    }

    fn copied(&self, layout: Layout, origin: StorageOrigin) -> Result<State, Error> {
        layout.dense_bytes(self.dtype.size())?;
        Ok(State { storage_len: layout.numel(), layout, dtype: self.dtype, origin })
    }

    /// The contiguous layout of the same shape.
    pub(super) fn dense(&self) -> Result<Layout, Error> {
        Layout::contiguous(self.layout.shape())
    }

    /// The bytes of its elements, each counted once for every index.
    pub fn bytes(&self) -> u128 {
        self.layout.numel() as u128 * self.dtype.size() as u128
    }

    /// What is slow about the strides, if the view is larger than a page.
    pub fn lints(&self) -> Vec<Lint> {
        let width = self.dtype.size();
        let span = self.layout.bounds().map_or(0, |(lowest, highest)| highest - lowest);
        match span.saturating_mul(width) > MIN_LINTED_BYTES {
            true => self.layout.lints(width),
            false => Vec::new(),
        }
    }

    /// The plan of a copy to contiguous memory, explained.
    ///
    /// # Errors
    /// None for layouts whose dense size does not overflow.
    pub fn plan(&self, exec: &Exec) -> Result<String> {
        let width = self.dtype.size();
        let plan = CopyPlan::new(&self.layout, &self.dense()?, width, &exec.machine)?;
        Ok(plan.explain(exec).to_string().trim_end().to_owned())
    }

    /// Whether it is contiguous, and which dimension breaks contiguity.
    pub fn contiguity(&self) -> String {
        match self.layout.contiguity_break() {
            None => "contiguous".to_owned(),
            Some(dim) => {
                let behind: usize = self.layout.shape()[dim + 1..].iter().product();
                let stride = self.layout.strides()[dim];
                format!("not contiguous: dimension {dim} has stride {stride}, not {behind}")
            }
        }
    }

    /// Whose storage it has, and why it is a new one.
    pub fn storage(&self) -> String {
        let size = format!("{} {}", self.storage_len, self.dtype);
        match self.origin {
            StorageOrigin::New => format!("new, {size}"),
            StorageOrigin::Shared => format!("the same, {size}"),
            StorageOrigin::AlreadyContiguous => {
                format!("the same, {size}; it was contiguous, nothing is copied")
            }
            StorageOrigin::Reshaped => {
                format!("new, {size}, copied because no strides can express this view")
            }
            StorageOrigin::Packed { dim, stride, needed } => {
                format!(
                    "new, {size}, copied because dimension {dim} had stride {stride}, not {needed}"
                )
            }
        }
    }

    /// The first offsets in logical order.
    pub fn order(&self) -> String {
        if self.layout.numel() == 0 {
            return "no elements".to_owned();
        }
        let more = if self.layout.numel() > MAX_LISTED_OFFSETS { ", …" } else { "" };
        let listed = join(self.layout.offsets().take(MAX_LISTED_OFFSETS), ", ");
        format!("offsets in logical order: {listed}{more}")
    }

    /// What `contiguous()` would do.
    ///
    /// # Errors
    /// None for layouts that can be copied.
    pub fn copy(&self, exec: &Exec) -> Result<String> {
        if self.layout.is_contiguous() {
            return Ok("contiguous() would return it as it is".to_owned());
        }
        // A chain may describe more elements than there are addresses.
        let Ok(size) = self.layout.dense_bytes(self.dtype.size()) else {
            return Ok(
                "contiguous() would be refused: the copy exceeds the address space".to_owned()
            );
        };
        let size = bytes(size as u128);
        let path = copy_path(exec, &self.layout, self.dtype.size())?;
        Ok(format!("contiguous() would copy {size}, path: {path}"))
    }
}
