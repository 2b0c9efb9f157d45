//! `calibrate`: takes the rates of this machine that `advise --predict` works from, and tells how far such advice can be trusted.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use tensor_kernels::Exec;

use crate::{
    Failure, Result,
    advise::{
        Calibration, calibrate, calibration, probe,
        regret::{self, FINE_REGRET, Trial},
    },
    input::file,
    measure::setting::{self, Setting},
    output::{
        document,
        file::Target,
        render::{Column, WIDTH, cut, percent, table, time},
    },
    system::{machine::MachineInfo, pool},
    track::build::COMMIT,
};

/// Where to keep the rates, and how to take them.
#[derive(clap::Args)]
pub struct Args {
    /// The file to write [default: one in the cache folder of the user]
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// The number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Instead, predict and measure a grid of views; exit code 1 if under 95 % of the predictions
    /// choose what takes at most 10 % more time than the better choice
    #[arg(long)]
    check: bool,
    /// With --check: use this calibration file
    #[arg(long, value_name = "FILE", requires = "check")]
    calibration: Option<PathBuf>,
    /// With --check: print one JSON document
    #[arg(long, requires = "check")]
    json: bool,
}

/// Calibrates and keeps the result, or checks what is kept.
///
/// # Errors
/// Too many threads, a place that cannot be written, a calibration that cannot be used, too little memory; after everything has been printed, advice
/// that is regretted too often.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let threads = pool::check(args.threads.unwrap_or_else(pool::cores))?;
    if args.check {
        return check(args, threads, out);
    }
    let (path, calibration) = make(args.out.as_deref(), threads)?;
    let (rates, speeds) = (calibration.rates.len(), calibration.speeds.len());
    let s = if threads == 1 { "" } else { "s" };
    Ok(writeln!(
        out,
        "{rates} rates and {speeds} speeds for {threads} thread{s}: {}",
        path.display()
    )?)
}

fn check(args: &Args, threads: usize, out: &mut dyn Write) -> Result<()> {
    let setting = Setting { budget: regret::BUDGET, ..setting(threads)? };
    let calibration = kept(args.calibration.as_deref(), &setting.exec, threads)?;
    let trials = pool::build(threads)?.install(|| regret::try_all(&setting, &calibration))?;
    if args.json {
        json(&trials, out)?;
    } else {
        text(&trials, out)?;
    }
    regret::check(&trials)
}

fn setting(threads: usize) -> Result<Setting> {
    Ok(Setting { exec: setting::exec()?, budget: probe::BUDGET, threads })
}

/// Takes the rates and writes them, to a place of the user's or the usual one. That it cannot be written is found before anything is measured.
fn make(place: Option<&Path>, threads: usize) -> Result<(PathBuf, Calibration)> {
    let path = match place {
        Some(path) => path.to_owned(),
        None => calibration::default_path(threads)?,
    };
    if let (None, Some(folder)) = (place, path.parent()) {
        // What goes wrong here is told with the file, which cannot be made either.
        let _ = fs::create_dir_all(folder);
    }
    let target = Target::open(&path)?;
    let setting = setting(threads)?;
    let calibration = pool::build(threads)?.install(|| calibrate(&setting))?;
    target.fill(|file| document::line(&calibration, file))?;
    Ok((path, calibration))
}

/// The calibration of the user's choice, or that of the usual place, which is made again if it does not fit.
///
/// # Errors
/// A file of the user's choice that cannot be used; a usual place that cannot be written.
pub(super) fn kept(given: Option<&Path>, exec: &Exec, threads: usize) -> Result<Calibration> {
    let machine = MachineInfo::read(&exec.simd());
    if let Some(path) = given {
        return read(path, &machine, threads);
    }
    let path = calibration::default_path(threads)?;
    let why = match path.try_exists() {
        Ok(false) => format!("there is no calibration at {} yet", path.display()),
        _ => match read(&path, &machine, threads) {
            Ok(calibration) => return Ok(calibration),
            Err(failure) => failure.to_string(),
        },
    };
    // Whoever waits should know for what. Where standard error is closed nobody does.
    let _ = writeln!(io::stderr(), "calibrating, about a minute: {why}");
    make(None, threads).map(|(_, calibration)| calibration).map_err(unkept)
}

fn unkept(failure: Failure) -> Failure {
    match failure {
        Failure::Work(why) => Failure::work(format!(
            "{why}; --measure needs no calibration, and `calibrate --out FILE` makes one elsewhere for --calibration FILE"
        )),
        other => other,
    }
}

/// The calibration of a file.
fn read(path: &Path, machine: &MachineInfo, threads: usize) -> Result<Calibration> {
    let read = || {
        let calibration = Calibration::read(&file::text(path)?)?;
        calibration.check_for(machine, threads)?;
        if let Some(difference) = calibration.other_commit(COMMIT) {
            // Rates change where kernels do, and then only some: no reason to refuse.
            let _ = writeln!(io::stderr(), "note: {}: {difference}", path.display());
        }
        Ok(calibration)
    };
    read().map_err(|failure: Failure| failure.at(path.display()))
}

fn json(trials: &[Trial], out: &mut dyn Write) -> Result<()> {
    let share = regret::share_fine(trials);
    let value = serde_json::json!({ "share_fine": share, "fine": FINE_REGRET, "trials": trials });
    document::write(&value, out)
}

/// The share, and the views whose advice is regretted most.
fn text(trials: &[Trial], out: &mut dyn Write) -> Result<()> {
    let worst = |trial: &Trial| trial.outcomes.iter().map(|o| o.regret).fold(0.0, f64::max);
    let mut sorted: Vec<&Trial> =
        trials.iter().filter(|trial| worst(trial) > FINE_REGRET).collect();
    sorted.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
    let outcomes: usize = trials.iter().map(|trial| trial.outcomes.len()).sum();
    writeln!(
        out,
        "{outcomes} predictions for {} views: {:.1} % have a regret of at most {}",
        trials.len(),
        regret::share_fine(trials) * 100.0,
        percent(FINE_REGRET)
    )?;
    if !sorted.is_empty() {
        write!(
            out,
            "\nregret: extra time over the better choice; times: predicted / measured\n\n{}",
            lines(&sorted)
        )?;
    }
    Ok(())
}

fn lines(trials: &[&Trial]) -> String {
    use Column::{Left, Right};
    let columns =
        [Left("view"), Right("regret"), Right("as it is"), Right("contiguous"), Right("copy")];
    let pair = |a, b| format!("{} / {}", time(a), time(b));
    let line = |trial: &&Trial| {
        let (p, m) = (&trial.predicted, &trial.measured);
        let worst = trial.outcomes.iter().map(|o| o.regret).fold(0.0, f64::max);
        vec![
            cut(&trial.name, WIDTH - 66),
            percent(worst),
            pair(p.strided_ns, m.strided_ns),
            pair(p.contiguous_ns, m.contiguous_ns),
            pair(p.copy_ns, m.copy_ns),
        ]
    };
    table(&columns, trials.iter().map(line).take(20).collect())
}
