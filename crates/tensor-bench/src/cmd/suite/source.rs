//! Where the cases of `suite` come from: a file, random draws, or a sweep over sizes.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use tensor_kernels::DType;

use crate::{
    Failure, Result,
    input::file,
    output::{file::Target, render::join},
    population::{self, Bounds, Drawn, Family, Kind, Spec, Sweep},
    suite::{self, Case},
};

/// The cases: a file, or how to make them.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// The suite: a JSON list of cases
    #[arg(required_unless_present_any = ["random", "sweep"])]
    file: Option<PathBuf>,
    /// Measure random layouts instead of a file, and print their distribution
    #[arg(long, value_name = "KIND", value_enum, conflicts_with = "file")]
    random: Option<Kind>,
    /// Measure transposes of squares of 48 to 8192 rows instead of a file: f32, f64 and u8
    #[arg(long, conflicts_with_all = ["file", "random"])]
    sweep: bool,
    /// The seed of --random: a seed gives the same cases on every machine
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["file", "sweep"])]
    seed: u64,
    /// How many cases --random draws
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with_all = ["file", "sweep"],
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Only these families of --random
    #[arg(long, value_name = "NAME,…", value_enum, value_delimiter = ',',
        conflicts_with_all = ["file", "sweep"])]
    family: Vec<Family>,
    /// The bytes of the first operand, as a contiguous array, in MB
    ///
    /// With --random the default is 0.0002,48.
    #[arg(long, value_name = "LOW,HIGH", value_parser = bounds, conflicts_with = "file")]
    mb: Option<Bounds>,
    /// Only these element types, such as f32,u8
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = dtype,
        conflicts_with = "file")]
    dtype: Vec<DType>,
    /// Write the cases of --random or --sweep as a suite file; measure nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "file", "json", "quick", "check", "verify", "peers", "record", "html",
    ])]
    save: Option<PathBuf>,
}

/// The cases, and their families if they were drawn.
pub(super) struct Cases {
    pub(super) cases: Vec<Case>,
    /// One for each case of `--random`; empty for a file and for `--sweep`.
    pub(super) families: Vec<Family>,
}

impl Source {
    /// Whether the cases are summed up as a population, not listed one by one.
    pub(super) fn is_population(&self) -> bool {
        self.file.is_none()
    }

    /// Reads or makes the cases whose name contains the filter.
    ///
    /// # Errors
    /// A malformed file, draws that are impossible, no case at all.
    pub(super) fn cases(&self, filter: Option<&str>) -> Result<Cases> {
        let named = |case: &Case| filter.is_none_or(|text| case.to_string().contains(text));
        let mut found = match &self.file {
            Some(path) => {
                let at_path = |failure: Failure| failure.at(path.display());
                let cases = suite::read(&file::text(path)?).map_err(at_path)?;
                Cases { cases: cases.into_iter().filter(named).collect(), families: vec![] }
            }
            None => {
                let mut drawn = self.drawn()?;
                drawn.retain(|drawn| named(&drawn.case));
                self.split(drawn)
            }
        };
        if found.cases.is_empty() {
            return Err(Failure::input(format!("{self}: no case to measure")));
        }
        found.cases.shrink_to_fit();
        Ok(found)
    }

    /// The suite file, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn drawn(&self) -> Result<Vec<Drawn>> {
        is_given_once("--family", &self.family)?;
        is_given_once("--dtype", &self.dtype)?;
        let dtypes = self.dtype.clone();
        match self.random {
            Some(kind) => population::draw(&Spec {
                kind,
                seed: self.seed,
                count: self.count as usize,
                families: self.family.clone(),
                bounds: self.mb.unwrap_or_default(),
                dtypes,
            }),
            None => population::sweep(&Sweep { bounds: self.mb, dtypes }),
        }
    }

    fn split(&self, drawn: Vec<Drawn>) -> Cases {
        let families = drawn.iter().map(|drawn| drawn.family);
        Cases {
            families: if self.sweep { vec![] } else { families.collect() },
            cases: drawn.into_iter().map(|drawn| drawn.case).collect(),
        }
    }

    /// Writes the cases where `--save` says; false without it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn save(&self, cases: &[Case]) -> Result<bool> {
        let Some(path) = &self.save else { return Ok(false) };
        Target::open(path)?.fill(|file| suite::write(cases, file))?;
        Ok(true)
    }
}

impl fmt::Display for Source {
    /// The arguments that make these cases again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.file {
            return path.display().fmt(f);
        }
        match self.random {
            Some(kind) => {
                write!(f, "--random {} --seed {} --count {}", kind.name(), self.seed, self.count)?;
            }
            None => f.write_str("--sweep")?,
        }
        if !self.family.is_empty() {
            let names = self.family.iter().map(|family| family.name().replace('_', "-"));
            write!(f, " --family {}", join(names, ","))?;
        }
        if let Some(Bounds { low, high }) = self.mb {
            write!(f, " --mb {},{}", low as f64 / 1e6, high as f64 / 1e6)?;
        }
        if !self.dtype.is_empty() {
            write!(f, " --dtype {}", join(&self.dtype, ","))?;
        }
        Ok(())
    }
}

/// Refuses what would be measured twice.
pub(super) fn is_given_once<T: PartialEq>(option: &str, values: &[T]) -> Result<()> {
    let repeated = (1..values.len()).any(|at| values[..at].contains(&values[at]));
    match repeated {
        true => Err(Failure::input(format!("{option} names something twice"))),
        false => Ok(()),
    }
}

/// `LOW,HIGH` in MB.
fn bounds(text: &str) -> Result<Bounds, String> {
    let (low, high) = text.split_once(',').ok_or("expected two numbers: LOW,HIGH")?;
    let bytes = |text: &str| {
        let mb = text.trim().parse::<f64>().map_err(|_| format!("'{text}' is not a number"))?;
        match mb > 0.0 && mb <= 1e6 {
            true => Ok(((mb * 1e6).round() as u64).max(1)),
            false => Err(format!("{text} MB: a size must be above 0 and at most a million")),
        }
    };
    let (low, high) = (bytes(low)?, bytes(high)?);
    if low > high {
        return Err(format!("LOW is more than HIGH: {text}"));
    }
    Ok(Bounds { low, high })
}

fn dtype(name: &str) -> Result<DType, String> {
    name.parse().map_err(|error: tensor_kernels::Error| error.to_string())
}
