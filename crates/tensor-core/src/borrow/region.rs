//! The bytes of a storage that a layout reaches, told by few numbers, so that two of them can be
//! compared while other threads wait.

use crate::{DimVec, Layout, sort::sort_by_key};

/// Patterns of a region: a part along as many dimensions of a tensor has as many.
const PATTERNS: usize = 3;

/// The bytes of a storage that elements take: those of a span that lie in each of some patterns.
/// The columns of some rows are one pattern; the same columns of some rows of each matrix are two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    span: Span,
    /// Those behind the last one have no period.
    patterns: [Pattern; PATTERNS],
}

/// From the first byte to the last one. It fits into registers: a region that is compared, and
/// moved into a list then, costs 10 ns more (Zen 3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    /// Behind the last byte.
    end: usize,
}

/// Bytes that are repeated through a span, from its first byte.
#[derive(Clone, Copy, Debug, Default)]
struct Pattern {
    /// The distance of repetitions.
    period: usize,
    /// The bytes that are taken at the start of each repetition; fewer than the period.
    width: usize,
}

impl Span {
    /// The elements of a layout, of `width` bytes each, and all gaps between them; `None` without
    /// elements.
    #[inline]
    pub(super) fn of(layout: &Layout, width: usize) -> Option<Self> {
        let (first, elements) = match layout.is_dense() {
            true if layout.numel() == 0 => return None,
            true => (layout.offset(), layout.numel()),
            false => layout.bounds().map(|(first, last)| (first, last - first + 1))?,
        };
        let (start, bytes) = (first * width, elements * width);
        Some(Self { start, end: start + bytes })
    }

    #[inline]
    fn meets(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl From<Span> for Region {
    #[inline]
    fn from(span: Span) -> Self {
        Self { span, patterns: [Pattern::default(); PATTERNS] }
    }
}

impl Region {
    /// The elements of a layout, of `width` bytes each, and as few gaps as patterns can tell;
    /// `None` without elements.
    #[inline]
    pub(super) fn elements(layout: &Layout, width: usize) -> Option<Self> {
        let whole = Self::from(Span::of(layout, width)?);
        if layout.is_dense() { Some(whole) } else { Some(whole.patterned(layout, width)) }
    }

    /// Are all bytes of the span taken?
    pub(super) fn is_whole(&self) -> bool {
        self.known().is_empty()
    }

    /// The patterns that leave out some of the span: strides of some dimensions are multiples of
    /// the period, and those of all others reach less far.
    fn patterned(mut self, layout: &Layout, width: usize) -> Self {
        let dims = layout.shape().iter().zip(layout.strides());
        let mut steps: DimVec<(usize, usize)> = dims
            .filter(|&(&size, &stride)| size > 1 && stride != 0)
            .map(|(&size, stride)| (stride.unsigned_abs() * width, size - 1))
            .collect();
        sort_by_key(&mut steps, |&step| step);
        let (mut taken, mut known) = (width, 0);
        for (d, &(period, count)) in steps.iter().enumerate() {
            let is_period = steps[d..].iter().all(|&(step, _)| step.is_multiple_of(period));
            if is_period && taken < period && known < PATTERNS {
                self.patterns[known] = Pattern { period, width: taken };
                known += 1;
            }
            taken += period * count;
        }
        self
    }

    /// May the two share a byte? `false` only if they share none.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.span.meets(other.span) && self.patterns_meet(other)
    }

    /// The same for all bytes of a span.
    #[inline]
    pub(super) fn meets_span(&self, span: Span) -> bool {
        self.span.meets(span) && self.patterns_meet_span(span)
    }

    /// A byte of both lies in all patterns of both.
    fn patterns_meet(&self, other: &Self) -> bool {
        if other.is_whole() {
            return self.patterns_meet_span(other.span);
        }
        if self.is_whole() {
            return other.patterns_meet_span(self.span);
        }
        let start = [self.span.start, other.span.start];
        self.known().iter().all(|a| {
            let period = |b: &Pattern| common_divisor(a.period, b.period);
            other.known().iter().all(|b| runs_meet(period(b), start, [a.width, b.width]))
        })
    }

    /// The span is a single repetition of any pattern.
    fn patterns_meet_span(&self, span: Span) -> bool {
        let start = [self.span.start, span.start];
        let length = span.end - span.start;
        self.known().iter().all(|own| runs_meet(own.period, start, [own.width, length]))
    }

    /// The patterns without those that are unused.
    fn known(&self) -> &[Pattern] {
        let unused = self.patterns.iter().position(|pattern| pattern.period == 0);
        &self.patterns[..unused.unwrap_or(PATTERNS)]
    }
}

/// Do two runs of bytes share one if each is repeated at distances that are multiples of `period`?
/// If they share one, their positions there agree modulo `period`.
fn runs_meet(period: usize, [start, other]: [usize; 2], [width, length]: [usize; 2]) -> bool {
    let apart = (other % period + period - start % period) % period;
    apart < width || apart + length > period
}

/// The greatest one (Euclid).
fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
