//! `convert`: a view of an `.npy` array, written as an `.npy` file in C order.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    Failure, Result,
    input::{npy, view_args::ViewArgs},
    output::{file::Target, render::tuple},
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
    target.fill(|file| npy::write(file, &view))?;
    writeln!(
        out,
        "{}: {} {} in C order",
        args.output.display(),
        view.dtype(),
        tuple(layout.shape())
    )?;
    Ok(())
}

/// Whether both paths lead to one file, whatever links there are on the way.
fn is_one_file(a: &Path, b: &Path) -> bool {
    let real = |path| fs::canonicalize(path).ok();
    real(a).is_some_and(|a| real(b) == Some(a)) || is_one_inode(a, b)
}

/// Hard links are names of one file, too.
#[cfg(unix)]
fn is_one_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    inode(a).is_some_and(|a| inode(b) == Some(a))
}

#[cfg(not(unix))]
fn is_one_inode(_: &Path, _: &Path) -> bool {
    false
}
