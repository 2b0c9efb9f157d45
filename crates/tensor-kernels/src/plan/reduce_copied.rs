//! Plans reductions of many short loops: the input is first copied to scratch, where the loops that
//! are reduced lie on one side of a matrix and the loops that are kept on the other.
//!
//! Rows and columns of one loop each would make blocks of a few elements, with accumulators to be
//! found for each: 10 by 4 by 2 by 20 floats, permuted, of which the first two dimensions are
//! reduced, took 22 µs. Copied first they take 1.0 µs (Zen 5). The copy is planned like any other.
//! A large input is copied in parts, each with results of its own.
//!
//! # Tried and dropped
//! Allocated parts of 256 KiB and of 1 MiB: on 50 large inputs each half is faster with one of
//! them, by up to 2 times either way, and the means differ by 2 %. Parts of 16 KiB only: up to ten
//! times slower.

use std::cmp::Reverse;

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use super::{
    Comparison, INDEX, INPUT, Listing, RESULT, ReduceWork, Work, is_reduced,
    reduce_cost::{NEXT_PART_NS, PART_NS},
};
use crate::{
    exec::Machine,
    nest::{Loop, Loops, NestBuilder},
    reduction_order::Widths,
};

type Loops3 = SmallVec<[Loop<3>; 9]>;

/// A reduction whose input is copied first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopiedReduce {
    /// The offsets of the first part's first result and first element.
    starts: [isize; 2],
    /// The kept loops around a part, outermost first, with the strides of result and input.
    around: Loops<2>,
    /// A part; and the part at the end of the last of these loops, if it is smaller. A vector,
    /// because parts are large to move, and an allocation of it can fail without an abort.
    parts: Vec<CopiedPart>,
}

/// One part: the copy to dense scratch, and the reduction of it, both from offset 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopiedPart {
    pub(crate) copy: Work,
    /// The offsets of the copy's source, if a copy by them is faster.
    pub(crate) listing: Option<Listing>,
    pub(crate) reduce: ReduceWork,
    /// The elements copied.
    pub(crate) elements: usize,
}

/// A part and where it lies.
#[derive(Clone, Copy)]
pub(crate) struct PlacedPart<'a> {
    pub(crate) part: &'a CopiedPart,
    /// The offsets of its first result and of its first element.
    pub(crate) starts: [isize; 2],
}

/// Where the matrix has the loops that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptAs {
    Rows,
    Columns,
}

impl CopiedReduce {
    /// The plan whose parts are at most `part_bytes`, and its predicted time in nanoseconds. `None`
    /// if the elements of a result are more.
    pub(super) fn plan(
        direct: &ReduceWork,
        kept_as: KeptAs,
        part_bytes: usize,
    ) -> Option<(Self, f64)> {
        let (mut reduced, mut kept, mut starts) = (Loops3::new(), Loops3::new(), direct.starts);
        for l in direct.loops().filter(|l| l.len != 1) {
            let side = if is_reduced(l) { &mut reduced } else { &mut kept };
            side.push(forwards(*l, &mut starts));
        }
        // By index first, so that the loops of indices can be fused.
        sort_by_key(&mut reduced, |l| Reverse((l.strides[INDEX], l.strides[INPUT].unsigned_abs())));
        let Cut { around, inner, rest } = Cut::of(kept, &reduced, direct.widths.input, part_bytes)?;
        let mut parts = Vec::new();
        parts.try_reserve_exact(2).ok()?;
        let mut add = |kept| {
            let (mut part, ns) =
                CopiedPart::of(kept, &reduced, kept_as, starts[INDEX], direct.widths);
            part.reduce.repetitions = direct.repetitions;
            parts.push(part);
            ns
        };
        let whole_ns = add(inner);
        let last_ns = rest.map_or(whole_ns, &mut add);
        let count: usize = around.iter().map(|l| l.len).product();
        let ns = (count - 1) as f64 * (whole_ns + NEXT_PART_NS) + last_ns;
        Some((Self { starts: [starts[RESULT], starts[INPUT]], around, parts }, ns))
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.around.iter().map(|l| l.len).product()
    }

    /// The bytes of the largest part.
    pub(crate) fn part_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.elements * part.reduce.widths.input).max().unwrap_or(0)
    }

    /// A part.
    pub(crate) fn part(&self, number: usize) -> PlacedPart<'_> {
        let (mut rest, mut starts, mut is_last) = (number, self.starts, false);
        for (depth, l) in self.around.iter().rev().enumerate() {
            let at = rest % l.len;
            rest /= l.len;
            is_last |= depth == 0 && at + 1 == l.len;
            for (start, stride) in starts.iter_mut().zip(l.strides) {
                *start += stride * at as isize;
            }
        }
        let part = &self.parts[if is_last { self.parts.len() - 1 } else { 0 }];
        PlacedPart { part, starts }
    }
}

/// The loop in the direction in which results or indices follow each other in memory, so that it
/// can be fused with the others.
pub(super) fn forwards(mut l: Loop<3>, starts: &mut [isize; 3]) -> Loop<3> {
    if l.strides[RESULT] < 0 || l.strides[INDEX] < 0 {
        for (start, stride) in starts.iter_mut().zip(&mut l.strides) {
            *start += (l.len - 1) as isize * *stride;
            *stride = -*stride;
        }
    }
    l
}

/// The kept loops, cut into those around a part and those of a part.
struct Cut {
    around: Loops<2>,
    inner: Loops3,
    /// Those of the part at the end of the innermost loop around the parts, if it is smaller.
    rest: Option<Loops3>,
}

impl Cut {
    /// Cuts along the loops that are outermost in the input's memory.
    fn of(mut kept: Loops3, reduced: &Loops3, width: usize, part_bytes: usize) -> Option<Self> {
        let bytes = |kept: &[Loop<3>]| {
            let loops = kept.iter().chain(reduced);
            loops.fold(width, |bytes, l| bytes.saturating_mul(l.len))
        };
        sort_by_key(&mut kept, |l| Reverse(l.strides[INPUT].unsigned_abs()));
        let (mut around, mut rest) = (Loops::new(), None);
        while bytes(&kept) > part_bytes {
            let outermost = *kept.first()?;
            let len = part_bytes / bytes(&kept[1..]);
            let step = len.max(1);
            around.push(Loop {
                len: outermost.len.div_ceil(step),
                strides: [RESULT, INPUT].map(|k| outermost.strides[k] * step as isize),
            });
            if len > 0 {
                kept[0].len = outermost.len % step;
                rest = (kept[0].len > 0).then(|| kept.clone());
                kept[0].len = step;
                break;
            }
            kept.remove(0);
        }
        Some(Self { around, inner: kept, rest })
    }
}

impl CopiedPart {
    /// A part and its predicted time in nanoseconds.
    fn of(
        mut kept: Loops3,
        reduced: &Loops3,
        kept_as: KeptAs,
        index: isize,
        widths: Widths,
    ) -> (Self, f64) {
        sort_by_key(&mut kept, |l| Reverse(l.strides[RESULT].unsigned_abs()));
        let [outer, inner] = match kept_as {
            KeptAs::Rows => [&kept, reduced],
            KeptAs::Columns => [reduced, &kept],
        };
        let mut matrix: Loops3 = outer.iter().chain(inner).copied().collect();
        let (mut copy, mut elements): (SmallVec<[Loop<2>; 9]>, _) = (SmallVec::new(), 1);
        for l in matrix.iter_mut().rev() {
            let from = std::mem::replace(&mut l.strides[INPUT], elements as isize);
            copy.push(Loop { len: l.len, strides: [elements as isize, from] });
            elements *= l.len;
        }
        copy.reverse();
        let machine = Comparison::Full.machine(Machine::REFERENCE.vector);
        let work = fused(&copy, |builder| Work::of_nest(builder, widths.input, &machine));
        let predicted_ns = work.predicted_ns(&machine);
        let listing = Listing::of_loops(&copy, widths.input, predicted_ns);
        let copy_ns =
            if listing.is_some() { Listing::predicted_ns(elements) } else { predicted_ns };
        let reduce =
            fused(&matrix, |builder| ReduceWork::of(builder.loops(), [0, 0, index], widths));
        let ns = PART_NS + copy_ns + reduce.predicted_ns();
        (Self { copy: work, listing, reduce, elements }, ns)
    }
}

/// Calls `f` with the normal form of loops that are sorted.
fn fused<const N: usize, R>(loops: &[Loop<N>], f: impl FnOnce(&mut NestBuilder<'_, N>) -> R) -> R {
    let mut buffer: SmallVec<[Loop<N>; 10]> = SmallVec::new();
    buffer.resize(loops.len() + 1, Loop::NONE);
    let mut builder = NestBuilder::new(&mut buffer);
    for l in loops.iter().filter(|l| l.len > 1) {
        builder.push(*l);
    }
    builder.fuse();
    f(&mut builder)
}

#[cfg(test)]
mod tests {
    use tensor_core::{Layout, ReduceDims};

    use super::*;
    use crate::reduction_order::Repeats;

    /// The direct plan of a sum of floats.
    fn direct(input: &Layout, over: ReduceDims) -> ReduceWork {
        let reduced = input.reduced("sum", over).unwrap();
        let result = Layout::contiguous(reduced.shape()).unwrap();
        let layouts =
            [input, &reduced.broadcast_result(&result).unwrap(), &reduced.indices().unwrap()];
        let widths = Widths { input: 4, output: 4, accumulator: 4 };
        ReduceWork::plan(layouts, widths, Repeats::Combined)
    }

    /// Offsets of input, result and index, in any order.
    type Visits = Vec<[isize; 3]>;

    fn visited<const N: usize>(
        loops: impl IntoIterator<Item = Loop<N>>,
        starts: [isize; N],
    ) -> Vec<[isize; N]> {
        loops.into_iter().fold(vec![starts], |visits, l| {
            let step = |at: usize, k: usize| l.strides[k] * at as isize;
            let of = |visit: [isize; N]| {
                (0..l.len).map(move |at| std::array::from_fn(|k| visit[k] + step(at, k)))
            };
            visits.into_iter().flat_map(of).collect()
        })
    }

    /// What the parts read and write: for each element of scratch, the source of its copy.
    fn visited_by_parts(copied: &CopiedReduce) -> Visits {
        let mut visits = Vec::new();
        for PlacedPart { part, starts: [result, input] } in
            (0..copied.parts()).map(|number| copied.part(number))
        {
            let sources = sources(part);
            for [scratch, to, index] in visited(part.reduce.loops().copied(), part.reduce.starts) {
                visits.push([input + sources[scratch as usize], result + to, index]);
            }
        }
        visits
    }

    /// For each element of scratch, the offset in the input that is copied there.
    fn sources(part: &CopiedPart) -> Vec<isize> {
        let mut memory = vec![0i32; part.elements];
        let list = part.listing.as_ref().expect("few elements in short loops are listed");
        memory.copy_from_slice(list.offsets());
        memory.into_iter().map(|offset| offset as isize).collect()
    }

    fn sorted(mut visits: Visits) -> Visits {
        visits.sort_unstable();
        visits
    }

    #[test]
    fn the_parts_visit_each_element_once_with_its_result_and_index() {
        // Gaps everywhere, so that no loops can be fused.
        let short = Layout::new([3, 4, 2, 5, 3], [999, 220, 101, 19, 5], 0).unwrap();
        let cases = [
            (short.permute([4, 2, 0, 3, 1]).unwrap(), vec![0, 3]),
            (short.flip([0, 3]).unwrap(), vec![1, 3]),
            (short.permute([1, 0, 3, 2, 4]).unwrap().flip([1, 2]).unwrap(), vec![1, 2]),
        ];
        for (input, over) in cases {
            let direct = direct(&input, over.clone().into());
            let expected = sorted(visited(direct.loops().copied(), direct.starts));
            for kept_as in [KeptAs::Rows, KeptAs::Columns] {
                let (copied, _) = CopiedReduce::plan(&direct, kept_as, 1 << 10).unwrap();
                assert_eq!(sorted(visited_by_parts(&copied)), expected, "{input:?} over {over:?}");
            }
        }
    }

    #[test]
    fn large_inputs_are_cut_along_the_outermost_kept_loops() {
        // 41 * 300 * 40 floats: more than three parts of half a mebibyte.
        let input = Layout::contiguous([41, 300, 40]).unwrap();
        let plan = |input: &Layout, over: isize| {
            CopiedReduce::plan(&direct(input, over.into()), KeptAs::Columns, 1 << 19)
        };
        let (copied, _) = plan(&input, 1).unwrap();
        let elements: Vec<usize> =
            (0..copied.parts()).map(|number| copied.part(number).part.elements).collect();
        assert_eq!(elements, [120_000, 120_000, 120_000, 120_000, 12_000]);
        assert_eq!(copied.part(4).starts, [40 * 40, 40 * 300 * 40]);
        assert_eq!(copied.part_bytes(), 480_000);

        // 800 kB for each result.
        let long = Layout::contiguous([7, 3, 200_000]).unwrap();
        assert!(plan(&long, 2).is_none());
    }
}
