//! The cases that are slower than the naive loop.

use super::Row;
use crate::{
    Failure, Result,
    output::render::{WIDTH, wrap},
};

/// A sentence, wrapped.
pub fn verdict(rows: &[Row]) -> String {
    let text = match slower(rows) {
        None => "No case was slower than the naive loop.".to_owned(),
        Some(cases) => format!("Slower than the naive loop, measured twice: {cases}."),
    };
    wrap(&text, WIDTH).join("\n") + "\n"
}

/// Fails if there is such a case.
///
/// # Errors
/// [`Failure::Work`] with the cases that were slower.
pub fn check(rows: &[Row]) -> Result<()> {
    match slower(rows) {
        None => Ok(()),
        Some(cases) => Err(Failure::work(format!("slower than the naive loop: {cases}"))),
    }
}

fn slower(rows: &[Row]) -> Option<String> {
    let slower = rows.iter().filter(|row| row.slower_than_naive);
    let cases: Vec<String> = slower.map(describe).collect();
    (!cases.is_empty()).then(|| cases.join(", "))
}

fn describe(row: &Row) -> String {
    let threads =
        if row.threads == 1 { String::new() } else { format!(" on {} threads", row.threads) };
    format!(
        "{}/{}{threads} (slowdown {:.2}×)",
        row.group,
        row.id,
        row.preallocated_ns / row.naive_ns
    )
}

#[cfg(test)]
mod tests {
    use super::{super::tests::row, *};

    #[test]
    fn every_case_that_was_slower_is_named() {
        let slow =
            Row { slower_than_naive: true, preallocated_ns: 30.0, naive_ns: 20.0, ..row("slow") };
        let rows = [row("fast"), slow.clone(), Row { threads: 2, ..slow }];
        let cases = "g/slow (slowdown 1.50×), g/slow on 2 threads (slowdown 1.50×)";
        let text = verdict(&rows);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let expected = format!("Slower than the naive loop, measured twice: {cases}.");
        assert_eq!(text.lines().collect::<Vec<_>>().join(" "), expected);
        let failure = check(&rows).unwrap_err();
        assert_eq!(failure.to_string(), format!("slower than the naive loop: {cases}"));
        assert_eq!(failure.exit_code(), 1);
    }

    #[test]
    fn slower_by_no_more_than_noise_is_not_slower() {
        let rows = [Row { preallocated_ns: 20.1, naive_ns: 20.0, ..row("even") }];
        assert_eq!(verdict(&rows), "No case was slower than the naive loop.\n");
        assert!(check(&rows).is_ok());
    }
}
