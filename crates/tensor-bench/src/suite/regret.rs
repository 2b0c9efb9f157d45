//! The regret of copies: how it is distributed, and where it is largest.

use serde::Serialize;

use super::{Candidates, Row, SizeClass};
use crate::{
    measure::stats::quantile,
    output::render::{Column, WIDTH, bytes, table, time, wrap},
};

/// The cases of the largest regret that are listed for each size.
const LARGEST: usize = 5;

/// Smaller regret is no reason to look at a case.
const LEAST_SHOWN: f64 = 1.05;

/// The regret of the copies of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regret {
    /// The number of threads.
    pub threads: usize,
    /// The size: `small`, `medium`, `large`.
    pub name: &'static str,
    /// How many copies.
    pub cases: usize,
    /// The mean number of their candidates.
    pub candidates: f64,
    /// Half of the cases lie below.
    pub median: f64,
    /// Three quarters lie below.
    pub p75: f64,
    /// Nine in ten lie below.
    pub p90: f64,
    /// Nineteen in twenty lie below.
    pub p95: f64,
    /// The largest.
    pub worst: f64,
}

/// The regret for each number of threads and each size; nothing without `--candidates`.
pub fn regrets(rows: &[Row]) -> Vec<Regret> {
    classes(rows).into_iter().map(|(threads, size, rows)| regret(threads, size, &rows)).collect()
}

type Copies<'a> = Vec<(&'a Row, &'a Candidates)>;

fn classes(rows: &[Row]) -> Vec<(usize, SizeClass, Copies<'_>)> {
    let mut threads: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let sizes = |threads| SizeClass::ALL.into_iter().map(move |size| (threads, size));
    let of = |(threads, size)| {
        let copies = rows.iter().filter_map(|row| Some((row, row.candidates.as_ref()?)));
        let of_class = |(row, _): &(&Row, &Candidates)| {
            row.threads == threads && SizeClass::of_bytes(row.bytes) == size
        };
        (threads, size, copies.filter(of_class).collect::<Copies<'_>>())
    };
    let all = threads.into_iter().flat_map(sizes).map(of);
    all.filter(|(.., copies)| !copies.is_empty()).collect()
}

fn regret(threads: usize, size: SizeClass, copies: &Copies<'_>) -> Regret {
    let mut sorted: Vec<f64> = copies.iter().map(|(_, candidates)| candidates.regret).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share| quantile(&sorted, share).unwrap_or(1.0);
    let plans: usize = copies.iter().map(|(_, candidates)| candidates.count).sum();
    Regret {
        threads,
        name: size.name(),
        cases: copies.len(),
        candidates: plans as f64 / copies.len() as f64,
        median: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p95: at(0.95),
        worst: at(1.0),
    }
}

/// A table of the regret, and the cases in which it is largest.
pub fn render(rows: &[Row]) -> String {
    let regrets = regrets(rows);
    if regrets.is_empty() {
        return String::new();
    }
    let largest = classes(rows).into_iter().map(|(threads, size, copies)| {
        let s = if threads == 1 { "" } else { "s" };
        let title = format!("Largest regret, {}, {threads} thread{s}", size.bounds());
        cases(&title, copies)
    });
    let largest: String = largest.collect();
    format!("{TITLE}\n\n{}\n{largest}{LEGEND}", quantiles(&regrets))
}

const TITLE: &str = "Regret of the chosen plan of a copy";

const LEGEND: &str = "\
regret: time of the chosen plan over that of the fastest candidate, both without planning
";

fn quantiles(regrets: &[Regret]) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("result"),
        Right("threads"),
        Right("cases"),
        Right("candidates"),
        Right("median"),
        Right("75th"),
        Right("90th"),
        Right("95th"),
        Right("worst"),
    ];
    let line = |regret: &Regret| {
        let Regret { median, p75, p90, p95, worst, .. } = *regret;
        let mut cells = vec![
            SizeClass::describe(regret.name),
            regret.threads.to_string(),
            regret.cases.to_string(),
            format!("{:.1}", regret.candidates),
        ];
        cells.extend([median, p75, p90, p95, worst].map(|ratio| format!("{ratio:.2}")));
        cells
    };
    table(&columns, regrets.iter().map(line).collect())
}

fn cases(title: &str, mut copies: Copies<'_>) -> String {
    copies.retain(|(_, candidates)| candidates.regret >= LEAST_SHOWN);
    copies.sort_by(|(_, a), (_, b)| b.regret.total_cmp(&a.regret));
    if copies.is_empty() {
        return String::new();
    }
    let lines: String = copies.into_iter().take(LARGEST).map(case).collect();
    format!("{title}\n\n{lines}\n")
}

/// A case in a line of figures, one of its layout, and one for each of the two plans.
fn case((row, candidates): (&Row, &Candidates)) -> String {
    let Candidates { count, chosen_ns, best_ns, regret, chosen, best, view } = candidates;
    let size = bytes(u128::from(row.bytes));
    let indented = |text: &str| wrap(text, WIDTH - 8).join("\n          ");
    let mut text = format!(
        "{regret:>6.2}  {}  copy of {}  {size}  {count} candidates\n        {}\n",
        row.id,
        row.dtype,
        indented(view)
    );
    for (name, ns, plan) in [("chosen", chosen_ns, chosen), ("fastest", best_ns, best)] {
        let line = indented(&format!("{name}: {}, {plan}", time(*ns)));
        text.push_str(&format!("        {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::tests::row, *};

    fn copy(id: &str, bytes: u64, regret: f64) -> Row {
        let candidates = Candidates {
            count: 4,
            chosen_ns: 1000.0 * regret,
            best_ns: 1000.0,
            regret,
            chosen: "rows of 4 bytes".to_owned(),
            best: "transpose of 4-byte units".to_owned(),
            view: "zeros(4, 2).flip(0)".to_owned(),
        };
        Row { bytes, candidates: Some(candidates), ..row(id) }
    }

    #[test]
    fn quantiles_are_by_size_and_number_of_threads() {
        let mut rows: Vec<Row> =
            (0..=20).map(|at| copy("a", 9, 1.0 + f64::from(at) / 100.0)).collect();
        rows.extend([copy("b", 5_000_000, 1.5), Row { threads: 2, ..copy("b", 9, 3.0) }]);
        rows.push(row("not a copy that was raced"));
        let found = regrets(&rows);
        let names: Vec<_> = found.iter().map(|r| (r.threads, r.name, r.cases)).collect();
        assert_eq!(names, [(1, "small", 21), (1, "large", 1), (2, "small", 1)]);
        let small = &found[0];
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(small.median, 1.1) && close(small.p75, 1.15) && close(small.p90, 1.18));
        assert!(close(small.p95, 1.19) && close(small.worst, 1.2) && close(small.candidates, 4.0));
    }

    #[test]
    fn the_largest_are_shown_with_both_plans() {
        let text = render(&[copy("fine", 9, 1.0), copy("bad", 9, 1.5), copy("worse", 9, 2.0)]);
        let expected = "\
Regret of the chosen plan of a copy

result       threads  cases  candidates  median  75th  90th  95th  worst
below 32 kB        1      3         4.0    1.50  1.75  1.90  1.95   2.00

Largest regret, below 32 kB, 1 thread

  2.00  worse  copy of f32  9 B  4 candidates
        zeros(4, 2).flip(0)
        chosen: 2.0 us, rows of 4 bytes
        fastest: 1.0 us, transpose of 4-byte units
  1.50  bad  copy of f32  9 B  4 candidates
";
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains("fine") && text.ends_with(LEGEND), "{text}");
        assert_eq!(render(&[row("a")]), "");
    }
}
