//! `calibrate`: measures the rates that `advise --predict` works from, and checks the predictions;
//! and measures the machine that plans are made for.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use tensor_kernels::{Exec, Machine};

use crate::{
    Failure, Result,
    advise::{
        Calibration, calibrate, calibration, probe,
        regret::{self, FINE_REGRET, Trial},
    },
    input::file,
    measure::{
        setting::{self, Setting},
        thresholds::{self, Threshold},
    },
    output::{
        document,
        file::Target,
        render::{Column, WIDTH, bytes, fold, percent, table, time},
    },
    system::{machine::MachineInfo, pool},
    track::build::COMMIT,
};

/// Where to write the rates, and how to measure them.
#[derive(clap::Args)]
pub struct Args {
    /// The file to write the rates to [default: one in the cache folder of the user]
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// Instead, measure from which size on results are written past the caches, and which work is
    /// worth another thread, for `Machine::calibrated` and `suite --calibrated`
    #[arg(long, conflicts_with_all = ["check", "out"])]
    machine: bool,
    /// With --machine: the file to write [default: the one that `Machine::calibrated` reads]
    #[arg(long, value_name = "FILE", requires = "machine")]
    machine_out: Option<PathBuf>,
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

/// Calibrates and writes the result, or checks an existing calibration.
///
/// # Errors
/// Too many threads, a file that cannot be written, a calibration that cannot be used, too little
/// memory; after everything has been printed, predictions with too much regret.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let threads = pool::check(args.threads.unwrap_or_else(pool::cores))?;
    if args.check {
        return check(args, threads, out);
    }
    if args.machine {
        return machine(args.machine_out.as_deref(), threads, out);
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

/// Measures the machine, and writes it to the given file or the default one.
fn machine(place: Option<&Path>, threads: usize, out: &mut dyn Write) -> Result<()> {
    let path = match place {
        Some(path) => path.to_owned(),
        None => Machine::calibration_file().map_err(Failure::work)?,
    };
    if let (None, Some(folder)) = (place, path.parent()) {
        // If this fails, the file cannot be opened either, which has a better message.
        let _ = fs::create_dir_all(folder);
    }
    // Checked before the measurement, which takes seconds.
    Target::open(&path)?;
    let exec = setting::exec()?;
    let stream = thresholds::stream(&exec)?;
    let grain = match threads {
        1 => None,
        _ => Some(thresholds::grain(&exec, threads)?),
    };
    let detected = exec.machine;
    let grained = grain.as_ref().map_or(detected.grain, |grain| grain.chosen);
    let measured = Machine { stream: stream.chosen, grain: grained, ..detected };
    measured.write_calibration(&path).map_err(Failure::work)?;
    writeln!(out, "{}", tried("results written past the caches from", &stream, detected.stream))?;
    if let Some(grain) = grain {
        writeln!(out, "{}", tried("another thread for work of", &grain, detected.grain))?;
    }
    Ok(writeln!(out, "{}", path.display())?)
}

/// The thresholds that were tried and what they cost.
fn tried(what: &str, threshold: &Threshold, detected: usize) -> String {
    use Column::{Left, Right};
    let columns = [Right(what), Right("time over the best"), Left("")];
    let note = |size: usize| match (size == threshold.chosen, size == detected) {
        (true, true) => "chosen, as without calibration",
        (true, false) => "chosen",
        (false, true) => "without calibration",
        (false, false) => "",
    };
    let line = |&(size, regret): &(usize, f64)| {
        vec![bytes(size as u128), format!("{regret:.2}"), note(size).to_owned()]
    };
    table(&columns, threshold.tried.iter().map(line).collect())
}

fn check(args: &Args, threads: usize, out: &mut dyn Write) -> Result<()> {
    let setting = Setting { budget: regret::BUDGET, ..setting(threads)? };
    let calibration = load_or_make(args.calibration.as_deref(), &setting.exec, threads)?;
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

/// Measures the rates and writes them to the given file or the default one. An unwritable file is
/// an error before anything is measured.
fn make(place: Option<&Path>, threads: usize) -> Result<(PathBuf, Calibration)> {
    let path = match place {
        Some(path) => path.to_owned(),
        None => calibration::default_path(threads)?,
    };
    if let (None, Some(folder)) = (place, path.parent()) {
        // If this fails, opening the file fails too, with a better message.
        let _ = fs::create_dir_all(folder);
    }
    let target = Target::open(&path)?;
    let setting = setting(threads)?;
    let calibration = pool::build(threads)?.install(|| calibrate(&setting))?;
    target.fill(|file| document::line(&calibration, file))?;
    Ok((path, calibration))
}

/// The given calibration, or the default one, which is made again if it does not fit.
///
/// # Errors
/// A given file that cannot be used; a default file that cannot be written.
pub(super) fn load_or_make(
    given: Option<&Path>,
    exec: &Exec,
    threads: usize,
) -> Result<Calibration> {
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
    // Says why the command takes a minute. A closed standard error is ignored.
    let _ = writeln!(io::stderr(), "calibrating, about a minute: {why}");
    make(None, threads).map(|(_, calibration)| calibration).map_err(with_alternatives)
}

fn with_alternatives(failure: Failure) -> Failure {
    match failure {
        Failure::Work(why) => Failure::work(format!(
            "{why}; --measure needs no calibration, and `calibrate --out FILE` writes one \
             elsewhere, for --calibration FILE"
        )),
        other => other,
    }
}

/// Reads a calibration and checks that it fits this machine.
fn read(path: &Path, machine: &MachineInfo, threads: usize) -> Result<Calibration> {
    let read = || {
        let calibration = Calibration::read(&file::text(path)?)?;
        calibration.check_for(machine, threads)?;
        if let Some(difference) = calibration.other_commit(COMMIT) {
            // Another commit changes only the rates of the kernels it touches: a note is enough.
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

/// The share of good predictions, and the views with the largest regret.
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
            fold(&trial.name, WIDTH - 66),
            percent(worst),
            pair(p.strided_ns, m.strided_ns),
            pair(p.contiguous_ns, m.contiguous_ns),
            pair(p.copy_ns, m.copy_ns),
        ]
    };
    table(&columns, trials.iter().map(line).take(20).collect())
}
