//! `pass`: `record` starts it several times, so that each pass over the cases is a process of its
//! own. It prints the times as JSON.

use std::{io::Write, path::PathBuf};

use crate::{
    Result,
    measure::setting::{self, Setting},
    output::document,
    suite::Setup,
    system::pool,
    track::{
        table,
        timing::{self, Also, Passes},
    },
};

/// Which cases, and how.
#[derive(clap::Args)]
pub struct Args {
    /// The names of the cases, as group/id
    #[arg(required = true)]
    names: Vec<String>,
    /// The suite file of the cases [default: the built-in table]
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// As for `record`
    #[arg(long)]
    quick: bool,
    /// As for `record`
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Skip the check of the results, which an earlier pass has done
    #[arg(long)]
    trusted: bool,
}

/// Times every case once.
///
/// # Errors
/// A name that is not in the table, a wrong result, too little memory.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let setup = if args.trusted { Setup::SkipVerify } else { Setup::Verify };
    let budget = Passes::choose(args.quick).budget();
    let setting = Setting { exec: setting::exec()?, budget, threads: args.threads };
    let pool = pool::build(args.threads)?;
    let subjects = table::named(args.cases.as_deref(), &args.names)?;
    let population = table::population(args.cases.as_deref())?;
    let times = subjects.iter().map(|subject| {
        let drawn = population.contains(&subject.to_string());
        let also = if drawn { Also::Candidates } else { Also::Nothing };
        let pass = pool.install(|| timing::pass(&setting, subject, setup, also));
        pass.map_err(|failure| failure.at(format!("case {subject}")))
    });
    let times = times.collect::<Result<Vec<_>>>()?;
    document::line(&times, out)
}
