//! `explain`: a chain of calls step by step: shape and strides, whether a step copies and what
//! avoids it, which elements of the storage the view has, and what is slow about its strides.

use std::{io::Write, path::PathBuf};

use tensor_kernels::{Exec, Lint};

use crate::{
    Failure, Result,
    explain::{Explanation, State, html, paragraph},
    input::chain::Chain,
    measure::{
        lint_cost::{self, LintCost},
        setting,
    },
    output::{
        file::Target,
        render::{bytes, join, time},
    },
};

/// What to explain.
#[derive(clap::Args)]
pub struct Args {
    /// A chain of PyTorch calls on `arange(…)` or `zeros(…)`
    pub chain: String,
    /// Also explain the plan of the copy to contiguous memory: loops, candidates, costs
    #[arg(long)]
    pub plan: bool,
    /// Also draw the steps as an HTML page, a single file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Let FILE be replaced if it is there
    #[arg(long, requires = "html")]
    pub overwrite: bool,
}

/// Explains one chain. Only layouts are computed: a chain may describe more memory than the machine
/// has. Lints of the last step are measured on small arrays.
///
/// # Errors
/// A chain that cannot be parsed; a page that cannot be written, or that is there without
/// `--overwrite`; an invalid view, after the steps before it have been printed and drawn.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let chain = Chain::parse(&args.chain).map_err(Failure::input)?;
    let exec = setting::exec()?;
    let page = target(args)?;
    let explanation = Explanation::of(&chain)?;
    if let Some(page) = page {
        let text = html::page(&args.chain, &explanation, &exec)?;
        page.fill(|file| Ok(file.write_all(text.as_bytes())?))?;
    }
    print(&explanation, &exec, out)?;
    if let Some(refusal) = &explanation.refusal {
        return Err(refusal.failure());
    }
    let Some(last) = explanation.steps.last() else { return Ok(()) };
    print_costs(&last.state, &exec, out)?;
    if args.plan {
        writeln!(out, "\nplan of contiguous()\n\n{}", last.state.plan(&exec)?)?;
    }
    Ok(())
}

/// The file of the page. Only a regular file is kept from being replaced: a device is written to.
fn target(args: &Args) -> Result<Option<Target>> {
    let Some(path) = &args.html else { return Ok(None) };
    if path.is_file() && !args.overwrite {
        let why = format!("{} is there: give another file, or --overwrite", path.display());
        return Err(Failure::input(why));
    }
    Target::open(path).map(Some)
}

fn print(explanation: &Explanation, exec: &Exec, out: &mut dyn Write) -> Result<()> {
    for (at, step) in explanation.steps.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        step.print(exec, out)?;
    }
    Ok(())
}

/// The measured cost of each lint; once for those that the same padding avoids.
fn print_costs(state: &State, exec: &Exec, out: &mut dyn Write) -> Result<()> {
    let walks = lint_cost::walks(state.lints());
    if !walks.is_empty() {
        writeln!(out, "\nmeasured on this machine")?;
    }
    for group in walks {
        let cost = lint_cost::measure(*exec, &state.layout, state.dtype.size(), &group[0])?;
        let names = join(group.iter().map(Lint::kind), ", ");
        paragraph(out, "  ", &format!("{names}: {}", cost_text(cost)))?;
    }
    Ok(())
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
