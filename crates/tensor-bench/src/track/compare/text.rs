//! A comparison as a table, and as markdown for a comment on a pull request.

use super::{Comparison, Judged, Verdict};
use crate::output::render::{WIDTH, fold, wrap};

/// The largest number of improvements in markdown.
const MAX_BETTER_ROWS: usize = 20;

/// The largest number of other cases: a comment has at most 65,536 characters.
const MAX_ROWS: usize = 60;

impl Comparison {
    /// The summary in one line.
    fn headline(&self) -> String {
        let regressions = self.regressions().count();
        let marked = |mark| self.changed.iter().filter(|judged| judged.mark() == mark).count();
        let mut parts = vec![match regressions {
            0 => "no regression".to_owned(),
            1 => "1 regression".to_owned(),
            n => format!("{n} regressions"),
        }];
        for (count, what) in [
            (marked("better"), "better"),
            (marked("slower"), "slower (not gating)"),
            (marked("worse"), "worse (not gating)"),
            (marked("accepted"), "accepted"),
            (self.added.len(), "new"),
            (self.unchanged, "unchanged"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        let counted = if self.counted { "" } else { "; counts were not compared" };
        parts.join(", ") + counted
    }

    fn added(&self) -> Option<String> {
        (!self.added.is_empty())
            .then(|| format!("only in the new record: {}", self.added.join(", ")))
    }
}

impl Judged {
    /// The verdict on the worst change of the case.
    fn mark(&self) -> &'static str {
        let Some(worst) = self.changes.first() else { return "better" };
        match worst.verdict {
            Verdict::Regression => "REGRESSION",
            Verdict::Worse if worst.kind.is_timed() => "slower",
            Verdict::Worse => "worse",
            Verdict::Accepted(_) => "accepted",
            Verdict::Better => "better",
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |change: &super::Change| match &change.verdict {
            Verdict::Accepted(reason) => format!("{change} (accepted: {reason})"),
            Verdict::Better if self.mark() != "better" => format!("{change} (better)"),
            Verdict::Worse => format!("{change} (not gating)"),
            _ => change.to_string(),
        };
        self.changes.iter().map(line).collect()
    }
}

/// The table, of at most [`WIDTH`] columns.
pub fn table(comparison: &Comparison) -> String {
    let mut text = format!("{} -> {}\n", comparison.base, comparison.new);
    let notes = comparison.notes.iter().map(|note| format!("note: {note}"));
    for note in notes.chain(comparison.added()) {
        text.push_str(&(wrap(&note, WIDTH).join("\n  ") + "\n"));
    }
    for judged in &comparison.changed {
        let case = fold(&judged.case, WIDTH - 14).replace('\n', "\n              ");
        text.push_str(&format!("\n{:<10}  {case}\n", judged.mark()));
        for line in judged.lines() {
            text.push_str(&format!(
                "            {}\n",
                wrap(&line, WIDTH - 14).join("\n              ")
            ));
        }
    }
    text.push_str(&format!("\n{}\n", comparison.headline()));
    text
}

/// The comment: what is worse is shown, what is better is collapsed.
pub fn markdown(comparison: &Comparison) -> String {
    let (better, worse): (Vec<&Judged>, Vec<&Judged>) =
        comparison.changed.iter().partition(|judged| judged.mark() == "better");
    let mut text = format!("### Performance: {}\n\n", comparison.headline());
    text.push_str(&format!("`{}` → `{}`\n\n", comparison.base, comparison.new));
    text.push_str(&rows(&worse[..worse.len().min(MAX_ROWS)]));
    if worse.len() > MAX_ROWS {
        text.push_str(&format!("{} more\n\n", worse.len() - MAX_ROWS));
    }
    if !better.is_empty() {
        let shown = &better[..better.len().min(MAX_BETTER_ROWS)];
        let more = better.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!("{more} more\n\n") };
        text.push_str(&format!(
            "<details><summary>{} better</summary>\n\n{}{more}</details>\n\n",
            better.len(),
            rows(shown)
        ));
    }
    for note in comparison.notes.iter().cloned().chain(comparison.added()) {
        text.push_str(&format!("- {}\n", escape(&note)));
    }
    text.trim_end().to_owned() + "\n"
}

fn rows(judged: &[&Judged]) -> String {
    if judged.is_empty() {
        return String::new();
    }
    let row = |judged: &&Judged| {
        let lines: Vec<String> = judged.lines().iter().map(|line| escape(line)).collect();
        format!("| {} | {} | {} |\n", judged.mark(), escape(&judged.case), lines.join("<br>"))
    };
    let rows: String = judged.iter().map(row).collect();
    format!("| verdict | case | change |\n|---|---|---|\n{rows}\n")
}

/// Escapes names, which come from files.
fn escape(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '@' => format!("\\{c}"),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        c if c.is_control() => "?".to_owned(),
        c => c.to_string(),
    });
    escaped.collect()
}
