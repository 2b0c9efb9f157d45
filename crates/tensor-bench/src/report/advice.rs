//! Advice for the author of a program: a few sentences, each backed by a column of the tables.

use super::{Pass, Row};

/// More passes than this over one array are rare: a later break-even is printed with its number.
const FEW_PASSES: u64 = 3;

/// The sentences, most important first.
pub(super) fn advice(rows: &[Row]) -> Vec<String> {
    let strided: Vec<&Row> = rows.iter().filter(|row| !row.contiguous).collect();
    let mut lines = Vec::new();
    lines.extend(already_contiguous(rows));
    lines.extend(passes("Elementwise operations", &strided, |row| row.elementwise));
    lines.extend(passes("Sums", &strided, |row| row.sum));
    lines.extend(cost_of_allocating(&strided));
    lines
}

fn already_contiguous(rows: &[Row]) -> Option<String> {
    let named = names(rows.iter().filter(|row| row.contiguous));
    (!named.is_empty())
        .then(|| format!("- Already contiguous, contiguous() returns the view itself: {named}."))
}

fn passes(work: &str, rows: &[&Row], pass: impl Fn(&Row) -> Pass) -> Vec<String> {
    let chosen = |choose: &dyn Fn(Option<u64>) -> bool| {
        names(rows.iter().copied().filter(|row| choose(pass(row).break_even)))
    };
    let sentences = [
        (
            "copy first, break-even within 3 passes",
            chosen(&|passes| passes.is_some_and(|n| n <= FEW_PASSES)),
        ),
        (
            "do not copy, the view is as fast as a contiguous copy",
            chosen(&|passes| passes.is_none()),
        ),
    ];
    let mut lines: Vec<String> = sentences
        .into_iter()
        .filter(|(_, named)| !named.is_empty())
        .map(|(what, named)| format!("- {work}: {what}: {named}."))
        .collect();
    let many = rows.iter().filter_map(|row| {
        let passes = pass(row).break_even.filter(|&n| n > FEW_PASSES)?;
        Some(format!("{} ({passes})", row.name))
    });
    let many: Vec<_> = many.collect();
    if !many.is_empty() {
        lines.push(format!(
            "- {work}: copy only for many passes, break-even in brackets: {}.",
            many.join("; ")
        ));
    }
    lines
}

/// The largest slowdown of a copy that comes from allocating its result.
fn cost_of_allocating(rows: &[&Row]) -> Option<String> {
    let slowdown = |row: &Row| row.allocating_copy_ns / row.copy_ns;
    let worst = rows.iter().copied().max_by(|a, b| slowdown(a).total_cmp(&slowdown(b)))?;
    (slowdown(worst) > 1.5).then(|| {
        format!(
            "- Reuse the memory of a copy that is made repeatedly: allocating is a slowdown of up \
             to {:.1}× against a preallocated result ({}).",
            slowdown(worst),
            worst.name
        )
    })
}

fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    rows.map(|row| row.name.as_str()).collect::<Vec<_>>().join("; ")
}
