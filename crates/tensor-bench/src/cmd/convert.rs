//! `convert`: a view of an `.npy` array, written as an `.npy` file in C order.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    Failure, Result,
    input::{npy, view_args::ViewArgs},
    output::{
        file::{Target, is_one_file},
        render::tuple,
    },
    system::memory,
};

/// What to read, how to view it, where to write it.
#[derive(clap::Args)]
pub struct Args {
    /// The array to read
    input: PathBuf,
    /// The file to write; left as it was if anything fails
    output: PathBuf,
    /// Let OUTPUT be INPUT, which is then replaced
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    view: ViewArgs,
}

/// Converts one file.
///
/// # Errors
/// An unreadable input, an invalid view, an output that cannot be written or that is the input
/// without `--overwrite`. The output file is then unchanged.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    if !args.overwrite && is_one_file(&args.input, &args.output) {
        let file = args.output.display();
        let why = format!("{file} is the input, too: give another file, or --overwrite");
        return Err(Failure::input(why));
    }
    let array = npy::read_file(&args.input)?;
    let view = array.with_layout(args.view.apply(array.layout())?)?;
    let layout = view.layout();
    memory::preflight(layout.dense_bytes(view.dtype().size())? as u128)?;
    let target = Target::open(&args.output)?;
    let is_device = target.is_device();
    target.fill(|file| npy::write(file, &view))?;
    let (place, dtype, shape) = (args.output.display(), view.dtype(), tuple(layout.shape()));
    let said = format!("{place}: {dtype} {shape} in C order");
    match is_device {
        // It may be the standard output, which then has the array alone.
        true => writeln!(io::stderr(), "{said}")?,
        false => writeln!(out, "{said}")?,
    }
    Ok(())
}
