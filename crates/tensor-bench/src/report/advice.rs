//! What the figures mean for whoever writes the program: a few sentences, each backed by a column of the table.

use super::{Pass, Row};

/// More passes than this over the same array are rare: a copy that needs them is named with its number.
const FEW_PASSES: u64 = 3;

/// The sentences, most important first.
pub(super) fn advice(rows: &[Row]) -> Vec<String> {
    let strided: Vec<&Row> = rows.iter().filter(|row| !row.contiguous).collect();
    let mut lines = Vec::new();
    lines.extend(contiguous_already(rows));
    lines.extend(passes("Elementwise work by the kernels", &strided, |row| row.elementwise));
    lines.extend(passes("Sums by the kernels", &strided, |row| row.sum));
    lines.extend(cost_of_allocating(&strided));
    lines
}

fn contiguous_already(rows: &[Row]) -> Option<String> {
    let named = names(rows.iter().filter(|row| row.contiguous));
    (!named.is_empty())
        .then(|| format!("- Contiguous already, contiguous() returns it as it is: {named}."))
}

fn passes(work: &str, rows: &[&Row], pass: impl Fn(&Row) -> Pass) -> Vec<String> {
    let chosen = |choose: &dyn Fn(Option<u64>) -> bool| {
        names(rows.iter().copied().filter(|row| choose(pass(row).break_even)))
    };
    let sentences = [
        (
            "copy first, it pays within three passes",
            chosen(&|after| after.is_some_and(|n| n <= FEW_PASSES)),
        ),
        ("do not copy, the view costs no more", chosen(&|after| after.is_none())),
    ];
    let mut lines: Vec<String> = sentences
        .into_iter()
        .filter(|(_, named)| !named.is_empty())
        .map(|(what, named)| format!("- {work}: {what}: {named}."))
        .collect();
    let many = rows.iter().filter_map(|row| {
        let after = pass(row).break_even.filter(|&n| n > FEW_PASSES)?;
        Some(format!("{} ({after})", row.name))
    });
    let many: Vec<_> = many.collect();
    if !many.is_empty() {
        lines.push(format!(
            "- {work}: copy only if more passes follow than stand in brackets: {}.",
            many.join("; ")
        ));
    }
    lines
}

/// How much of a fresh copy is the memory and not the copying.
fn cost_of_allocating(rows: &[&Row]) -> Option<String> {
    let dearest = rows
        .iter()
        .copied()
        .max_by(|a, b| allocating_slowdown(a).total_cmp(&allocating_slowdown(b)))?;
    let factor = allocating_slowdown(dearest);
    (factor > 1.5).then(|| {
        format!(
            "- Keep the memory of a copy that is made again and again: into fresh memory it costs up to {factor:.1} times as much ({}).",
            dearest.name
        )
    })
}

fn allocating_slowdown(row: &Row) -> f64 {
    row.contiguous_ns / row.copy_ns
}

fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    rows.map(|row| row.name.as_str()).collect::<Vec<_>>().join("; ")
}
