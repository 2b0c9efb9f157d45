//! Numbers and tables as text of at most [`WIDTH`] columns.

use std::fmt::Display;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The longest line of the output.
pub const WIDTH: usize = 100;

/// The longest name that is shown whole, over several lines if it must: names come from files.
pub const LONGEST_NAME: usize = 120;

/// A column of a table.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    /// Names, flush left.
    Left(&'a str),
    /// Numbers, flush right.
    Right(&'a str),
}

/// An aligned table without rules, two blanks between columns.
pub fn table(columns: &[Column<'_>], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let heads = columns.iter().map(|column| match column {
        Column::Left(head) | Column::Right(head) => *head,
    });
    let lines = |head: &str| head.matches('\n').count();
    let most = heads.clone().map(lines).max().unwrap_or(0);
    // Heads of several lines end in the same line.
    table.set_header(heads.map(|head| "\n".repeat(most - lines(head)) + head));
    table.add_rows(rows);
    for (column, kind) in table.column_iter_mut().zip(columns) {
        column.set_padding((0, 2));
        column.set_cell_alignment(match kind {
            Column::Left(_) => CellAlignment::Left,
            Column::Right(_) => CellAlignment::Right,
        });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A [`table`] of at most [`WIDTH`] columns: long names in the first column go on in further lines,
/// so that they can be copied whole.
pub fn fitted_table(columns: &[Column<'_>], mut rows: Vec<Vec<String>>) -> String {
    const SHORTEST_NAME: usize = 8;
    loop {
        let text = table(columns, rows.clone());
        let width = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let lines = rows.iter().flat_map(|row| row[0].lines());
        let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
        if width <= WIDTH || longest <= SHORTEST_NAME {
            return text;
        }
        let fitting = longest.saturating_sub(width - WIDTH).max(SHORTEST_NAME);
        for row in &mut rows {
            row[0] = fold(&row[0].replace('\n', ""), fitting);
        }
    }
}

/// A name in lines of at most `width` characters, broken behind blanks, commas and underscores as
/// far as there are any. Nothing is left out; control characters are shown as `?`.
pub fn fold(name: &str, width: usize) -> String {
    let visible: Vec<char> = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let (mut lines, mut rest) = (Vec::new(), visible.as_slice());
    while rest.len() > width.max(1) {
        let most = &rest[..width.max(1)];
        let separator = most.iter().rposition(|c| " ,_-".contains(*c));
        let (line, others) = rest.split_at(separator.map_or(most.len(), |at| at + 1));
        lines.push(String::from_iter(line));
        rest = others;
    }
    lines.push(String::from_iter(rest));
    lines.join("\n")
}

/// A shape, strides or a list of dimensions: `(2, 3, 4)`.
pub fn tuple<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    format!("({})", join(values, ", "))
}

/// Values with a separator: `2x3x4`.
pub fn join<T: Display>(values: impl IntoIterator<Item = T>, between: &str) -> String {
    values.into_iter().map(|v| v.to_string()).collect::<Vec<_>>().join(between)
}

/// Nanoseconds in the unit that shows three digits: `12.3 ms`.
pub fn time(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")])
}

/// Bytes in decimal units: `67.1 MB`.
pub fn bytes(count: u128) -> String {
    let units = &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];
    scaled(count as f64, units)
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fitting = units.iter().find(|(size, _)| value >= *size).or(units.last());
    let (size, unit) = fitting.copied().unwrap_or((1.0, ""));
    let scaled = value / size;
    match scaled {
        s if s >= 99.95 || size == 1.0 && s.fract() == 0.0 => format!("{s:.0} {unit}"),
        s if s >= 9.995 || size > 1.0 => format!("{s:.1} {unit}"),
        s => format!("{s:.2} {unit}"),
    }
}

/// A ratio as a percentage: `87 %`.
pub fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

/// Bytes moved in a time, in GB/s.
pub fn bandwidth(bytes: u64, ns: f64) -> String {
    format!("{:.1}", bytes as f64 / ns)
}

/// A text cut to `width` characters, with an ellipsis if it was longer. Names come from files, so
/// control characters are shown as `?`.
pub fn cut(text: &str, width: usize) -> String {
    let visible = text.chars().map(|c| if c.is_control() { '?' } else { c });
    if text.chars().count() <= width {
        return visible.collect();
    }
    visible.take(width.saturating_sub(1)).chain(['…']).collect()
}

/// A text broken into lines of at most `width` characters, at blanks.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units() {
        let times = [0.4, 12.0, 999.9, 1500.0, 98_765.0, 12_345_678.0, 3.2e9].map(time);
        assert_eq!(times, ["0.40 ns", "12 ns", "1000 ns", "1.5 us", "98.8 us", "12.3 ms", "3.2 s"]);
        assert_eq!(
            [0, 999, 67_108_864, 1 << 60].map(bytes),
            ["0 B", "999 B", "67.1 MB", "1152922 TB"]
        );
        assert_eq!((percent(0.874), bandwidth(100, 8.0)), ("87 %".into(), "12.5".into()));
    }

    #[test]
    fn a_table_is_aligned_and_has_no_trailing_blanks() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "200".into()]];
        let text = table(&[Column::Left("case"), Column::Right("ns")], rows);
        assert_eq!(text, "case   ns\na       1\nlong  200\n");
    }

    #[test]
    fn a_wide_table_has_its_names_in_several_lines_and_nothing_cut() {
        let columns = [Column::Left("case"), Column::Left("path")];
        let row = |name: &str, path: usize| vec![name.to_owned(), "p".repeat(path)];
        let long = format!("{}_{}", "n".repeat(30), "m".repeat(29));
        let text = fitted_table(&columns, vec![row(&long, 60), row("short", 10)]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let expected =
            format!("{}_  {}\n{}\nshort", "n".repeat(30), "p".repeat(60), "m".repeat(29));
        assert!(text.contains(&expected), "{text}");
        let fitting = vec![row("abc", 4)];
        assert_eq!(fitted_table(&columns, fitting.clone()), table(&columns, fitting));
    }

    #[test]
    fn a_folded_name_is_whole_and_broken_at_its_separators() {
        assert_eq!(fold("img_u8_nhwc_to_f32", 9), "img_u8_\nnhwc_to_\nf32");
        assert_eq!(fold("feature maps, NHWC", 13), "feature maps,\n NHWC");
        assert_eq!(fold("abcdefgh", 3), "abc\ndef\ngh");
        assert_eq!(
            (fold("a\u{1b}b", 9), fold("", 0), fold("ab", 0)),
            ("a?b".into(), "".into(), "a\nb".into())
        );
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        assert_eq!((cut("short", 5), cut("longer", 5)), ("short".into(), "long…".into()));
        assert_eq!(cut("a\u{1b}[31m\n", 9), "a?[31m?");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
