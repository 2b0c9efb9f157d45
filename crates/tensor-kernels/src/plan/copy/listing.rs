//! The source offsets of a copy of few elements, listed once and used each time the copy is
//! repeated.
//!
//! Few elements in many short loops take longer to walk than to copy: 2 by 4 by 2 by 3 by 2
//! elements took 220 ns by the best plan, and take 50 ns by a list (Zen 5). A list costs a cycle an
//! element, whatever the layout. Where the sources of a register of the result lie in few registers
//! a list of [picks](PickedCopy) is faster still.

use tensor_core::Layout;

use super::{Work, rates::WIDEST_VECTOR};
use crate::{
    exec::Machine,
    picked_copy::PickedCopy,
    tuning::{LISTED_COPY_NS, LISTED_ELEMENT_NS, MAX_LISTED_ELEMENTS, PICKED_FACTOR},
};

/// For each element of a contiguous result, how many elements its source lies behind the first one.
/// Empty until it is needed: a copy that is not repeated needs none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing(Vec<i32>);

impl Listing {
    /// Memory for the list of a copy, if copying by it takes less time than by the plan.
    pub(crate) fn reserved(
        from: &Layout,
        to: &Layout,
        width: usize,
        work: &Work,
        machine: &Machine,
    ) -> Option<Self> {
        let len = from.numel();
        let is_listed = to.is_contiguous() && Self::has_kernel(len, width);
        if !is_listed || work.predicted_ns(machine) <= Self::predicted_ns(len) {
            return None;
        }
        Self::of_len(len)
    }

    /// The picks of a copy, if they take less time than its list, or without one than its plan.
    /// They are looked for register by register, which takes as long as some 30 copies.
    pub(crate) fn picks(
        [from, to]: [&Layout; 2],
        width: usize,
        (work, listing): (&Work, Option<&Self>),
        machine: &Machine,
    ) -> Option<PickedCopy> {
        let picks = machine.vector == WIDEST_VECTOR && to.is_contiguous();
        if !picks || !PickedCopy::suits(from.numel(), width) {
            return None;
        }
        let ns = match listing {
            Some(_) => Self::predicted_ns(from.numel()),
            None => work.predicted_ns(machine),
        };
        let mut listing = Self::of_len(from.numel())?;
        let picks = listing.fill(from).then(|| PickedCopy::new(&listing.0, width)).flatten();
        picks.filter(|picks| picks.predicted_ns() * PICKED_FACTOR < ns)
    }

    /// The list of the source's offsets in loops over scratch, if copying by it takes less time
    /// than the copy that takes `ns`.
    #[cfg(feature = "elementwise")]
    pub(crate) fn of_loops(loops: &[crate::nest::Loop<2>], width: usize, ns: f64) -> Option<Self> {
        let len = loops.iter().map(|l| l.len).product();
        if !Self::has_kernel(len, width) || ns <= Self::predicted_ns(len) {
            return None;
        }
        Self::of_dims(loops.iter().map(|l| (l.len, l.strides[1])))
    }

    /// The list of the offsets in dimensions of these sizes and strides, the last one fastest.
    #[cfg(feature = "elementwise")]
    pub(crate) fn of_dims(
        dims: impl DoubleEndedIterator<Item = (usize, isize)> + Clone,
    ) -> Option<Self> {
        let mut listing = Self::of_len(dims.clone().map(|(len, _)| len).product())?;
        listing.fill_dims(dims).then_some(listing)
    }

    /// The predicted time of a copy of `len` elements by a list, in nanoseconds.
    pub(crate) fn predicted_ns(len: usize) -> f64 {
        LISTED_COPY_NS + LISTED_ELEMENT_NS * len as f64
    }

    fn has_kernel(len: usize, width: usize) -> bool {
        (1..=MAX_LISTED_ELEMENTS).contains(&len) && matches!(width, 1 | 2 | 4 | 8 | 16)
    }

    /// An empty list with memory for `len` offsets.
    fn of_len(len: usize) -> Option<Self> {
        let mut list = Vec::new();
        list.try_reserve_exact(len).ok()?;
        Some(Self(list))
    }

    /// Lists the source's offsets. Returns `false` if they are too far apart.
    pub(crate) fn fill(&mut self, from: &Layout) -> bool {
        let dims = from.shape().iter().zip(from.strides());
        self.fill_dims(dims.map(|(&len, &stride)| (len, stride)))
    }

    fn fill_dims(&mut self, dims: impl DoubleEndedIterator<Item = (usize, isize)> + Clone) -> bool {
        let dims = dims.filter(|(len, _)| *len > 1);
        let reach = dims.clone().try_fold(0u64, |sum, (len, stride)| {
            sum.checked_add(stride.unsigned_abs().checked_mul(len - 1)? as u64)
        });
        if reach.is_none_or(|reach| reach > i32::MAX as u64) {
            return false;
        }
        let list = &mut self.0;
        list.push(0);
        for (len, stride) in dims.rev() {
            let inner = list.len();
            for at in inner..inner * len {
                list.push(list[at - inner] + stride as i32);
            }
        }
        true
    }

    /// The offsets in row-major order, or none yet.
    #[inline]
    pub(crate) fn offsets(&self) -> &[i32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(from: &Layout) -> Option<Listing> {
        let machine = &Machine::REFERENCE;
        let to = Layout::contiguous(from.shape()).unwrap();
        let work = Work::new(from, &to, 8, machine);
        let mut listing = Listing::reserved(from, &to, 8, &work, machine)?;
        listing.fill(from).then_some(listing)
    }

    #[test]
    fn short_loops_are_listed() {
        let from = Layout::new([2, 4, 2, 3, 2], [48, 96, 1, -2, 6], 40).unwrap();
        let first: Vec<i32> = listing(&from).unwrap().offsets()[..8].to_vec();
        assert_eq!(first, [0, 6, -2, 4, -4, 2, 1, 7]);
    }

    #[test]
    fn what_has_a_faster_kernel_is_not_listed() {
        let square = Layout::contiguous([16, 16]).unwrap();
        assert_eq!(listing(&square), None);
        assert_eq!(listing(&square.t().unwrap()), None);
    }

    #[test]
    fn offsets_too_far_apart_are_not_listed() {
        let far = |stride: isize| Layout::new([2, 4, 2, 3, 2], [stride, 96, 1, -2, 6], 40).unwrap();
        assert!(listing(&far(1 << 30)).is_some());
        assert_eq!(listing(&far(1 << 31)), None);
    }

    #[test]
    fn many_elements_are_not_listed() {
        let from = Layout::new([20, 4, 2, 3, 20], [48, 9600, 1, -2, 1000], 40).unwrap();
        assert_eq!(listing(&from), None);
    }
}
