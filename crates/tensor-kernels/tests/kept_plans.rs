//! Kept plans of few elements, which are run by short cuts: every order of up to five dimensions,
//! flipped, stepped and repeated, into results in order and backwards between gaps, for types of
//! many widths, beside the same plans without short cuts.

mod common;

use common::{Memory, Sample, extent, strided};
use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Element, Exec, Layout, Machine, Slice, TensorView,
};

const SHAPES: &[&[usize]] = &[
    &[1],
    &[7],
    &[200],
    &[4, 4],
    &[2, 64],
    &[15, 15],
    &[6, 23],
    &[30, 40],
    &[3, 2, 5],
    &[2, 9, 3, 2],
    &[2, 2, 2, 2, 2],
    &[3, 0, 2],
];

/// Every cyclic order of the dimensions of dense elements, flipped, and of every second one; and
/// a dimension repeated.
fn sources(shape: &[usize]) -> Vec<Layout> {
    let dims = shape.len() as isize;
    let mut sources = Vec::new();
    for shift in 0..dims {
        let order: Vec<isize> = (0..dims).map(|d| (d + shift) % dims).collect();
        let back: Vec<isize> = (0..dims).map(|d| (d - shift).rem_euclid(dims)).collect();
        let base: Vec<usize> = order.iter().map(|&d| shape[d as usize]).collect();
        let permuted = Layout::contiguous(&base).unwrap().permute(&back).unwrap();
        let wide: Vec<usize> = base.iter().map(|size| 2 * size).collect();
        let every_second = (0..dims)
            .try_fold(Layout::contiguous(&wide).unwrap(), |layout, d| {
                layout.slice(d, Slice::ALL.step_by(2))
            })
            .unwrap();
        let mut one = shape.to_vec();
        one[shift as usize] = 1;
        let repeated = Layout::contiguous(&one).unwrap().broadcast_to(shape).unwrap();
        let every_second = every_second.permute(&back).unwrap();
        sources.extend([permuted.flip([shift]).unwrap(), permuted, every_second, repeated]);
    }
    sources
}

/// A contiguous result, and one of negative strides with gaps.
fn results(shape: &[usize]) -> [Layout; 2] {
    let dense = Layout::contiguous(shape).unwrap();
    let backwards: Vec<isize> = dense.strides().iter().map(|stride| -2 * stride).collect();
    [dense, strided(shape, &backwards, 3)]
}

fn check<T: Sample + Element>() {
    let exec = Exec::current().unwrap().with_machine(Machine::REFERENCE);
    for shape in SHAPES {
        for (from, to) in sources(shape).iter().flat_map(|from| results(shape).map(|to| (from, to)))
        {
            let plan = CopyPlan::new(from, &to, size_of::<T>(), &Machine::REFERENCE).unwrap();
            let source = Memory::<T>::samples(extent(from), 3);
            let blank = Memory::<T>::for_layout(&to, 5);
            let expected = blank.with(&to, &source.values(from));
            for plan in [plan.clone(), plan.without_short_cuts()] {
                let mut result = blank.clone();
                plan.run(&exec, source.view(from), &mut result.view_mut(&to)).unwrap();
                result.assert_is(&expected, || format!("{from:?} to {to:?}"));
                let mut result = blank.clone();
                let bytes = bytemuck::cast_slice_mut(result.elements_mut());
                let mut target = ByteViewMut::new(bytes, size_of::<T>(), to.clone()).unwrap();
                let items = bytemuck::cast_slice(source.elements());
                let items = ByteView::new(items, size_of::<T>(), from.clone()).unwrap();
                plan.run_bytes(&exec, &items, &mut target).unwrap();
                result.assert_is(&expected, || format!("by bytes, {from:?} to {to:?}"));
            }
        }
    }
}

#[test]
fn plans_of_few_elements() {
    check::<u8>();
    check::<u16>();
    check::<[u8; 3]>();
    check::<f32>();
    check::<[u8; 6]>();
    check::<u64>();
    check::<[u8; 12]>();
    check::<u128>();
    check::<[u64; 3]>();
}

/// The plan of a tiny copy knows its layouts, too.
#[test]
fn fault_a_short_cut_is_for_its_own_layouts_only() {
    let exec = Exec::current().unwrap();
    let dense = |shape: [usize; 2]| Layout::contiguous(shape).unwrap();
    let from = dense([2, 8]).select(0, 1).unwrap().view([2, 4]).unwrap();
    let (to, machine) = (dense([2, 4]), Machine::REFERENCE);
    let plan = CopyPlan::new(&from, &to, 4, &machine).unwrap();
    let source = [1.0f32; 16];
    let mut result = Memory::<f32>::for_layout(&to, 0);
    let unchanged = result.clone();
    for (what, other) in [
        ("offset", dense([2, 4])),
        ("size", Layout::new([2, 3], [4, 1], 8).unwrap()),
        ("stride", Layout::new([2, 4], [2, 1], 8).unwrap()),
        ("dimensions", Layout::new([8], [1], 8).unwrap()),
    ] {
        let view = TensorView::new(&source, other.clone()).unwrap();
        assert!(plan.run(exec, view, &mut result.view_mut(&to)).is_err(), "another {what}");
        let bytes = ByteView::new(bytemuck::cast_slice(&source), 4, other).unwrap();
        let target = bytemuck::cast_slice_mut(result.elements_mut());
        let mut target = ByteViewMut::new(target, 4, to.clone()).unwrap();
        assert!(plan.run_bytes(exec, &bytes, &mut target).is_err(), "another {what}, by bytes");
    }
    result.assert_is(&unchanged, || "nothing is written".to_owned());
}
