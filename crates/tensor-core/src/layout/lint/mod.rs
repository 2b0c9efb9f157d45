//! Strides that are slow on CPUs, whatever is computed: named, with a padded layout where padding
//! helps.
//!
//! A lint is a property of strides in bytes. It says what may cost time, not how much: that depends
//! on the machine and on the order in which elements are visited. `tensor-bench explain` measures
//! it. The sizes are those of nearly every CPU: cache lines of 64 bytes, first-level caches of 64
//! sets (4096 bytes of each way), pages of 4096 bytes.

mod padding;
mod text;

use super::Layout;
use crate::{DimVec, sort::sort_by_key};

/// What is slow about a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LintKind {
    /// A stride is a power of two of at least 512 bytes, along more indices than the cache sets
    /// hold in which they lie. A walk along the dimension displaces its own cache lines, as when a
    /// matrix with rows of 4096 floats is transposed.
    PowerOfTwoStride,
    /// A stride is a multiple of 4096 bytes, so that elements which are visited together, one in
    /// each row or plane, agree in the low 12 bits of their addresses. They share the sets of the
    /// first-level cache, and loads wait for stores that they do not depend on.
    PageAliasing,
    /// Logical order visits another page with each element, for more elements than a first-level
    /// TLB has entries.
    PageStride,
    /// Rows, up to 1024 of them, share cache lines with their neighbours. If each is written by
    /// another thread, for example as its partial result, the lines move to and fro between cores.
    FalseSharing,
    /// Fewer adjacent bytes than a cache line: of each line that is fetched only a part is used.
    ShortRows,
}

/// A finding about a layout; see [`Layout::lints`].
///
/// `Display` prints one sentence, with the stride that avoids it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lint {
    finding: Finding,
    padded: Option<Layout>,
}

impl Lint {
    /// What is slow.
    pub fn kind(&self) -> LintKind {
        self.finding.kind
    }

    /// The dimension whose stride it is about, counted from the front.
    pub fn dim(&self) -> usize {
        self.finding.dim
    }

    /// The stride of that dimension, in bytes, without its sign.
    pub fn stride_bytes(&self) -> usize {
        self.finding.stride_bytes
    }

    /// The adjacent bytes of a row: what lies together inside of that dimension.
    pub fn row_bytes(&self) -> usize {
        self.finding.row_bytes
    }

    /// The layout with padding, in which [`dim`](Self::dim) has a stride that is an odd number of
    /// cache lines; `None` where padding does not help. The order of dimensions in memory is the
    /// same.
    pub fn padded(&self) -> Option<&Layout> {
        self.padded.as_ref()
    }

    /// The stride of [`dim`](Self::dim) in the padded layout, in elements. For a row-major layout
    /// it is the last argument of [`zeros_padded`](crate::TensorBase::zeros_padded).
    pub fn padded_stride(&self) -> Option<usize> {
        self.padded.as_ref().map(|padded| padded.strides[self.finding.dim].unsigned_abs())
    }
}

/// A lint without advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Finding {
    kind: LintKind,
    dim: usize,
    size: usize,
    stride_bytes: usize,
    row_bytes: usize,
}

const CACHE_LINE_BYTES: usize = 64;

/// The smallest page, and the bytes of a way of a first-level cache.
const PAGE_BYTES: usize = 4096;

/// The fewest ways of a first-level cache in use.
const WAYS: usize = 8;

/// Smaller powers of two spread over more than an eighth of the sets.
const MIN_POWER_OF_TWO_BYTES: usize = 512;

/// Entries of a first-level TLB.
const TLB_ENTRIES: usize = 64;

/// More rows than this are written by blocks of rows, of which only the outer lines are shared.
const MAX_ROWS_OF_THREADS: usize = 1024;

/// In longer rows the lines at their ends matter little.
const MAX_SHARED_ROW_BYTES: usize = 512;

impl Layout {
    /// What is slow about the strides, for elements of `itemsize` bytes, with padded layouts that
    /// avoid it. Empty for most layouts.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, LintKind, Tensor};
    ///
    /// let square = Layout::contiguous(&[4096, 4096])?;
    /// let lints = square.lints(4);
    /// assert_eq!(lints[0].kind(), LintKind::PowerOfTwoStride);
    /// assert_eq!((lints[0].dim(), lints[0].padded_stride()), (0, Some(4112)));
    /// println!("{}", lints[0]);
    ///
    /// let padded = Tensor::<f32>::zeros_padded(&[4096, 4096], 0, 4112)?;
    /// assert!(padded.lints().is_empty());
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn lints(&self, itemsize: usize) -> Vec<Lint> {
        let with_padding =
            |finding| Lint { finding, padded: padding::padded(self, itemsize, finding) };
        self.findings(itemsize).into_iter().map(with_padding).collect()
    }

    /// All findings, in the order of kinds.
    fn findings(&self, itemsize: usize) -> Vec<Finding> {
        let walk = Walk::of(self, itemsize);
        if self.numel == 0 || itemsize == 0 || walk.0.is_empty() {
            return Vec::new();
        }
        let mut findings = Vec::new();
        for at in 0..walk.0.len() {
            findings.extend(walk.power_of_two_stride(at));
            findings.extend(walk.page_aliasing(at));
        }
        findings.extend(walk.page_stride());
        findings.extend(walk.false_sharing(self.start_of_line(itemsize)));
        findings.extend(walk.short_rows());
        sort_by_key(&mut findings, |finding| (finding.kind, finding.dim));
        findings
    }

    /// The byte of a cache line at which the lowest element lies, in an aligned storage.
    fn start_of_line(&self, itemsize: usize) -> usize {
        let lowest = self.bounds().map_or(0, |(lowest, _)| lowest);
        (lowest % CACHE_LINE_BYTES * (itemsize % CACHE_LINE_BYTES)) % CACHE_LINE_BYTES
    }
}

/// A dimension of more than one index whose elements differ.
#[derive(Clone, Copy, Debug)]
struct Step {
    dim: usize,
    size: usize,
    stride_bytes: usize,
    /// The bytes from the first to the last one that lie inside of an index of it.
    extent: usize,
    /// The adjacent bytes inside of an index of it.
    run: usize,
}

/// The dimensions of a layout in the order of memory, the fastest first.
struct Walk(DimVec<Step>);

impl Walk {
    fn of(layout: &Layout, itemsize: usize) -> Self {
        let bytes = |stride: isize| stride.unsigned_abs().saturating_mul(itemsize);
        let mut dims: DimVec<usize> =
            (0..layout.ndim()).filter(|&d| layout.shape[d] > 1 && layout.strides[d] != 0).collect();
        sort_by_key(&mut dims, |&d| layout.strides[d].unsigned_abs());
        let (mut extent, mut run) = (itemsize, itemsize);
        let step = |dim: usize| {
            let (size, stride_bytes) = (layout.shape[dim], bytes(layout.strides[dim]));
            let step = Step { dim, size, stride_bytes, extent, run };
            let reach = stride_bytes.saturating_mul(size - 1);
            if run == extent && stride_bytes <= run {
                run = run.saturating_add(reach);
            }
            extent = extent.saturating_add(reach);
            step
        };
        Self(dims.into_iter().map(step).collect())
    }

    fn power_of_two_stride(&self, at: usize) -> Option<Finding> {
        let step = self.0[at];
        let sets = (PAGE_BYTES / step.stride_bytes.max(1)).max(1);
        let is_slow = step.stride_bytes.is_power_of_two()
            && step.stride_bytes >= MIN_POWER_OF_TWO_BYTES
            && step.size > WAYS * sets;
        is_slow.then(|| step.finding(LintKind::PowerOfTwoStride))
    }

    /// There is a faster dimension, along which the rows or planes are visited together.
    fn page_aliasing(&self, at: usize) -> Option<Finding> {
        let step = self.0[at];
        let is_slow = at > 0 && step.stride_bytes.is_multiple_of(PAGE_BYTES);
        is_slow.then(|| step.finding(LintKind::PageAliasing))
    }

    /// The last dimension is the innermost one of logical order.
    fn page_stride(&self) -> Option<Finding> {
        let step = self.0.iter().max_by_key(|step| step.dim)?;
        let is_slow = step.stride_bytes >= PAGE_BYTES && step.size > TLB_ENTRIES;
        is_slow.then(|| step.finding(LintKind::PageStride))
    }

    /// The slowest dimension is the one that threads share out. A row shares a line with the one
    /// before it if it starts further into a cache line than the gap between them is long.
    fn false_sharing(&self, start_of_line: usize) -> Option<Finding> {
        let (rows, inside) = self.0.split_last()?;
        let gap = rows.stride_bytes.checked_sub(rows.extent)?;
        let start = |row: usize| (start_of_line + row * rows.stride_bytes) % CACHE_LINE_BYTES;
        let is_slow = !inside.is_empty()
            && rows.size <= MAX_ROWS_OF_THREADS
            && rows.stride_bytes < MAX_SHARED_ROW_BYTES
            && (1..rows.size).any(|row| start(row) > gap);
        is_slow.then(|| rows.finding(LintKind::FalseSharing))
    }

    /// What lies in one page stays in the first-level cache, line by line.
    fn short_rows(&self) -> Option<Finding> {
        let last = self.0.last()?;
        let reach = last.stride_bytes.saturating_mul(last.size);
        let around = self.0.iter().find(|step| step.stride_bytes > step.run)?;
        let is_slow = around.run < CACHE_LINE_BYTES && reach > PAGE_BYTES;
        is_slow.then(|| around.finding(LintKind::ShortRows))
    }
}

impl Step {
    fn finding(self, kind: LintKind) -> Finding {
        let Self { dim, size, stride_bytes, run, .. } = self;
        Finding { kind, dim, size, stride_bytes, row_bytes: run }
    }
}
