//! Why an elementwise operation is done the way it is: the loops, how each operand is accessed,
//! blocks, scratch and bytes, as data and text.

use std::fmt;

#[cfg(doc)]
use tensor_core::DTypeError;
use tensor_core::{DType, DimVec, Layout, Result};

#[cfg(doc)]
use super::elementwise::elementwise_path;
use super::{
    copy_plan::check_reach,
    explanation_text::{loops_text, paragraph, tasks_text},
    operation_form::OperationForm,
};
use crate::{
    exec::Exec,
    kernel::RegisterOp,
    nest::{Loop, Nest},
    partition::task_count,
    plan::{ElementwiseWork, EqualResults, machine_for},
    run::{PlannedInRegisters, Role, planned_in_registers},
};

/// How an elementwise operation on `N` operands, the result among them, is planned; see
/// [`explain_elementwise`] and [`explain_operation`].
///
/// `Display` prints all of it, in lines of at most 100 columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementwiseExplanation<const N: usize> {
    exec: Exec,
    work: ElementwiseWork<N>,
    /// If this is done instead.
    in_registers: Option<PlannedInRegisters<N>>,
    copied_first: Option<usize>,
    dims: Vec<Loop<N>>,
    loops: Vec<Loop<N>>,
}

/// How an elementwise operation is planned: the loops before and after they are fused, the path,
/// how each operand is accessed, blocks, scratch, stores, threads and bytes.
///
/// The layout of the result comes first, and so does the width of its elements in `widths`, in
/// bytes; inputs are broadcast to its shape. `exec` is what the operation would be run with.
///
/// It is the plan of any function of these widths. A closure is also called for each of the results
/// that are equal because all inputs are broadcast. Operations on few elements are not planned but
/// computed at once. If an input [is copied first](ElementwiseExplanation::copied_first), what
/// follows is planned anew. Some named operations are computed in the registers that transpose an
/// operand instead, which [`explain_operation`] tells.
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
/// [`Error::Expand`](crate::Error::Expand) if an input does not broadcast to the result's shape;
/// [`Error::TooLarge`](crate::Error::TooLarge) if offsets in bytes exceed the address space.
pub fn explain_elementwise<const N: usize>(
    exec: &Exec,
    layouts: [&Layout; N],
    widths: [usize; N],
) -> Result<ElementwiseExplanation<N>> {
    explained(exec, layouts, widths, (None, false))
}

/// How a named operation is planned, as [`explain_elementwise`] tells for any function, and whether
/// it is computed in registers.
///
/// `op` is the name of the function in [`ops`](crate::ops), such as `"add"` or `"sqrt"`, and
/// `dtype` that of its inputs. The layout of the result comes first; inputs are broadcast to its
/// shape. The operands are taken not to share memory. On `f32` and `f64`, and at every
/// [`SimdLevel`](crate::SimdLevel) but `Scalar`, the operations `neg`, `abs`, `sqrt`, `relu`,
/// `square`, `recip`, `add`, `sub`, `mul`, `div` and `mul_add` may be computed by the copy that
/// transposes an operand to the result, while its elements are in registers: the path is
/// `in_registers` then, and the plan that of this copy.
///
/// ```
/// use tensor_kernels::{DType, Exec, Layout, SimdLevel, explain_operation};
///
/// let exec = Exec::current()?;
/// let rows = Layout::contiguous([512, 256])?;
/// let columns = Layout::contiguous([256, 512])?.t()?;
/// let explained = explain_operation(exec, "add", DType::F32, [&rows, &rows, &columns])?;
/// if exec.simd() != SimdLevel::Scalar {
///     assert_eq!(explained.path(), "in_registers");
///     assert_eq!(explained.access(2), "transposed in registers, on the way to the result");
/// }
/// let exp = explain_operation(exec, "exp", DType::F32, [&rows, &columns])?;
/// assert_eq!(exp.path(), "transposed"); // it takes more than an instruction or two
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`DTypeError::Unsupported`] if there is no operation of this name with as many operands, or it
/// is not defined for the dtype; otherwise those of [`explain_elementwise`].
pub fn explain_operation<const N: usize>(
    exec: &Exec,
    op: &'static str,
    dtype: DType,
    layouts: [&Layout; N],
) -> Result<ElementwiseExplanation<N>> {
    let form = OperationForm::<N>::of(op, dtype)?;
    explained(exec, layouts, form.widths, (form.register_op, form.computes_much))
}

fn explained<const N: usize>(
    exec: &Exec,
    layouts: [&Layout; N],
    widths: [usize; N],
    (op, computes_much): (Option<RegisterOp>, bool),
) -> Result<ElementwiseExplanation<N>> {
    const { assert!(N > 0, "an operation has a result") };
    let shape = layouts[0].shape();
    let broadcast: DimVec<Layout> =
        layouts.iter().map(|layout| layout.broadcast_to(shape)).collect::<Result<_>>()?;
    let layouts: [&Layout; N] = std::array::from_fn(|k| &broadcast[k]);
    for (layout, width) in layouts.into_iter().zip(widths) {
        check_reach(layout, width)?;
    }
    let dim = |d: usize| Loop { len: shape[d], strides: layouts.map(|of| of.strides()[d]) };
    let machine = &machine_for(layouts, widths, &exec.machine);
    let work = ElementwiseWork::plan(layouts, widths, EqualResults::Copied, machine);
    let in_registers =
        op.and_then(|op| planned_in_registers(exec, op, &layouts, widths[0], machine));
    let same_width = widths.map(|width| width == widths[0]);
    let copied_first = work.input_to_copy(same_width, machine);
    Ok(ElementwiseExplanation {
        exec: *exec,
        work: work.for_operation(computes_much),
        copied_first: copied_first.filter(|_| in_registers.is_none()),
        in_registers,
        dims: (0..shape.len()).map(dim).collect(),
        loops: Nest::of(layouts)?.loops().to_vec(),
    })
}

impl<const N: usize> ElementwiseExplanation<N> {
    /// The name of the path, as [`elementwise_path`] gives it for a usual machine, or
    /// `in_registers`.
    pub fn path(&self) -> &'static str {
        if self.in_registers.is_some() { "in_registers" } else { self.work.path }
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
        match &self.in_registers {
            Some(planned) => role_text(operand, planned.roles[operand]),
            None => self.work.access_text(operand),
        }
    }

    /// The operand, counted from the result on, that is copied into the result first, to be
    /// combined with the others there; `None` if none is. Only an input of the result's element
    /// type is, and only if no input is the result itself: both are taken to be so here.
    ///
    /// ```
    /// use tensor_kernels::{Exec, Layout, explain_elementwise};
    ///
    /// let rows = Layout::contiguous([2999, 3001])?;
    /// let columns = Layout::contiguous([3001, 2999])?.t()?;
    /// let explained = explain_elementwise(Exec::current()?, [&rows, &rows, &columns], [4; 3])?;
    /// assert_eq!(explained.copied_first(), Some(2)); // 36 MB, more than the caches hold
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    pub fn copied_first(&self) -> Option<usize> {
        self.copied_first
    }

    /// What is computed at a time, in words.
    pub fn blocks(&self) -> String {
        self.of_plan(|copy| copy.work.blocks_text(), ElementwiseWork::blocks_text)
    }

    /// The bytes of scratch that a task uses; 0 if all operands are accessed in place. On the path
    /// `in_registers` all tasks share them.
    pub fn scratch_bytes(&self) -> usize {
        self.of_plan(|copy| copy.scratch_bytes, |work| work.block.scratch_bytes())
    }

    /// The kind of stores, in words.
    pub fn stores(&self) -> &'static str {
        self.of_plan(|copy| copy.work.stores_text(), ElementwiseWork::stores_text)
    }

    /// The number of tasks that it is cut into for threads.
    pub fn tasks(&self) -> usize {
        self.of_plan(|copy| task_count(&self.exec, &copy.work), |work| task_count(&self.exec, work))
    }

    /// The bytes of the distinct elements of each operand: the first are written, the others read.
    /// What is broadcast counts once.
    pub fn operand_bytes(&self) -> [usize; N] {
        self.work.operand_bytes()
    }

    /// A property of what is run: of the copy that computes in registers, or of the plan.
    fn of_plan<R>(
        &self,
        of_copy: impl FnOnce(&PlannedInRegisters<N>) -> R,
        of_work: impl FnOnce(&ElementwiseWork<N>) -> R,
    ) -> R {
        match &self.in_registers {
            Some(copy) => of_copy(copy),
            None => of_work(&self.work),
        }
    }

    fn plan_text(&self) -> String {
        let in_registers = |copy: &PlannedInRegisters<N>| {
            format!("in_registers: computed in the registers of the transposing copy {}", copy.work)
        };
        self.of_plan(in_registers, ToString::to_string)
    }

    fn scratch_text(&self) -> String {
        let whose = if self.in_registers.is_some() { "in all" } else { "for each task" };
        format!("{} bytes {whose}", self.scratch_bytes())
    }
}

/// How an operand of an operation that is computed in registers is accessed.
fn role_text(operand: usize, role: Role) -> &'static str {
    match role {
        _ if operand == 0 => "in place, stored by the copy",
        Role::Alike => "in place, in the order of the result",
        Role::Value => "in place, one element for all results",
        Role::Transposed | Role::TransposedToo => {
            "transposed in registers, on the way to the result"
        }
        Role::Packed => "copied to scratch first, in the order of the result",
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
        paragraph(f, "plan", &self.plan_text())?;
        if let Some(k) = self.copied_first {
            let first = format!(
                "if {} has the element type of the result, it is copied into the result, and \
                 computed with the others there by another plan",
                operand_name(k)
            );
            paragraph(f, "first", &first)?;
        }
        for k in 0..N {
            paragraph(f, &operand_name(k), self.access(k))?;
        }
        paragraph(f, "blocks", &self.blocks())?;
        paragraph(f, "scratch", &self.scratch_text())?;
        paragraph(f, "stores", self.stores())?;
        paragraph(f, "threads", &tasks_text(&self.exec, self.tasks()))?;
        let [result, inputs @ ..] = &self.operand_bytes()[..] else { return Ok(()) };
        let read = inputs.iter().fold(0_usize, |sum, &bytes| sum.saturating_add(bytes));
        paragraph(f, "bytes", &format!("{result} written, {read} read"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use tensor_core::{AsOperand, s};

    use super::*;
    use crate::{
        Par, SimdLevel, Tensor,
        api::call::Call,
        kernel::{Function1, Function2, Function3},
        math::FmaMode,
    };

    /// An operation that returns 0, but for the registers is another one: its results tell which of
    /// the two was run.
    struct Spy;

    impl Function1<f32> for Spy {
        type Output = f32;
        const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::Square);

        fn call<M: FmaMode>(&self, _: f32) -> f32 {
            0.0
        }
    }

    impl Function2<f32, f32> for Spy {
        type Output = f32;
        const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::Add);

        fn call<M: FmaMode>(&self, _: f32, _: f32) -> f32 {
            0.0
        }
    }

    impl Function3<f32, f32, f32> for Spy {
        type Output = f32;
        const REGISTER_OP: Option<RegisterOp> = Some(RegisterOp::MulAdd);

        fn call<M: FmaMode>(&self, _: f32, _: f32, _: f32) -> f32 {
            0.0
        }
    }

    type F32 = Tensor<f32>;

    fn is_explained<const N: usize>(exec: &Exec, op: &'static str, layouts: [&Layout; N]) -> bool {
        let explained = explain_operation(exec, op, DType::F32, layouts).unwrap();
        explained.path() == "in_registers"
    }

    /// Is it explained as what is run? Returns whether it is run in registers.
    #[track_caller]
    fn check(exec: &Exec, inputs: &[&F32]) -> bool {
        let call = Call::new(exec, "spy");
        let (result, explained): (F32, bool) = match *inputs {
            [a] => {
                let result: F32 = call.eval1(Spy, a.as_operand()).unwrap();
                let layouts = [result.layout(), a.layout()];
                let explained = is_explained(exec, "square", layouts);
                (result, explained)
            }
            [a, b] => {
                let result: F32 = call.eval2(Spy, a.as_operand(), b.as_operand()).unwrap();
                let layouts = [result.layout(), a.layout(), b.layout()];
                let explained = is_explained(exec, "add", layouts);
                (result, explained)
            }
            [a, b, c] => {
                let operands = (a.as_operand(), b.as_operand(), c.as_operand());
                let result: F32 = call.eval3(Spy, operands.0, operands.1, operands.2).unwrap();
                let layouts = [result.layout(), a.layout(), b.layout(), c.layout()];
                let explained = is_explained(exec, "mul_add", layouts);
                (result, explained)
            }
            _ => unreachable!("one to three inputs"),
        };
        let run = result.to_vec().unwrap().iter().any(|&x| x != 0.0);
        let layouts: Vec<_> = inputs.iter().map(|input| input.layout()).collect();
        assert_eq!(explained, run, "{layouts:?} to {:?}", result.layout());
        run
    }

    /// Inputs of a shape: in its order, transposed, of every second column, one row, one value.
    fn inputs(rows: usize, columns: usize) -> [F32; 5] {
        let ones = |shape: [usize; 2]| Tensor::full(shape, 1.0f32).unwrap();
        let expand = |x: F32| x.expand([rows, columns]).unwrap();
        [
            ones([rows, columns]),
            ones([columns, rows]).t().unwrap(),
            ones([rows, 2 * columns]).index(s![.., ..;2]).unwrap(),
            expand(ones([1, columns])),
            expand(ones([1, 1])),
        ]
    }

    #[test]
    fn what_is_explained_as_computed_in_registers_is_what_is_run() {
        let mut exec = *Exec::current().unwrap();
        exec.par = Par::Serial;
        let mut runs = [0; 2];
        for (rows, columns) in [(5, 7), (16, 16), (31, 33), (32, 32), (64, 48), (5, 400), (400, 5)]
            .into_iter()
            .chain([(200, 300), (1000, 700)])
        {
            let all = inputs(rows, columns);
            for a in &all {
                runs[usize::from(check(&exec, &[a]))] += 1;
                for b in &all {
                    runs[usize::from(check(&exec, &[a, b]))] += 1;
                    for c in &all {
                        runs[usize::from(check(&exec, &[a, b, c]))] += 1;
                    }
                }
            }
        }
        let some = if exec.simd() == SimdLevel::Scalar { 0 } else { 20 };
        assert!(runs[0] >= 20 && runs[1] >= some, "{runs:?}");
    }
}
