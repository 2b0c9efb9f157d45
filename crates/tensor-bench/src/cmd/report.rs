//! `report`: the costs of common layouts, or of a view of one array of the user, on this machine.

use std::{io::Write, path::PathBuf, time::Duration};

use rayon::ThreadPool;
use tensor_kernels::{Element, Layout, Tensor, with_tensor};

use crate::{
    Failure, Result,
    cases::{
        layouts::{Case, LAYOUTS, PHOTOGRAPH},
        operand::Operand,
        sample::Sample,
    },
    input::{npy, view_args::ViewArgs},
    measure::{
        engine::Budget,
        setting::{self, Setting},
    },
    output::{document, file::Target, progress::Progress},
    report::{
        BytesToFloats, Report, Row, SCHEMA, Same, Subject, Summed, html, measure, measure_curve,
        render,
    },
    system::{machine::MachineInfo, memory, pool},
    track::build::Build,
    with_dtype,
};

/// What to measure and how to print it.
#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Also write the report as an HTML page with figures, a single file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Use small arrays and few samples: fast, less exact
    #[arg(long)]
    quick: bool,
    /// Measure this array instead of the common layouts, under the view options below
    #[arg(long, value_name = "FILE")]
    npy: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArgs,
}

/// The time for the race of one layout. Eleven layouts and the curve, with filling and checking,
/// take about fifty seconds.
const RACE_TIME: Duration = Duration::from_millis(1300);

impl Args {
    fn budget(&self) -> Budget {
        if self.quick { Budget::QUICK } else { Budget { time: RACE_TIME, ..Budget::FULL } }
    }

    /// The arguments that the figures depend on.
    fn command(&self) -> String {
        let mut words = vec!["tensor-bench report".to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.threads.map(|threads| format!("--threads {threads}")));
        words.extend(self.npy.as_ref().map(|path| format!("--npy {}", path.display())));
        words.push(self.view.to_string());
        words.join(" ").trim_end().to_owned()
    }
}

/// Measures and prints. Every input error is reported before anything is measured.
///
/// # Errors
/// Too many threads, an unreadable array, an invalid view, a page that cannot be written, too
/// little memory, a wrong result.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let threads = pool::check(args.threads.unwrap_or_else(pool::cores))?;
    let setting = Setting { exec: setting::exec()?, budget: args.budget(), threads };
    let page = args.html.as_deref().map(Target::open).transpose()?;
    let report = measured(args, &setting)?;
    if let Some(page) = page {
        page.fill(|file| Ok(file.write_all(html::page(&report)?.as_bytes())?))?;
    }
    print(&report, args.json, out)
}

fn measured(args: &Args, setting: &Setting) -> Result<Report> {
    let pool = pool::build(setting.threads)?;
    let (layouts, curve) = match &args.npy {
        Some(path) => (vec![pool.install(|| user_array(args, setting, path))?], Vec::new()),
        None if args.view.0.is_empty() => {
            (table(args, setting, &pool)?, pool.install(|| measure_curve(setting, args.quick))?)
        }
        None => return Err(Failure::input("a view needs an array: add --npy FILE")),
    };
    Ok(Report {
        schema: SCHEMA,
        command: args.command(),
        build: Build::here(None),
        machine: MachineInfo::read(&setting.exec.simd()),
        threads: setting.threads,
        quick: args.quick,
        layouts,
        curve,
    })
}

fn print(report: &Report, json: bool, out: &mut dyn Write) -> Result<()> {
    if json { document::write(report, out) } else { Ok(out.write_all(render(report).as_bytes())?) }
}

fn table(args: &Args, setting: &Setting, pool: &ThreadPool) -> Result<Vec<Row>> {
    let progress = Progress::new(LAYOUTS.len());
    let row = |case: &Case| {
        progress.begin(case.name);
        let row = pool
            .install(|| built_in(case, args.quick, setting))
            .map_err(|failure| failure.at(case.name));
        progress.end();
        row
    };
    LAYOUTS.iter().map(row).collect()
}

/// A layout of the table.
fn built_in(case: &Case, quick: bool, setting: &Setting) -> Result<Row> {
    let operand = case.operand(quick)?;
    memory::preflight(u128::from(operand.base_bytes()))?;
    let chain = if quick { case.quick } else { case.chain };
    if case.photograph {
        let photograph = Tensor::<u8>::try_from(npy::read(PHOTOGRAPH)?)?;
        return measure::<BytesToFloats>(
            setting,
            &subject(case.name, chain, &flat(&photograph)?, operand.layout),
        );
    }
    with_dtype!(case.dtype, T => generated::<T>(case.name, chain, &operand, setting))
}

fn generated<T: Summed>(
    name: &str,
    chain: &str,
    operand: &Operand,
    setting: &Setting,
) -> Result<Row> {
    let base = operand.filled::<T>(0)?;
    measure::<Same<T>>(setting, &subject(name, chain, &base, operand.layout.clone()))
}

/// The array given with `--npy`.
fn user_array(args: &Args, setting: &Setting, path: &std::path::Path) -> Result<Row> {
    let array = npy::read_file(path)?;
    let layout = args.view.apply(array.layout())?;
    let chain: String = args.view.0.iter().map(ToString::to_string).collect();
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    with_tensor!(&array, tensor => typed(setting, &subject(&name, &chain, &flat(tensor)?, layout)))
}

fn typed<T: Summed>(setting: &Setting, subject: &Subject<'_, T>) -> Result<Row> {
    measure::<Same<T>>(setting, subject)
}

fn subject<'a, T: Element>(
    name: &str,
    view: &str,
    base: &'a Tensor<T>,
    layout: Layout,
) -> Subject<'a, T> {
    Subject { name: name.to_owned(), view: view.to_owned(), base, layout }
}

/// The whole storage of a tensor as one dimension.
fn flat<T: Sample>(tensor: &Tensor<T>) -> Result<Tensor<T>> {
    let len = tensor.storage().bytes() / size_of::<T>();
    Ok(tensor.with_layout(Layout::contiguous([len])?)?)
}
