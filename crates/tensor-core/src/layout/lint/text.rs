//! Lints as text.

use std::fmt;

use super::{CACHE_LINE_BYTES, Finding, Lint, LintKind, PAGE_BYTES};

impl LintKind {
    /// Its name: `power-of-two stride`, `4 KiB aliasing`, ….
    pub fn name(self) -> &'static str {
        match self {
            Self::PowerOfTwoStride => "power-of-two stride",
            Self::PageAliasing => "4 KiB aliasing",
            Self::PageStride => "page-stride walk",
            Self::FalseSharing => "false sharing",
            Self::ShortRows => "short rows",
        }
    }
}

impl fmt::Display for LintKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.finding.kind, self.finding)?;
        match (self.finding.kind, self.padded_stride()) {
            (_, Some(stride)) => write!(f, "; a stride of {stride} elements avoids it"),
            (LintKind::PageStride | LintKind::ShortRows, None) => {
                f.write_str("; a contiguous copy avoids it")
            }
            (_, None) => Ok(()),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, dim, size, stride_bytes, row_bytes } = *self;
        match kind {
            LintKind::PowerOfTwoStride => write!(
                f,
                "dim {dim} steps {stride_bytes} bytes, {size} times, into {} of the {} sets of a \
                 first-level cache",
                (PAGE_BYTES / stride_bytes.max(1)).max(1),
                PAGE_BYTES / CACHE_LINE_BYTES
            ),
            LintKind::PageAliasing => write!(
                f,
                "dim {dim} steps {stride_bytes} bytes, a multiple of {PAGE_BYTES}: what is visited \
                 together agrees in the low 12 bits of its addresses"
            ),
            LintKind::PageStride => write!(
                f,
                "logical order steps {stride_bytes} bytes along dim {dim}, another page with each \
                 of {size} elements"
            ),
            LintKind::FalseSharing => write!(
                f,
                "dim {dim} has {size} rows {stride_bytes} bytes apart that share cache lines, if \
                 threads write one each"
            ),
            LintKind::ShortRows => write!(
                f,
                "runs of {row_bytes} bytes, {stride_bytes} apart along dim {dim}, use {} % of the \
                 cache lines that are fetched",
                100 * row_bytes / stride_bytes.clamp(1, CACHE_LINE_BYTES)
            ),
        }
    }
}
