//! `pass`: what `record` starts some times, to take times in processes of their own. It prints them as JSON.

use std::{io::Write, path::PathBuf};

use crate::{
    Result,
    measure::setting::{self, Setting},
    output::document,
    suite::Setup,
    system::pool,
    track::{
        table,
        timing::{self, Passes},
    },
};

/// Which cases, and how.
#[derive(clap::Args)]
pub struct Args {
    /// Their names, group and all
    #[arg(required = true)]
    names: Vec<String>,
    /// The file they are from, if they are not from the program's own table
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// As `record` has it
    #[arg(long)]
    quick: bool,
    /// As `record` has it
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// The results have been checked before
    #[arg(long)]
    trusted: bool,
}

/// Goes over the cases once.
///
/// # Errors
/// A name that is not in the table, a wrong result, too little memory.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let setup = if args.trusted { Setup::SkipVerify } else { Setup::Verify };
    let budget = Passes::choose(args.quick).budget();
    let setting = Setting { exec: setting::exec()?, budget, threads: args.threads };
    let pool = pool::build(args.threads)?;
    let subjects = table::named(args.cases.as_deref(), &args.names)?;
    let times = subjects.iter().map(|subject| {
        let pass = pool.install(|| timing::pass(&setting, subject, setup));
        pass.map_err(|failure| failure.at(format!("case {subject}")))
    });
    let times = times.collect::<Result<Vec<_>>>()?;
    document::line(&times, out)
}
