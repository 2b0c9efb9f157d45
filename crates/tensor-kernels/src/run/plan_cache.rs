//! The plans of copies that a thread has made last, so that a repeated copy is not planned again.
//!
//! Comparing candidates takes as long as a small copy; finding a plan takes some 20 ns. Programs
//! repeat copies: every layer, image or time step has the layouts of the last one. Offsets are not
//! compared, so the parts of a batch share a plan.
//!
//! Plans are found by a hash: a thread has [`SLOTS`] slots, of [up to four plans](super::plan_slot)
//! of about 1 KiB each. One of few elements has a list of their offsets, or the picks of its
//! registers ([`PickedCopy`]), which take up to 28 KiB and are listed when it has been repeated
//! [`PICKED_FROM_REPEAT`] times.

use std::cell::RefCell;

use tensor_core::Layout;

use super::plan_slot::{Slot, empty_slot, make_first};
use crate::{
    exec::Machine,
    picked_copy::PickedCopy,
    plan::{Listing, Work},
    tuning::PICKED_FROM_REPEAT,
};

/// Slots for the plans that a thread keeps.
const SLOTS: usize = 64;

/// Copies of more dimensions are planned each time.
const MAX_DIMS: usize = 8;

/// What a plan is made for. Passed by reference: a copy would wait for the stores of its fields.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub(super) from: &'a Layout,
    pub(super) to: &'a Layout,
    pub(super) width: usize,
    pub(super) machine: &'a Machine,
}

/// A plan, and what it was made for apart from the offsets.
struct Entry {
    ndim: usize,
    /// Of each dimension the size, and the strides of destination and source.
    dims: [[isize; 3]; MAX_DIMS],
    width: usize,
    machine: Machine,
    /// The offsets of destination and source for which the plan's starts are right.
    offsets: [usize; 2],
    work: Work,
    /// If a copy by a list of the source offsets is faster. It is filled when the copy is repeated.
    listing: Option<Listing>,
    /// If a copy by picks is faster still. They are listed when the copy has often been repeated.
    picks: Option<PickedCopy>,
    /// How often it has been repeated, up to [`PICKED_FROM_REPEAT`].
    repeats: u8,
}

/// A plan as it is kept.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) work: &'a Work,
    /// The source offsets, if a copy by them is faster.
    pub(super) listing: Option<&'a Listing>,
    /// The picks, if a copy by them is faster still.
    pub(super) picks: Option<&'a PickedCopy>,
    /// The bytes by which destination and source lie behind the starts of the plan.
    pub(super) behind: [isize; 2],
}

thread_local! {
    static PLANS: RefCell<[Slot<Entry>; SLOTS]> =
        const { RefCell::new([const { empty_slot() }; SLOTS]) };
}

/// Calls `run` with the plan of a copy, which is made if it is not kept.
///
/// The plans are borrowed meanwhile: a copy that `run` begins on this thread is planned anew.
#[inline]
pub(super) fn with_plan<R>(copy: &Planned<'_>, run: impl FnOnce(Kept<'_>) -> R) -> R {
    let mut run = Some(run);
    let found = PLANS.try_with(|plans| {
        let mut plans = plans.try_borrow_mut().ok()?;
        let entry = copy.entry(&mut plans[copy.slot()])?;
        let run = run.take()?;
        let listing = entry.listing.as_ref().filter(|listing| !listing.offsets().is_empty());
        let (work, picks, behind) = (&entry.work, entry.picks.as_ref(), copy.behind(entry.offsets));
        Some(run(Kept { work, listing, picks, behind }))
    });
    match (found, run) {
        (Ok(Some(result)), _) => result,
        (_, Some(run)) => {
            run(Kept { work: &copy.work(), listing: None, picks: None, behind: [0; 2] })
        }
        (_, None) => unreachable!("`run` is taken only to be called"),
    }
}

impl Planned<'_> {
    fn work(&self) -> Work {
        Work::new(self.from, self.to, self.width, self.machine)
    }

    /// The entry of this copy, which is made if it is not kept. `None` if it cannot be kept.
    #[inline]
    fn entry<'s>(&self, slot: &'s mut Slot<Entry>) -> Option<&'s mut Entry> {
        match slot[0].first_mut().filter(|entry| entry.is_for(self)) {
            None => make_first(slot, |entry| entry.is_for(self), |place| self.new_entry(place))?,
            Some(entry) if entry.repeats < PICKED_FROM_REPEAT => entry.repeated(self),
            Some(_) => {}
        }
        slot[0].first_mut()
    }

    /// Appends a new entry, for which there is room.
    fn new_entry(&self, place: &mut Vec<Entry>) -> Option<()> {
        let ndim = self.from.ndim();
        if ndim > MAX_DIMS || self.from.numel() == 0 {
            return None;
        }
        let mut dims = [[0; 3]; MAX_DIMS];
        for (kept, dim) in dims.iter_mut().zip(self.dims()) {
            *kept = dim;
        }
        let offsets = [self.to.offset(), self.from.offset()];
        let (width, machine, work) = (self.width, *self.machine, self.work());
        let listing = Listing::reserved(self.from, self.to, width, &work, &machine);
        let (picks, repeats) = (None, 0);
        place.push(Entry { ndim, dims, width, machine, offsets, work, listing, picks, repeats });
        Some(())
    }

    /// Of each dimension the size, and the strides of destination and source.
    #[inline]
    fn dims(&self) -> impl Iterator<Item = [isize; 3]> {
        let strides = self.to.strides().iter().zip(self.from.strides());
        self.from.shape().iter().zip(strides).map(|(&len, (&to, &from))| [len as isize, to, from])
    }

    /// The slot of a copy: a hash of shape, strides and width.
    #[inline]
    fn slot(&self) -> usize {
        let hash = self.dims().fold(self.width as u64, |hash, dim| {
            let [len, to, from] = dim.map(|word| word as u64);
            let mixed = len.wrapping_mul(HASH_FACTORS[0])
                ^ to.wrapping_mul(HASH_FACTORS[1])
                ^ from.wrapping_mul(HASH_FACTORS[2]);
            hash.rotate_left(7).wrapping_add(mixed)
        });
        (hash.wrapping_mul(HASH_FACTORS[0]) >> (u64::BITS - SLOTS.ilog2())) as usize
    }

    /// The offsets of the first elements of destination and source, in bytes.
    #[inline]
    pub(super) fn starts(&self) -> [usize; 2] {
        [self.to, self.from].map(|layout| layout.offset() * self.width)
    }

    /// How many bytes destination and source lie behind other offsets.
    #[inline]
    fn behind(self, [to, from]: [usize; 2]) -> [isize; 2] {
        [(self.to, to), (self.from, from)].map(|(layout, planned)| {
            (layout.offset() as isize).wrapping_sub(planned as isize) * self.width as isize
        })
    }
}

/// Odd, with bits everywhere: 2⁶⁴ over the golden ratio (Knuth, The Art of Computer Programming,
/// volume 3, section 6.4), and the first two factors of the finaliser of SplitMix64.
pub(super) const HASH_FACTORS: [u64; 3] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl Entry {
    /// Lists what a repeated copy needs.
    #[cold]
    fn repeated(&mut self, copy: &Planned<'_>) {
        self.repeats += 1;
        if self.repeats == 1 {
            let fill = |mut listing: Listing| listing.fill(copy.from).then_some(listing);
            self.listing = self.listing.take().and_then(fill);
        }
        if self.repeats == PICKED_FROM_REPEAT {
            let (layouts, others) = ([copy.from, copy.to], (&self.work, self.listing.as_ref()));
            self.picks = Listing::picks(layouts, copy.width, others, copy.machine);
        }
    }

    /// Was the plan made for this copy, apart from the offsets?
    #[inline]
    fn is_for(&self, copy: &Planned<'_>) -> bool {
        let is_same_dim = |(kept, dim): (&[isize; 3], [isize; 3])| {
            // Without branches: nearly always all are the same.
            kept[0] ^ dim[0] | kept[1] ^ dim[1] | kept[2] ^ dim[2]
        };
        let differing = self.dims.iter().zip(copy.dims()).map(is_same_dim).fold(0, |a, b| a | b);
        differing == 0
            && self.ndim == copy.from.ndim()
            && self.width == copy.width
            && self.machine == *copy.machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plan, moved to where the operands lie.
    fn planned(from: &Layout, to: &Layout, machine: &Machine) -> Work {
        with_plan(&Planned { from, to, width: 4, machine }, |kept| {
            kept.work.clone().moved(kept.behind)
        })
    }

    #[test]
    fn a_kept_plan_is_that_of_its_layouts_and_machine() {
        let whole = Layout::contiguous([6, 40, 30]).unwrap();
        let to = Layout::contiguous([30, 40]).unwrap();
        let small = Machine { l1: 1 << 10, l2: 2 << 10, stream: 4 << 10, ..Machine::REFERENCE };
        for machine in [Machine::REFERENCE, small, Machine::REFERENCE] {
            for at in [0, 5, 2] {
                let from = whole.select(0, at).unwrap().t().unwrap();
                for _ in 0..2 {
                    let expected = Work::new(&from, &to, 4, &machine);
                    assert_eq!(planned(&from, &to, &machine), expected, "matrix {at}");
                }
            }
        }
    }

    #[test]
    fn more_layouts_than_a_thread_keeps() {
        let of = |len: usize| {
            let to = Layout::contiguous([len, 3]).unwrap();
            (Layout::contiguous([3, len]).unwrap().t().unwrap(), to)
        };
        for _ in 0..2 {
            for len in 1..8 * SLOTS {
                let (from, to) = of(len);
                let expected = Work::new(&from, &to, 4, &Machine::REFERENCE);
                assert_eq!(planned(&from, &to, &Machine::REFERENCE), expected);
            }
        }
    }

    #[test]
    fn a_copy_inside_of_a_copy_has_its_own_plan() {
        let to = Layout::contiguous([40, 30]).unwrap();
        let from = Layout::contiguous([30, 40]).unwrap().t().unwrap();
        let machine = &Machine::REFERENCE;
        with_plan(&Planned { from: &from, to: &to, width: 4, machine }, |outer| {
            assert_eq!(planned(&from, &to, machine), *outer.work);
        });
    }
}
