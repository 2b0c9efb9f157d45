//! The text of explanations: titles with paragraphs behind them, loops, times.

use std::fmt;

use crate::{
    exec::{Exec, pool},
    nest::Loop,
};

/// The longest line.
const COLUMNS: usize = 100;

/// The column of the text behind titles.
const INDENT: usize = 13;

/// Nanoseconds in the unit that shows three digits.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}

/// Writes a title and a text behind it, in lines of at most [`COLUMNS`] broken at blanks.
pub(super) fn paragraph(f: &mut fmt::Formatter<'_>, title: &str, text: &str) -> fmt::Result {
    write!(f, "{title:INDENT$}")?;
    let mut column = INDENT;
    for (at, word) in text.split(' ').enumerate() {
        let len = word.chars().count();
        if at > 0 && column + 1 + len > COLUMNS {
            write!(f, "\n{:INDENT$}", "")?;
            column = INDENT;
        } else if at > 0 {
            f.write_str(" ")?;
            column += 1;
        }
        f.write_str(word)?;
        column += len;
    }
    f.write_str("\n")
}

/// Loops, outermost first.
pub(super) fn loops_text<const N: usize>(loops: &[Loop<N>]) -> String {
    let text = |l: &Loop<N>| format!("{} x {:?}", l.len, l.strides);
    match loops {
        [] => "none, one element".to_owned(),
        loops => loops.iter().map(text).collect::<Vec<_>>().join(", "),
    }
}

/// The number of tasks for threads.
pub(super) fn tasks_text(exec: &Exec, tasks: usize) -> String {
    match tasks {
        1 => format!("one task; another pays from {} bytes on", exec.machine.grain),
        tasks => format!("{tasks} tasks for {} threads", pool::threads()),
    }
}
