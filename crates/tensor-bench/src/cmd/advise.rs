//! `advise`: use a view as it is, or copy it once?

use std::{io::Write, path::PathBuf};

use serde::Serialize;
use tensor_kernels::DType;

use super::calibrate;
use crate::{
    Failure, Result,
    advise::{self, Choice, Costs, Question, kind::ViewKind},
    cases::operand::Operand,
    input::view_args::ViewArgs,
    measure::{
        engine::Budget,
        setting::{self, Setting},
    },
    output::{
        document,
        render::{Column, WIDTH, table, time, tuple, wrap},
    },
    suite::{self, Op},
    system::pool,
};

/// A view, its use, and where the costs come from.
#[derive(clap::Args)]
pub struct Args {
    /// The shape of the array that is viewed, as in 4096,4096
    #[arg(long, value_name = "SIZES", value_delimiter = ',', required = true)]
    shape: Vec<usize>,
    /// The element type
    #[arg(long, value_name = "DTYPE", default_value = "f32")]
    dtype: DType,
    /// The operation of each use: copy, add, sub, mul, div, neg, relu, sqrt, exp, mul_add, cast,
    /// sum, mean, max or argmax; its other operands are contiguous
    #[arg(long, value_name = "OP", default_value = "add", value_parser = op)]
    op: Op,
    /// The element type that a cast is to [default: f32, of f32 f64]
    #[arg(long, value_name = "DTYPE")]
    to: Option<DType>,
    /// The dimensions that a sum, mean, max or argmax is over [default: all]
    #[arg(long, value_name = "DIMS", value_delimiter = ',', allow_hyphen_values = true)]
    dims: Option<Vec<isize>>,
    /// The number of uses of the view
    #[arg(long, value_name = "N", default_value_t = 1)]
    uses: u64,
    /// The number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Measure now, on arrays of that size (the default)
    #[arg(long)]
    measure: bool,
    /// Predict from the calibration of this machine; without one, calibrate first
    #[arg(long, conflicts_with = "measure")]
    predict: bool,
    /// Predict from this calibration file
    #[arg(long, value_name = "FILE", conflicts_with = "measure")]
    calibration: Option<PathBuf>,
    /// Also explain the plan of one use of the view: loops, access of each operand, blocks, bytes
    #[arg(long, conflicts_with = "json")]
    plan: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    view: ViewArgs,
}

fn op(name: &str) -> Result<Op, String> {
    let names = || Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
    Op::named(name).ok_or_else(|| format!("expected one of {}", names()))
}

/// The answer; `--json` prints these fields.
#[derive(Serialize)]
struct Answer {
    op: &'static str,
    dtype: &'static str,
    out_dtype: &'static str,
    /// The dimensions that are reduced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dims: Vec<usize>,
    shape: Vec<usize>,
    strides: Vec<isize>,
    contiguous: bool,
    /// The access pattern that the cost depends on; `None` if the view is contiguous.
    kind: Option<ViewKind>,
    /// The path of one use.
    path: &'static str,
    threads: usize,
    uses: u64,
    source: Source,
    #[serde(flatten)]
    costs: Costs,
    /// The time of all uses of the view, and of the copy with all uses of it.
    kept_ns: f64,
    copied_ns: f64,
    break_even_uses: Option<u64>,
    choice: Choice,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Measured,
    Predicted,
}

/// Measures or predicts the costs and prints the choice.
///
/// # Errors
/// An invalid view, an operation that the dtype does not have, too many threads, too little memory,
/// a calibration that cannot be read or written.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let threads = pool::check(args.threads.unwrap_or_else(pool::cores))?;
    let operand = Operand::new(args.dtype, args.shape.clone(), args.view.0.clone());
    let question = question(args, operand.map_err(Failure::input)?)?;
    let exec = setting::exec()?;
    let predict = args.predict || args.calibration.is_some();
    if predict && !Question::predicted_ops().any(|op| op == question.op) {
        let why = format!("{} is not predicted: leave out --predict", question.op.name());
        return Err(Failure::input(why));
    }
    let (source, costs) = if predict {
        let calibration = calibrate::load_or_make(args.calibration.as_deref(), &exec, threads)?;
        (Source::Predicted, calibration.predict(&question)?)
    } else {
        let setting = Setting { exec, budget: Budget::FULL, threads };
        let costs = pool::build(threads)?.install(|| advise::measure(&setting, &question))?;
        (Source::Measured, costs)
    };
    let case = question.case()?;
    let path = suite::path_of_operation(&exec, &case)?;
    let answer = Answer::new(&question, path, threads, source, costs);
    if args.json {
        return document::write(&answer, out);
    }
    text(&answer, out)?;
    if args.plan {
        // Threads are those of the pool that the plan is explained in.
        let plan = pool::build(threads)?.install(|| suite::explanation(&exec, &case))?;
        writeln!(out, "\nplan of one use of the view\n\n{plan}")?;
    }
    Ok(())
}

fn question(args: &Args, operand: Operand) -> Result<Question> {
    let mut question = Question::new(args.op, operand, args.uses)?;
    if let Some(dtype) = args.to {
        question = question.cast_to(dtype)?;
    }
    match &args.dims {
        Some(dims) => question.over(dims),
        None => Ok(question),
    }
}

impl Answer {
    fn new(
        question: &Question,
        path: &'static str,
        threads: usize,
        source: Source,
        costs: Costs,
    ) -> Answer {
        let Question { op, operand, uses, out, dims } = question;
        let layout = &operand.layout;
        Answer {
            op: op.name(),
            dtype: operand.dtype.name(),
            out_dtype: out.name(),
            dims: dims.clone(),
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
            contiguous: layout.is_contiguous(),
            kind: ViewKind::of(layout, operand.dtype.size()),
            path,
            threads,
            uses: *uses,
            source,
            costs,
            kept_ns: costs.kept_ns(*uses),
            copied_ns: costs.copied_ns(*uses),
            break_even_uses: costs.break_even(),
            choice: costs.advise(*uses),
        }
    }

    fn advice(&self) -> String {
        let break_even = match self.break_even_uses {
            None => "a copy has no break-even".to_owned(),
            Some(1) => "break-even at the first use".to_owned(),
            Some(uses) => format!("break-even at {uses} uses"),
        };
        match self.choice {
            _ if self.contiguous => "already contiguous: there is nothing to copy".to_owned(),
            Choice::Keep => format!("use the view as it is: {break_even}"),
            Choice::CopyOnce => format!("copy once with contiguous(): {break_even}"),
        }
    }
}

fn text(answer: &Answer, out: &mut dyn Write) -> Result<()> {
    let s = |count: u64| if count == 1 { "" } else { "s" };
    let (shape, strides) = (tuple(&answer.shape), tuple(&answer.strides));
    let source = if answer.source == Source::Measured { "measured" } else { "predicted" };
    let work = match answer.op {
        "cast" => format!("cast to {}", answer.out_dtype),
        op if answer.dims.is_empty() => op.to_owned(),
        op => format!("{op} of dimensions {}", tuple(&answer.dims)),
    };
    let head = format!(
        "{work} over a view of {}, shape {shape} strides {strides}, path {}; {} thread{}, {source}",
        answer.dtype,
        answer.path,
        answer.threads,
        s(answer.threads as u64)
    );
    writeln!(out, "{}\n", wrap(&head, WIDTH).join("\n"))?;
    writeln!(out, "{}\n", answer.advice())?;
    let uses = format!("{} use{}", answer.uses, s(answer.uses));
    let columns =
        [Column::Left(""), Column::Right("copy"), Column::Right("each use"), Column::Right(&uses)];
    let Costs { strided_ns, contiguous_ns, copy_ns } = answer.costs;
    let line = |name: &str, copy, each, all| vec![name.to_owned(), copy, time(each), time(all)];
    let kept = line("view as it is", "-".to_owned(), strided_ns, answer.kept_ns);
    let copied = line("copy once", time(copy_ns), contiguous_ns, answer.copied_ns);
    Ok(write!(out, "{}", table(&columns, vec![kept, copied]))?)
}
