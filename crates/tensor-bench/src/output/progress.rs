//! A progress bar on standard error, for whoever watches; nothing at all when nobody does.

use std::fmt::Display;

use indicatif::{ProgressBar, ProgressStyle};

/// Counts steps of known number.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps` steps. Without a terminal behind standard error it draws nothing.
    pub fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("[{bar:30}] {pos}/{len} {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress(bar)
    }

    /// Names what is being worked on.
    pub fn begin(&self, what: impl Display) {
        self.0.set_message(what.to_string());
    }

    /// One step is done.
    pub fn end(&self) {
        self.0.inc(1);
    }

    /// Prints while the bar is out of the way, so that lines on a shared terminal stay whole.
    pub fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
