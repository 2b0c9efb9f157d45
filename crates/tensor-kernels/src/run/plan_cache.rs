//! The plans of copies that a thread has made last, so that a repeated copy is not planned again.
//!
//! Comparing candidates takes as long as a small copy; finding a plan takes some 30 ns. Programs
//! repeat copies: every layer, image or time step has the layouts of the last one. Offsets are not
//! compared, so the parts of a batch share a plan.
//!
//! A thread keeps up to [`SLOTS`] plans of about 1 KiB each. A plan whose slot is taken replaces
//! the plan in it.

use std::{cell::RefCell, mem, ops::Deref};

use tensor_core::Layout;

use crate::{exec::Machine, plan::Work};

/// Plans that a thread keeps.
const SLOTS: usize = 64;

/// Layouts of more dimensions have lists on the heap, and are not kept.
const MAX_DIMS: usize = 8;

/// A plan, and what it was made for.
pub(super) struct Entry {
    from: Layout,
    to: Layout,
    width: usize,
    machine: Machine,
    work: Work,
}

/// Empty, or one entry. A vector, because an allocation of it can fail without an abort.
pub(super) type Slot = Vec<Entry>;

thread_local! {
    static PLANS: RefCell<[Slot; SLOTS]> = const { RefCell::new([const { Vec::new() }; SLOTS]) };
}

/// A plan, taken out of its slot while it is used: a thread that waits may run another copy
/// meanwhile. It is put back when it is dropped.
#[expect(clippy::large_enum_variant, reason = "an allocation could fail")]
pub(super) enum Kept {
    /// In the slot of this number.
    Slot(usize, Slot),
    /// Not kept afterwards.
    Once(Work),
}

/// The plan of a copy, which is made if it is not kept.
#[inline]
pub(super) fn plan(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Kept {
    if from.ndim() > MAX_DIMS || from.numel() == 0 {
        return Kept::Once(Work::new(from, to, width, machine));
    }
    let at = slot(from, to, width);
    let mut slot = exchange(at, Vec::new());
    match slot.first_mut().filter(|entry| entry.is_for(from, to, width, machine)) {
        Some(entry) => entry.start_at(from, to),
        None => {
            slot.clear();
            let work = Work::new(from, to, width, machine);
            if slot.try_reserve_exact(1).is_err() {
                return Kept::Once(work);
            }
            let (from, to) = (from.clone(), to.clone());
            slot.push(Entry { from, to, width, machine: *machine, work });
        }
    }
    Kept::Slot(at, slot)
}

impl Deref for Kept {
    type Target = Work;

    fn deref(&self) -> &Work {
        match self {
            Self::Slot(_, slot) => &slot[0].work,
            Self::Once(work) => work,
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Self::Slot(at, slot) = self {
            exchange(*at, mem::take(slot));
        }
    }
}

/// Puts a slot in the place of another, which is returned. Without effect while a thread ends.
fn exchange(at: usize, slot: Slot) -> Slot {
    PLANS
        .try_with(|plans| match plans.try_borrow_mut() {
            Ok(mut plans) => mem::replace(&mut plans[at], slot),
            Err(_) => Vec::new(),
        })
        .unwrap_or_default()
}

/// The slot of a copy: a hash of shape, strides and width.
fn slot(from: &Layout, to: &Layout, width: usize) -> usize {
    let mut hash = width as u64;
    let mut add = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(HASH_FACTOR);
    for ((&len, &a), &b) in from.shape().iter().zip(from.strides()).zip(to.strides()) {
        add(len as u64);
        add(a as u64);
        add(b as u64);
    }
    (hash >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// 2⁶⁴ over the golden ratio, odd (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Entry {
    /// Was the plan made for these layouts, apart from their offsets?
    fn is_for(&self, from: &Layout, to: &Layout, width: usize, machine: &Machine) -> bool {
        self.width == width
            && self.from.shape() == from.shape()
            && self.from.strides() == from.strides()
            && self.to.strides() == to.strides()
            && self.machine == *machine
    }

    /// Moves the plan to other offsets.
    fn start_at(&mut self, from: &Layout, to: &Layout) {
        let planned = [self.to.offset(), self.from.offset()];
        let wanted = [to.offset(), from.offset()];
        if planned != wanted {
            self.work.move_by([0, 1].map(|k| {
                (wanted[k] as isize).wrapping_sub(planned[k] as isize) * self.width as isize
            }));
            (self.from, self.to) = (from.clone(), to.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(from: &Layout, to: &Layout, machine: &Machine) -> Work {
        plan(from, to, 4, machine).clone()
    }

    #[test]
    fn a_kept_plan_is_that_of_its_layouts_and_machine() {
        let whole = Layout::contiguous(&[6, 40, 30]).unwrap();
        let to = Layout::contiguous(&[30, 40]).unwrap();
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
    fn layouts_that_share_a_slot_replace_each_other() {
        let of = |len: usize| {
            let to = Layout::contiguous(&[len, 3]).unwrap();
            (Layout::contiguous(&[3, len]).unwrap().t().unwrap(), to)
        };
        for _ in 0..2 {
            for len in 1..4 * SLOTS {
                let (from, to) = of(len);
                let expected = Work::new(&from, &to, 4, &Machine::REFERENCE);
                assert_eq!(planned(&from, &to, &Machine::REFERENCE), expected);
            }
        }
    }

    #[test]
    fn a_copy_inside_of_a_copy_has_its_own_plan() {
        let to = Layout::contiguous(&[40, 30]).unwrap();
        let from = Layout::contiguous(&[30, 40]).unwrap().t().unwrap();
        let outer = plan(&from, &to, 4, &Machine::REFERENCE);
        assert_eq!(planned(&from, &to, &Machine::REFERENCE), *outer);
    }
}
