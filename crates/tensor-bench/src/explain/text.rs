//! Steps as text of at most 80 columns.

use std::io::Write;

use tensor_kernels::Exec;

use super::{Refusal, Rewrite, Step};
use crate::{
    Failure, Result,
    output::{
        picture,
        render::{tuple, wrap},
    },
};

/// The longest line of the output.
const WIDTH: usize = 80;

impl Step {
    /// Prints the call, the layout, a picture of the storage, what a copy would cost, and what to
    /// write in place of a call that copied.
    ///
    /// # Errors
    /// [`Failure::Output`] from the writer.
    pub fn print(&self, exec: &Exec, out: &mut dyn Write) -> Result<()> {
        let (state, layout) = (&self.state, &self.state.layout);
        paragraph(out, "", &self.call)?;
        let (shape, strides) = (tuple(layout.shape()), tuple(layout.strides()));
        let header = format!("shape {shape} strides {strides} offset {}", layout.offset());
        paragraph(out, "  ", &header)?;
        paragraph(out, "  ", &state.contiguity())?;
        paragraph(out, "  ", &format!("storage: {}", state.storage()))?;
        paragraph(out, "  ", &state.order())?;
        for line in picture::lines(layout, state.storage_len) {
            writeln!(out, "  {line}")?;
        }
        paragraph(out, "  ", &state.copy(exec)?)?;
        for lint in state.lints() {
            paragraph(out, "  ", &format!("slow: {lint}"))?;
        }
        if state.origin.is_copy() {
            self.print_rewrites(out)?;
        }
        Ok(())
    }

    fn print_rewrites(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(reason) = &self.reason {
            paragraph(out, "  ", &format!("why: {reason}"))?;
        }
        if !self.rewrites.is_empty() {
            writeln!(out, "  without this copy:")?;
        }
        self.rewrites.iter().try_for_each(|rewrite| item(out, rewrite))
    }
}

impl Refusal {
    /// The error and what to write instead, as the failure of the command.
    pub fn failure(&self) -> Failure {
        let Refusal { call, error, rewrites, .. } = self;
        let mut text = format!("{call} is refused\n  {error}");
        if !rewrites.is_empty() {
            text += "\n  instead:";
        }
        for Rewrite { calls, cost } in rewrites {
            text += &format!("\n  - {calls}: {cost}");
        }
        Failure::work(text)
    }
}

fn item(out: &mut dyn Write, rewrite: &Rewrite) -> Result<()> {
    let text = format!("{}: {}", rewrite.calls, rewrite.cost);
    for (at, line) in wrap(&text, WIDTH - 4).into_iter().enumerate() {
        writeln!(out, "  {} {line}", if at == 0 { "-" } else { " " })?;
    }
    Ok(())
}

/// A text broken into lines.
pub(crate) fn paragraph(out: &mut dyn Write, indent: &str, text: &str) -> Result<()> {
    for line in wrap(text, WIDTH - indent.len()) {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}
