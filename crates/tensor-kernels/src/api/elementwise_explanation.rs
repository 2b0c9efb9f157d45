//! Why an elementwise operation is done the way it is: the loops, how each operand is accessed,
//! blocks, scratch and bytes, as data and text.

use std::fmt;

use tensor_core::{DimVec, Layout, Result};

#[cfg(doc)]
use super::elementwise::elementwise_path;
use super::explanation_text::{loops_text, paragraph, tasks_text};
use crate::{
    exec::Exec,
    nest::{Loop, Nest},
    partition::task_count,
    plan::{ElementwiseWork, EqualResults},
};

/// How an elementwise operation on `N` operands, the result among them, is planned; see
/// [`explain_elementwise`].
///
/// `Display` prints all of it, in lines of at most 100 columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementwiseExplanation<const N: usize> {
    exec: Exec,
    work: ElementwiseWork<N>,
    dims: Vec<Loop<N>>,
    loops: Vec<Loop<N>>,
}

/// How an elementwise operation is planned: the loops before and after they are fused, the path,
/// how each operand is accessed, blocks, scratch, stores, threads and bytes.
///
/// The layout of the result comes first, and so does the width of its elements in `widths`, in
/// bytes; inputs are broadcast to its shape. `exec` is what the operation would be run with.
///
/// What is planned for a named operation is explained; a closure is also called for each of the
/// results that are equal because all inputs are broadcast. Operations on few elements are not
/// planned but computed at once, and a large result of a single transposed input may be that
/// input's copy, computed in place. Of any function of these widths, only the plan is known here:
/// `neg`, `abs`, `sqrt`, `relu`, `square`, `recip`, `add`, `sub`, `mul`, `div` and `mul_add` of f32
/// and f64 with one transposed operand are computed in the registers that transpose it instead, at
/// every [`SimdLevel`](crate::SimdLevel) but `Scalar`.
///
/// ```
/// use tensor_kernels::{Exec, Layout, explain_elementwise};
///
/// let rows = Layout::contiguous([512, 256])?;
/// let columns = Layout::contiguous([256, 512])?.t()?;
/// let explained = explain_elementwise(Exec::current()?, [&rows, &rows, &columns], [4; 3])?;
/// assert_eq!(explained.path(), "transposed");
/// assert_eq!(explained.access(2), "transposed into scratch, block by block");
/// assert_eq!(explained.operand_bytes(), [4 * 512 * 256; 3]);
/// println!("{explained}");
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::Expand`](crate::Error::Expand) if an input does not broadcast to the result's shape.
pub fn explain_elementwise<const N: usize>(
    exec: &Exec,
    layouts: [&Layout; N],
    widths: [usize; N],
) -> Result<ElementwiseExplanation<N>> {
    const { assert!(N > 0, "an operation has a result") };
    let shape = layouts[0].shape();
    let broadcast: DimVec<Layout> =
        layouts.iter().map(|layout| layout.broadcast_to(shape)).collect::<Result<_>>()?;
    let layouts: [&Layout; N] = std::array::from_fn(|k| &broadcast[k]);
    let dim = |d: usize| Loop { len: shape[d], strides: layouts.map(|of| of.strides()[d]) };
    Ok(ElementwiseExplanation {
        exec: *exec,
        work: ElementwiseWork::plan(layouts, widths, EqualResults::Copied, &exec.machine),
        dims: (0..shape.len()).map(dim).collect(),
        loops: Nest::of(layouts)?.loops().to_vec(),
    })
}

impl<const N: usize> ElementwiseExplanation<N> {
    /// The name of the path, as [`elementwise_path`] gives it for a usual machine.
    pub fn path(&self) -> &'static str {
        self.work.path
    }

    /// The dimensions as loops, with the strides of the result and the inputs in elements.
    pub fn dims(&self) -> &[Loop<N>] {
        &self.dims
    }

    /// The same loops in normal form: sorted by the result's stride, and fused.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// How an operand is accessed, in words; operand 0 is the result.
    ///
    /// # Panics
    /// If there is no such operand.
    pub fn access(&self, operand: usize) -> &'static str {
        self.work.access_text(operand)
    }

    /// What is computed at a time, in words.
    pub fn blocks(&self) -> String {
        self.work.blocks_text()
    }

    /// The bytes of scratch that a task uses; 0 if all operands are accessed in place.
    pub fn scratch_bytes(&self) -> usize {
        self.work.block.scratch_bytes()
    }

    /// The kind of stores, in words.
    pub fn stores(&self) -> &'static str {
        self.work.stores_text()
    }

    /// The number of tasks that it is cut into for threads.
    pub fn tasks(&self) -> usize {
        task_count(&self.exec, &self.work)
    }

    /// The bytes of the distinct elements of each operand: the first are written, the others read.
    /// What is broadcast counts once.
    pub fn operand_bytes(&self) -> [usize; N] {
        self.work.operand_bytes()
    }
}

/// The name of an operand in the text.
fn operand_name(k: usize) -> String {
    if k == 0 { "result".to_owned() } else { format!("input {k}") }
}

impl<const N: usize> fmt::Display for ElementwiseExplanation<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numel = self.dims.iter().fold(1_usize, |numel, l| numel.saturating_mul(l.len));
        let s = if numel == 1 { "" } else { "s" };
        let widths = self.work.widths;
        let elementwise = format!("{numel} element{s} of {widths:?} bytes, the result's first");
        paragraph(f, "elementwise", &elementwise)?;
        let dims = loops_text(&self.dims);
        paragraph(f, "dims", &format!("{dims} (length x [stride of the result, of each input])"))?;
        paragraph(f, "fused loops", &loops_text(&self.loops))?;
        paragraph(f, "plan", &self.work.to_string())?;
        for k in 0..N {
            paragraph(f, &operand_name(k), self.access(k))?;
        }
        paragraph(f, "blocks", &self.blocks())?;
        paragraph(f, "scratch", &format!("{} bytes for each task", self.scratch_bytes()))?;
        paragraph(f, "stores", self.stores())?;
        paragraph(f, "threads", &tasks_text(&self.exec, self.tasks()))?;
        let [result, inputs @ ..] = &self.operand_bytes()[..] else { return Ok(()) };
        let read = inputs.iter().fold(0_usize, |sum, &bytes| sum.saturating_add(bytes));
        paragraph(f, "bytes", &format!("{result} written, {read} read"))
    }
}
