//! A progress bar on standard error, if that is a terminal.

use std::fmt::Display;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of a known number of steps.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps` steps.
    pub fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("[{bar:30}] {pos}/{len} {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress(bar)
    }

    /// Shows what is in progress.
    pub fn begin(&self, what: impl Display) {
        self.0.set_message(what.to_string());
    }

    /// Completes a step.
    pub fn end(&self) {
        self.0.inc(1);
    }

    /// Hides the bar while `print` runs, so that lines on the same terminal are not mixed.
    pub fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
