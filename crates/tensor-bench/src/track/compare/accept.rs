//! Accepted changes: a text file with one change per line.
//!
//! `PATTERN KIND REASON`: the name of a case, in which `*` matches anything; the kind of change,
//! or `any`; why it is acceptable. A name with blanks is quoted; the name `all` stands for changes
//! that concern the whole record. Lines that begin with `#` are ignored. A line that matches no
//! change gives a note, so that stale lines are removed.

use super::{ChangeKind, Judged, Verdict};
use crate::{Failure, Result};

/// A list of accepted changes.
#[derive(Clone, Debug, Default)]
pub struct Accepted(Vec<Line>);

#[derive(Clone, Debug)]
struct Line {
    pattern: String,
    /// `None` for all kinds.
    kind: Option<ChangeKind>,
    reason: String,
}

impl Accepted {
    /// Reads a list.
    ///
    /// # Errors
    /// [`Failure::Input`] that names the line.
    pub fn read(text: &str) -> Result<Accepted> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let lines =
            lines.map(|(at, line)| parse_line(line).map_err(|f| f.at(format!("line {}", at + 1))));
        Ok(Accepted(lines.collect::<Result<_>>()?))
    }

    pub(super) fn reason(&self, case: &str, kind: ChangeKind) -> Option<&str> {
        self.0.iter().find(|line| line.accepts(case, kind)).map(|line| line.reason.as_str())
    }

    /// Notes on the lines that match no change.
    pub(super) fn unused(&self, changed: &[Judged]) -> Vec<String> {
        let used = |line: &Line| {
            let worse = |judged: &Judged| {
                let mut changes = judged.changes.iter();
                changes.any(|c| c.verdict != Verdict::Better && line.accepts(&judged.case, c.kind))
            };
            changed.iter().any(worse)
        };
        let unused = self.0.iter().filter(|line| !used(line));
        unused
            .map(|line| format!("accepted, but not found: {} {}", line.pattern, line.kind()))
            .collect()
    }
}

impl Line {
    fn accepts(&self, case: &str, kind: ChangeKind) -> bool {
        self.kind.is_none_or(|accepted| accepted == kind) && matches_pattern(&self.pattern, case)
    }

    fn kind(&self) -> &'static str {
        self.kind.map_or("any", ChangeKind::name)
    }
}

fn parse_line(line: &str) -> Result<Line> {
    let incomplete = || Failure::input("expected a case, a kind of change and a reason");
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => line.split_once(char::is_whitespace),
    }
    .ok_or_else(incomplete)?;
    let (kind, reason) =
        rest.trim_start().split_once(char::is_whitespace).ok_or_else(incomplete)?;
    let known = ChangeKind::ALL.into_iter().find(|known| known.name() == kind);
    if known.is_none() && kind != "any" {
        let names: Vec<_> = ChangeKind::ALL.iter().map(|kind| kind.name()).collect();
        let names = names.join(", ");
        return Err(Failure::input(format!("unknown kind '{kind}': expected {names} or any")));
    }
    let (pattern, reason) = (pattern.to_owned(), reason.trim().to_owned());
    Ok(Line { pattern, kind: known, reason })
}

/// Whether a name matches a pattern in which `*` matches anything. A text between two stars is
/// searched for at its first occurrence: if the rest does not match from there, it matches from no
/// later one.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = name.strip_prefix(start).and_then(|name| name.strip_suffix(end));
    let mut parts = middle.split('*').filter(|part| !part.is_empty());
    let after = |name: &str, part: &str| name.find(part).map(|at| at + part.len());
    inner.is_some_and(|inner| {
        parts.try_fold(inner, |name, part| name.get(after(name, part)?..)).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let table = [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/bc", true),
            ("*", "a/bc", true),
            ("*/t*d", "a/t2d", true),
            ("*/t*d", "a/t2", false),
            ("a*a", "a", false),
            ("*b*a*", "abba", true),
            ("*b*a*b", "abba", false),
            ("*a*a*a*a*a*a*a*a*b", &"a".repeat(200), false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_line_is_a_case_a_kind_and_a_reason() {
        let list = Accepted::read("# why\n\ncopy/* path tiles are slower there\nx any so be it\n");
        let list = list.unwrap();
        assert_eq!(list.reason("copy/t", ChangeKind::Path), Some("tiles are slower there"));
        assert_eq!(list.reason("copy/t", ChangeKind::Time), None);
        assert_eq!(list.reason("x", ChangeKind::LlMisses), Some("so be it"));
        let list = Accepted::read("\"own/row one\" path because\nall simd an old machine").unwrap();
        assert_eq!(list.reason("own/row one", ChangeKind::Path), Some("because"));
        assert_eq!(list.reason("all", ChangeKind::Simd), Some("an old machine"));
    }

    #[test]
    fn a_line_without_a_reason_is_refused_with_its_number() {
        let refusal = |text| {
            let error = Accepted::read(text).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        assert_eq!(refusal("\na path\n"), "line 2: expected a case, a kind of change and a reason");
        assert!(refusal("a speed why").starts_with("line 1: unknown kind 'speed': expected"));
    }
}
