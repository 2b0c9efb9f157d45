//! The text around the elements: brackets, line breaks, dots and the suffixes.

use std::fmt::{self, Write};

use super::{LINE_WIDTH, walk::Step};

/// The start of the text; later lines are indented by its length.
pub(super) const PREFIX: &str = "tensor(";

/// A writer of ASCII text that tracks the length of the current line.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    line: usize,
}

impl Write for Page<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.line = match text.rfind('\n') {
            Some(at) => text.len() - at - 1,
            None => self.line + text.len(),
        };
        self.out.write_str(text)
    }
}

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, line: 0 }
    }

    fn repeat(&mut self, text: &str, times: usize) -> fmt::Result {
        (0..times).try_for_each(|_| self.write_str(text))
    }

    fn break_line(&mut self, newlines: usize, indent: usize) -> fmt::Result {
        self.write_str(",")?;
        self.repeat("\n", newlines)?;
        self.repeat(" ", indent)
    }

    /// Appends the suffixes, each on a new line if it would not fit on the last one, and the
    /// closing parenthesis.
    pub(super) fn finish(&mut self, suffixes: impl Iterator<Item = String>) -> fmt::Result {
        for suffix in suffixes {
            // Comma and space take two characters; PyTorch counts four.
            if self.line + 4 + suffix.len() > LINE_WIDTH {
                self.break_line(1, PREFIX.len())?;
            } else {
                self.write_str(", ")?;
            }
            self.write_str(&suffix)?;
        }
        self.write_str(")")
    }
}

/// The nested brackets of a tensor, and the separators between its elements.
pub(super) struct Frame<'p, 'a> {
    page: &'p mut Page<'a>,
    ndim: usize,
    cells_per_line: usize,
}

impl<'p, 'a> Frame<'p, 'a> {
    /// Opens the brackets of a tensor whose cells have the given width.
    pub(super) fn open(
        page: &'p mut Page<'a>,
        ndim: usize,
        width: usize,
    ) -> Result<Self, fmt::Error> {
        page.repeat("[", ndim)?;
        let row_indent = PREFIX.len() + ndim.saturating_sub(1);
        let cells_per_line = (LINE_WIDTH.saturating_sub(row_indent) / (width + 2)).max(1);
        Ok(Self { page, ndim, cells_per_line })
    }

    pub(super) fn write_cell(&mut self, cell: &str) -> fmt::Result {
        self.page.write_str(cell)
    }

    /// Writes the brackets, dots and separators between two successive elements.
    pub(super) fn write_between(&mut self, step: Step) -> fmt::Result {
        let inner = self.inner_dims(step.dim);
        self.page.repeat("]", inner)?;
        if step.skipped {
            self.write_dots(step.dim, step.item - 1)?;
        }
        self.write_separator(step.dim, step.item)?;
        self.page.repeat("[", inner)
    }

    /// Writes dots for all elements from a step on, and closes the brackets.
    pub(super) fn cut(mut self, step: Step) -> fmt::Result {
        let inner = self.inner_dims(step.dim);
        self.page.repeat("]", inner)?;
        self.write_dots(step.dim, if step.skipped { step.item - 1 } else { step.item })?;
        self.page.repeat("]", self.ndim - inner)
    }

    /// Writes dots as an item of a dimension.
    fn write_dots(&mut self, dim: usize, item: usize) -> fmt::Result {
        self.write_separator(dim, item)?;
        self.page.write_str(if self.inner_dims(dim) == 0 { " ..." } else { "..." })
    }

    /// Writes the separator before an item of a dimension. The elements of a row fill lines; blocks
    /// are separated by one newline per inner dimension.
    fn write_separator(&mut self, dim: usize, item: usize) -> fmt::Result {
        let inner = self.inner_dims(dim);
        if inner == 0 && !item.is_multiple_of(self.cells_per_line) {
            return self.page.write_str(", ");
        }
        self.page.break_line(inner.max(1), PREFIX.len() + dim + 1)
    }

    fn inner_dims(&self, dim: usize) -> usize {
        self.ndim - 1 - dim
    }

    /// Closes the brackets.
    pub(super) fn close(self) -> fmt::Result {
        self.page.repeat("]", self.ndim)
    }
}
