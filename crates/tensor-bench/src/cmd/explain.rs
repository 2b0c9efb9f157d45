//! `explain`: a chain of calls step by step: shape and strides, whether a step copies, which
//! elements of the storage the view has, and what is slow about its strides.

use std::io::Write;

use tensor_kernels::{CopyPlan, DType, Error, Exec, Layout, Lint};

use crate::{
    Failure, Result,
    input::chain::{Chain, Link, Step},
    measure::{
        lint_cost::{self, LintCost},
        setting::{self, copy_path},
    },
    output::{
        picture,
        render::{bytes, join, time, tuple, wrap},
    },
};

/// The longest line of the output.
const WIDTH: usize = 80;

/// How many offsets are listed.
const MAX_LISTED_OFFSETS: usize = 12;

/// What to explain.
#[derive(clap::Args)]
pub struct Args {
    /// A chain of PyTorch calls on `arange(…)` or `zeros(…)`
    pub chain: String,
    /// Also explain the plan of the copy to contiguous memory: loops, candidates, costs
    #[arg(long)]
    pub plan: bool,
}

/// What lies in a page is fast, whatever its strides.
const MIN_LINTED_BYTES: usize = 4096;

/// Explains one chain. Only layouts are computed: a chain may describe more memory than the machine
/// has. Lints of the last step are measured on small arrays.
///
/// # Errors
/// A chain that cannot be parsed; an invalid view, after the steps before it have been printed.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let chain = Chain::parse(&args.chain).map_err(Failure::input)?;
    let exec = setting::exec()?;
    let mut state = State::start(&chain)?;
    state.print(&chain.text, &exec, out)?;
    for link in &chain.links {
        state = state.step(&link.step).map_err(|error| refused(link, &error))?;
        writeln!(out)?;
        state.print(&link.text, &exec, out)?;
    }
    state.print_costs(&exec, out)?;
    if args.plan {
        writeln!(out, "\nplan of contiguous()\n\n{}", state.plan(&exec)?)?;
    }
    Ok(())
}

fn refused(link: &Link, error: &Error) -> Failure {
    Failure::work(format!("{} is refused\n  {error}", link.text))
}

/// A tensor without its elements.
struct State {
    layout: Layout,
    /// The number of elements in the storage.
    storage_len: usize,
    dtype: DType,
    storage: Storage,
}

#[derive(Clone, Copy)]
enum Storage {
    New,
    Same,
    /// By a reshape.
    Reshaped,
    /// By `contiguous()`, because a dimension had another stride than it needs.
    Packed {
        dim: usize,
        stride: isize,
        needed: usize,
    },
    AlreadyContiguous,
}

impl State {
    fn start(chain: &Chain) -> Result<State> {
        let layout = Layout::contiguous(&chain.shape)?;
        layout.dense_bytes(chain.dtype.size())?;
        Ok(State { storage_len: layout.numel(), layout, dtype: chain.dtype, storage: Storage::New })
    }

    fn step(&self, step: &Step) -> Result<State, Error> {
        match step {
            Step::View(op) => self.view(op.apply(&self.layout)?),
            Step::ViewOrCopy(op) => match op.apply(&self.layout) {
                Err(Error::NotViewable { .. }) => {
                    self.copied(op.apply(&self.dense()?)?, Storage::Reshaped)
                }
                viewed => self.view(viewed?),
            },
            Step::Contiguous => match self.layout.contiguity_break() {
                None => {
                    let same = self.view(self.layout.clone())?;
                    Ok(State { storage: Storage::AlreadyContiguous, ..same })
                }
                Some(dim) => {
                    let stride = self.layout.strides()[dim];
                    let needed = self.layout.shape()[dim + 1..].iter().product();
                    self.copied(self.dense()?, Storage::Packed { dim, stride, needed })
                }
            },
        }
    }

    fn view(&self, layout: Layout) -> Result<State, Error> {
        layout.check_within(self.storage_len, self.dtype.size())?;
        Ok(State {
            layout,
            storage_len: self.storage_len,
            dtype: self.dtype,
            storage: Storage::Same,
        })
    }

    fn copied(&self, layout: Layout, storage: Storage) -> Result<State, Error> {
        layout.dense_bytes(self.dtype.size())?;
        Ok(State { storage_len: layout.numel(), layout, dtype: self.dtype, storage })
    }

    fn dense(&self) -> Result<Layout, Error> {
        Layout::contiguous(self.layout.shape())
    }

    fn print(&self, call: &str, exec: &Exec, out: &mut dyn Write) -> Result<()> {
        paragraph(out, "", call)?;
        let (shape, strides) = (tuple(self.layout.shape()), tuple(self.layout.strides()));
        paragraph(
            out,
            "  ",
            &format!("shape {shape} strides {strides} offset {}", self.layout.offset()),
        )?;
        paragraph(out, "  ", &contiguity(&self.layout))?;
        paragraph(out, "  ", &self.storage_text())?;
        paragraph(out, "  ", &order(&self.layout))?;
        for line in picture::lines(&self.layout, self.storage_len) {
            writeln!(out, "  {line}")?;
        }
        paragraph(out, "  ", &self.copy_text(exec)?)?;
        self.lints().iter().try_for_each(|lint| paragraph(out, "  ", &format!("slow: {lint}")))
    }

    /// What is slow about the strides, if the view is larger than a page.
    fn lints(&self) -> Vec<Lint> {
        let width = self.dtype.size();
        let span = self.layout.bounds().map_or(0, |(lowest, highest)| highest - lowest);
        match span.saturating_mul(width) > MIN_LINTED_BYTES {
            true => self.layout.lints(width),
            false => Vec::new(),
        }
    }

    /// The measured cost of each lint; once for those that the same padding avoids.
    fn print_costs(&self, exec: &Exec, out: &mut dyn Write) -> Result<()> {
        let walks = lint_cost::walks(self.lints());
        if !walks.is_empty() {
            writeln!(out, "\nmeasured on this machine")?;
        }
        for group in walks {
            let cost = lint_cost::measure(*exec, &self.layout, self.dtype.size(), &group[0])?;
            let names = join(group.iter().map(Lint::kind), ", ");
            paragraph(out, "  ", &format!("{names}: {}", cost_text(cost)))?;
        }
        Ok(())
    }

    /// The plan of a copy to contiguous memory, explained.
    fn plan(&self, exec: &Exec) -> Result<String> {
        let width = self.dtype.size();
        let plan = CopyPlan::new(&self.layout, &self.dense()?, width, &exec.machine)?;
        Ok(plan.explain(exec).to_string().trim_end().to_owned())
    }

    fn storage_text(&self) -> String {
        let size = format!("{} {}", self.storage_len, self.dtype);
        match self.storage {
            Storage::New => format!("storage: new, {size}"),
            Storage::Same => format!("storage: the same, {size}"),
            Storage::Reshaped => {
                format!("storage: new, {size}, copied because no strides can express this view")
            }
            Storage::Packed { dim, stride, needed } => format!(
                "storage: new, {size}, copied because dimension {dim} had stride {stride}, not \
                 {needed}"
            ),
            Storage::AlreadyContiguous => {
                format!("storage: the same, {size}; it was contiguous, nothing is copied")
            }
        }
    }

    fn copy_text(&self, exec: &Exec) -> Result<String> {
        if self.layout.is_contiguous() {
            return Ok("contiguous() would return it as it is".to_owned());
        }
        let size = bytes(self.layout.dense_bytes(self.dtype.size())? as u128);
        let path = copy_path(exec, &self.layout, self.dtype.size())?;
        Ok(format!("contiguous() would copy {size}, path: {path}"))
    }
}

fn cost_text(cost: Option<LintCost>) -> String {
    match cost {
        None => {
            let limit = bytes(lint_cost::MAX_BYTES as u128);
            format!("not measured; that needs arrays above {limit}, or two cores")
        }
        Some(LintCost { walk, ns, instead, better_ns }) => {
            format!("{walk}: {}, {instead} {}", time(ns), time(better_ns))
        }
    }
}

fn paragraph(out: &mut dyn Write, indent: &str, text: &str) -> Result<()> {
    for line in wrap(text, WIDTH - indent.len()) {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

fn order(layout: &Layout) -> String {
    if layout.numel() == 0 {
        return "no elements".to_owned();
    }
    let more = if layout.numel() > MAX_LISTED_OFFSETS { ", …" } else { "" };
    format!(
        "offsets in logical order: {}{more}",
        join(layout.offsets().take(MAX_LISTED_OFFSETS), ", ")
    )
}

/// Whether the layout is contiguous, and which dimension breaks contiguity.
fn contiguity(layout: &Layout) -> String {
    match layout.contiguity_break() {
        None => "contiguous".to_owned(),
        Some(dim) => {
            let behind: usize = layout.shape()[dim + 1..].iter().product();
            format!(
                "not contiguous: dimension {dim} has stride {}, not {behind}",
                layout.strides()[dim]
            )
        }
    }
}
