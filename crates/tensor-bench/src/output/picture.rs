//! A text picture of a storage: the offsets of a view's elements, and a dot for every other
//! element.
//!
//! ```text
//! .  .  2  .  .  .  6  .  .  . 10  .
//! ```

use tensor_kernels::Layout;

/// A storage of more elements is not drawn.
const MAX_DRAWN: usize = 4096;

/// The longest line, with its indentation of two.
const WIDTH: usize = 80;

/// The lines at the top and at the bottom that are kept of a longer picture.
const KEPT_LINES: (usize, usize) = (5, 2);

/// The picture of a storage of `len` elements; one line in words if it is too large to draw.
pub fn lines(layout: &Layout, len: usize) -> Vec<String> {
    match layout.bounds() {
        _ if len == 0 => vec!["the storage is empty".to_owned()],
        None if len > MAX_DRAWN => {
            vec![format!("storage of {len} elements, the view has none of them")]
        }
        Some((lowest, highest)) if len > MAX_DRAWN => {
            vec![format!(
                "storage of {len} elements, the view has {} from {lowest} to {highest}",
                how_many(layout)
            )]
        }
        bounds => draw(&visited(layout, len, bounds.is_some())),
    }
}

fn how_many(layout: &Layout) -> &'static str {
    let (lowest, highest) = layout.bounds().unwrap_or_default();
    if layout.is_dense_signed() || highest == lowest { "all" } else { "some" }
}

/// Which elements the view has. The set of offsets grows dimension by dimension, so the time does
/// not depend on how often an expanded view repeats an element.
fn visited(layout: &Layout, len: usize, any: bool) -> Vec<bool> {
    let mut marks = vec![false; len];
    if any {
        marks[layout.offset()] = true;
    }
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        if any && size > 1 && stride != 0 {
            spread(&mut marks, size, stride);
        }
    }
    marks
}

fn spread(marks: &mut [bool], size: usize, stride: isize) {
    let seeds: Vec<usize> = (0..marks.len()).filter(|&place| marks[place]).collect();
    for seed in seeds {
        let steps = (1..size as isize).map_while(|i| seed.checked_add_signed(i * stride));
        for place in steps.take_while(|&place| place < marks.len()).collect::<Vec<_>>() {
            marks[place] = true;
        }
    }
}

fn draw(marks: &[bool]) -> Vec<String> {
    let cell = (marks.len() - 1).to_string().len() + 1;
    let fitting = (WIDTH - 2) / cell;
    let row = if marks.len() <= fitting { fitting } else { fitting / 8 * 8 };
    let rows: Vec<String> =
        marks.chunks(row).enumerate().map(|(i, m)| draw_row(m, i * row, cell)).collect();
    elide(rows)
}

fn draw_row(marks: &[bool], first: usize, cell: usize) -> String {
    let text =
        |(i, &mark): (usize, &bool)| if mark { (first + i).to_string() } else { ".".to_owned() };
    marks.iter().enumerate().map(text).map(|text| format!("{text:>cell$}")).collect()
}

fn elide(mut rows: Vec<String>) -> Vec<String> {
    let (top, bottom) = KEPT_LINES;
    if rows.len() > top + bottom + 1 {
        let left_out = rows.len() - top - bottom;
        rows.splice(top..top + left_out, [format!(" … {left_out} more lines")]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
        Layout::new(shape, strides, offset).unwrap()
    }

    #[test]
    fn visited_places_show_their_number() {
        assert_eq!(lines(&layout(&[3], &[4], 2), 12), ["  .  .  2  .  .  .  6  .  .  . 10  ."]);
        assert_eq!(lines(&layout(&[2, 2], &[-3, 1], 3), 5), [" 0 1 . 3 4"]);
    }

    #[test]
    fn a_view_without_elements_visits_nothing() {
        assert_eq!(lines(&layout(&[0, 3], &[3, 1], 0), 2), [" . ."]);
        assert_eq!(lines(&layout(&[0], &[1], 0), 0), ["the storage is empty"]);
    }

    #[test]
    fn a_place_visited_often_costs_once() {
        let everywhere = layout(&[1 << 40, 2, 1 << 10], &[0, 1, 0], 1);
        assert_eq!(lines(&everywhere, 4), [" . 1 2 ."]);
    }

    #[test]
    fn a_large_storage_is_elided_and_a_huge_one_described() {
        let large = lines(&layout(&[1000], &[1], 0), 1000);
        assert_eq!((large.len(), large[5].as_str()), (8, " … 56 more lines"));
        assert!(large.iter().all(|line| line.chars().count() <= WIDTH - 2), "{large:?}");
        let huge = lines(&layout(&[100, 100], &[1, 10_000_000], 5), 1 << 40);
        let expected = "storage of 1099511627776 elements, the view has some from 5 to 990000104";
        assert_eq!(huge, [expected]);
    }
}
