//! The path and the plan of many layouts, compared with `data/paths.txt`. Plans are made for one
//! fixed machine, so they are the same everywhere.
//!
//! A layout that takes another path becomes slower or faster, which must be intended. To accept a
//! change:
//!
//! ```sh
//! UPDATE_PATHS=1 cargo test -p tensor-kernels --test plans
//! git diff crates/tensor-kernels/tests/data/paths.txt
//! ```
//!
//! and name in the commit message the layouts and the effect on their speed.

//!
//! Without the feature `elementwise`, the entries of copies are compared alone.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "elementwise")]
mod computed;
mod overlapping;

use std::{collections::BTreeSet, fmt::Write, mem::MaybeUninit, path::Path};

use common::{strided, values_of};
use tensor_kernels::{
    CopyPlan, Error, Exec, Layout, Machine, Result, Slice, TensorView, TensorViewMut,
};

/// A copy: its name, source, destination, and the bytes of an element.
type Copy = (&'static str, Layout, Layout, usize);

fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect("a shape of these tests")
}

/// A view of a dense tensor, copied to contiguous.
fn packed(
    name: &'static str,
    base: &[usize],
    width: usize,
    view: impl Fn(&Layout) -> Result<Layout>,
) -> Copy {
    let from = view(&dense(base)).expect("a view of these tests");
    let to = dense(from.shape());
    (name, from, to, width)
}

fn permuted(name: &'static str, base: &[usize], width: usize, dims: &[isize]) -> Copy {
    packed(name, base, width, |layout| layout.permute(dims))
}

const EVERY_SECOND: Slice = Slice::ALL.step_by(2);

fn copies() -> Vec<Copy> {
    [large(), cached(), small(), given_destinations(), odd_widths(), degenerate()].concat()
}

/// Larger than the caches, so results are streamed.
fn large() -> Vec<Copy> {
    vec![
        packed("contiguous", &[4096, 4096], 4, |x| Ok(x.clone())),
        permuted("matrix transposed", &[4096, 4096], 4, &[1, 0]),
        permuted("matrix of bytes transposed", &[4096, 4096], 1, &[1, 0]),
        permuted("matrix of 2 bytes transposed", &[4096, 4096], 2, &[1, 0]),
        permuted("matrix of 8 bytes transposed", &[4096, 4096], 8, &[1, 0]),
        permuted("matrix of 16 bytes transposed", &[2048, 2048], 16, &[1, 0]),
        permuted("matrix of odd sizes transposed", &[4093, 4099], 4, &[1, 0]),
        permuted("3 channels deinterleaved", &[4_194_304, 3], 4, &[1, 0]),
        permuted("3 channels interleaved", &[3, 4_194_304], 4, &[1, 0]),
        permuted("4 channels of bytes deinterleaved", &[8_388_608, 4], 1, &[1, 0]),
        permuted("images to channels last", &[32, 3, 224, 224], 4, &[0, 2, 3, 1]),
        permuted("images of bytes to channels first", &[64, 224, 224, 3], 1, &[0, 3, 1, 2]),
        permuted("a photograph transposed", &[2160, 3840, 3], 1, &[1, 0, 2]),
        packed("a photograph turned by a quarter", &[2160, 3840, 3], 4, |x| {
            x.permute([1, 0, 2])?.flip([0])
        }),
        permuted("features to channels last", &[32, 64, 56, 56], 4, &[0, 2, 3, 1]),
        permuted("features to channels first", &[32, 56, 56, 64], 4, &[0, 3, 1, 2]),
        permuted("attention heads to the front", &[8, 512, 16, 64], 4, &[0, 2, 1, 3]),
        permuted("attention keys transposed", &[8, 16, 512, 64], 4, &[0, 1, 3, 2]),
        permuted("heads to the front, transposed", &[4, 1500, 8, 64], 4, &[0, 2, 3, 1]),
        permuted("batch of matrices transposed", &[8, 2048, 256], 4, &[0, 2, 1]),
        permuted("3 axes reversed", &[256, 256, 256], 4, &[2, 1, 0]),
        permuted("4 axes reversed", &[64, 64, 64, 64], 4, &[3, 2, 1, 0]),
        permuted("6 axes reversed", &[16; 6], 4, &[5, 4, 3, 2, 1, 0]),
        permuted("3 axes reversed, one of them short", &[3, 225, 10_467], 4, &[2, 1, 0]),
        permuted("3 axes of 2 bytes reversed", &[3, 225, 20_467], 2, &[2, 1, 0]),
        permuted("4 axes in another order", &[27, 67, 7, 1999], 8, &[3, 1, 2, 0]),
        permuted("short rows of 2 axes", &[3, 13, 254_935], 4, &[2, 1, 0]),
        packed("columns narrowed", &[4096, 8192], 4, |x| x.narrow(1, 1, 4096)),
        packed("every second column", &[4096, 8192], 4, |x| x.slice(1, EVERY_SECOND)),
        packed("every second row", &[8192, 4096], 4, |x| x.slice(0, EVERY_SECOND)),
        packed("columns flipped", &[4096, 4096], 4, |x| x.flip([1])),
        packed("rows flipped", &[4096, 4096], 4, |x| x.flip([0])),
        packed("column expanded", &[4096, 1], 4, |x| x.expand([-1, 4096])),
        packed("row expanded", &[1, 4096], 4, |x| x.expand([4096, -1])),
        packed("matrix flipped and transposed", &[4096, 4096], 4, |x| x.flip([1])?.t()),
    ]
}

/// Within the L2 cache.
fn cached() -> Vec<Copy> {
    vec![
        permuted("matrix transposed", &[512, 512], 4, &[1, 0]),
        permuted("matrix of odd sizes transposed", &[255, 257], 4, &[1, 0]),
        permuted("matrix of bytes transposed", &[512, 512], 1, &[1, 0]),
        permuted("an image to channels last", &[1, 3, 224, 224], 4, &[0, 2, 3, 1]),
        permuted("attention heads to the front", &[1, 128, 12, 64], 4, &[0, 2, 1, 3]),
        permuted("4 axes reversed", &[16, 16, 16, 16], 4, &[3, 2, 1, 0]),
        permuted("5 axes reversed", &[5, 6, 7, 8, 9], 4, &[4, 3, 2, 1, 0]),
        permuted("5 axes of bytes reversed", &[5, 6, 7, 8, 9], 1, &[4, 3, 2, 1, 0]),
        permuted("weights, heights to the front", &[64, 32, 3, 3], 4, &[2, 3, 1, 0]),
        permuted("patches of an image", &[3, 14, 16, 14, 16], 4, &[1, 3, 0, 2, 4]),
        permuted("pairs swapped in pairs", &[64, 64, 2, 2], 4, &[1, 0, 3, 2]),
        packed("pixels mirrored", &[64, 64, 3], 4, |x| x.flip([2])),
        packed("a transpose for a batch", &[1, 128, 96], 4, |x| {
            x.expand([8, -1, -1])?.permute([0, 2, 1])
        }),
        packed("columns repeated 4 times", &[64, 64, 1], 4, |x| x.expand([-1, -1, 4])),
        packed("every second column", &[256, 1024], 4, |x| x.slice(1, EVERY_SECOND)),
        packed("every third column, backwards", &[256, 1024], 4, |x| {
            x.slice(1, Slice::ALL.step_by(-3))
        }),
        packed("every second column, transposed", &[256, 1024], 4, |x| {
            x.slice(1, EVERY_SECOND)?.t()
        }),
        packed("columns flipped", &[256, 512], 4, |x| x.flip([1])),
        packed("matrix flipped and transposed", &[256, 512], 4, |x| x.flip([1])?.t()),
        packed("matrix flipped twice and transposed", &[256, 512], 4, |x| x.flip([0, 1])?.t()),
        packed("windows of a signal", &[4096], 4, |x| x.unfold(0, 64, 16)),
        packed("columns of windows", &[64, 66], 4, |x| x.unfold(1, 3, 1)?.permute([0, 2, 1])),
        packed("diagonals of a batch", &[64, 128, 128], 4, |x| x.diagonal(0, 1, 2)),
    ]
}

/// A few hundred elements.
fn small() -> Vec<Copy> {
    vec![
        permuted("4 by 4 transposed", &[4, 4], 4, &[1, 0]),
        permuted("16 by 16 transposed", &[16, 16], 4, &[1, 0]),
        permuted("64 by 64 transposed", &[64, 64], 4, &[1, 0]),
        permuted("4 axes in another order", &[2, 3, 4, 5], 4, &[3, 1, 0, 2]),
        permuted("pairs in another order", &[16, 16, 2], 4, &[1, 0, 2]),
        permuted("pairs of bytes in another order", &[16, 16, 2], 1, &[1, 0, 2]),
        permuted("triples in another order", &[16, 16, 3], 4, &[1, 0, 2]),
    ]
}

/// Into destinations that are not contiguous.
fn given_destinations() -> Vec<Copy> {
    let shape = &[256, 512];
    let to = |name, strides: [isize; 2]| (name, dense(shape), strided(shape, &strides, 0), 4);
    vec![
        to("into columns", [1, 256]),
        to("into padded rows", [520, 1]),
        to("into every second column", [1024, 2]),
        to("into flipped columns", [512, -1]),
        to("into flipped rows", [-512, 1]),
        to("into every second element of columns", [2, 512]),
        ("columns into columns", strided(shape, &[1, 256], 0), strided(shape, &[1, 256], 0), 4),
        ("both flipped alike", strided(shape, &[-512, -1], 0), strided(shape, &[-512, -1], 0), 4),
        ("every second to every third", strided(&[4096], &[2], 0), strided(&[4096], &[3], 0), 4),
        ("one value to every second", strided(&[4096], &[0], 0), strided(&[4096], &[2], 0), 4),
    ]
}

/// Elements that are copied as runs of smaller units.
fn odd_widths() -> Vec<Copy> {
    vec![
        permuted("matrix of 3 bytes transposed", &[256, 512], 3, &[1, 0]),
        permuted("matrix of 6 bytes transposed", &[256, 512], 6, &[1, 0]),
        permuted("matrix of 12 bytes transposed", &[256, 512], 12, &[1, 0]),
        permuted("matrix of 24 bytes transposed", &[256, 512], 24, &[1, 0]),
        permuted("matrix of 32 bytes transposed", &[256, 512], 32, &[1, 0]),
        packed("3 bytes, contiguous", &[256, 512], 3, |x| Ok(x.clone())),
        packed("3 bytes, every second", &[512], 3, |x| x.slice(0, EVERY_SECOND)),
    ]
}

/// Without elements, or with very few.
fn degenerate() -> Vec<Copy> {
    vec![
        packed("one element", &[], 4, |x| Ok(x.clone())),
        packed("one element of 12 bytes", &[1, 1], 12, |x| Ok(x.clone())),
        packed("no elements", &[3, 0, 2], 4, |x| x.permute([2, 0, 1])),
        packed("elements of no bytes", &[3, 2], 0, Layout::t),
        packed("all sizes 1", &[1, 1, 1], 4, |x| x.permute([2, 0, 1])),
        permuted("a row transposed into a column", &[1, 512], 4, &[1, 0]),
    ]
}

/// `[4, 3] (1, 4) + 7`: sizes, strides and, if it is not 0, the offset.
fn brief(layout: &Layout) -> String {
    let offset = match layout.offset() {
        0 => String::new(),
        offset => format!(" + {offset}"),
    };
    let strides: Vec<_> = layout.strides().iter().map(ToString::to_string).collect();
    format!("{:?} ({}){offset}", layout.shape(), strides.join(", "))
}

/// The current table. Each entry is a line with the name and an indented line with path and plan.
fn table() -> String {
    let mut text = String::from(
        "# The paths and plans of copies, then the paths of elementwise operations; sizes, \
         strides and offsets in elements.\n\
         # Written by `UPDATE_PATHS=1 cargo test -p tensor-kernels --test plans`.\n",
    );
    for (name, from, to, width) in copies() {
        let plan = CopyPlan::new(&from, &to, width, &Machine::REFERENCE).expect("a plan");
        let (from, to) = (brief(&from), brief(&to));
        writeln!(text, "\n{name}, width {width}: {from} to {to}\n    {plan}").expect("memory");
    }
    #[cfg(feature = "elementwise")]
    computed::append_to(&mut text);
    text
}

#[test]
fn every_layout_keeps_its_path_and_plan() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/paths.txt");
    let now = table();
    let computes = cfg!(feature = "elementwise");
    if std::env::var_os("UPDATE_PATHS").is_some() {
        assert!(computes, "a build of copies alone has no more than half of the table");
        std::fs::write(&path, &now).expect("the table can be written");
    }
    let mut recorded = std::fs::read_to_string(&path).expect("the table can be read");
    if !computes {
        let copies = recorded.split("\n\n").filter(|entry| !entry.contains(", elementwise: "));
        recorded = copies.collect::<Vec<_>>().join("\n\n");
    }
    let changed = differences(&recorded, &now);
    assert!(
        changed.is_empty(),
        "layouts on another path or plan (if that is meant: UPDATE_PATHS=1):\n{}",
        changed.join("\n")
    );
}

/// The entries that differ, before and after.
fn differences(before: &str, after: &str) -> Vec<String> {
    let entries =
        |text: &str| text.split("\n\n").map(|s| s.trim_end().to_owned()).collect::<BTreeSet<_>>();
    let (before, after) = (entries(before), entries(after));
    let removed = before.difference(&after).map(|entry| format!("- {entry}"));
    let added = after.difference(&before).map(|entry| format!("+ {entry}"));
    removed.chain(added).collect()
}

#[test]
fn every_path_is_in_the_table() {
    let machine = &Machine::REFERENCE;
    let taken: BTreeSet<_> = copies()
        .iter()
        .map(|(_, from, to, width)| CopyPlan::new(from, to, *width, machine).unwrap().path())
        .collect();
    let missing: Vec<_> = CopyPlan::paths().filter(|path| !taken.contains(path)).collect();
    assert!(missing.is_empty(), "no layout of the table takes {missing:?}: add one");
}

/// A destination and a source that no memory holds: their sizes in elements fit, those in bytes may
/// not.
fn edge_of_the_address_space() -> Vec<[Layout; 2]> {
    const LONG: usize = 1 << 19;
    let mut pairs = Vec::new();
    for shape in [[LONG, LONG, LONG, 2, 2], [2, LONG, 2, LONG, LONG], [LONG, 3, LONG, 2, LONG]] {
        let to = dense(&shape);
        let views = [
            dense(&[shape[4], shape[3], shape[2], shape[1], shape[0]]).permute([4, 3, 2, 1, 0]),
            to.flip([0, 2, 4]),
            dense(&[1, 1, 1, 1, shape[4]]).expand([-1; 5]),
            dense(&[1; 5]).broadcast_to(shape),
        ];
        let sources = views.map(Result::unwrap).map(|from| from.broadcast_to(shape));
        pairs.extend(sources.into_iter().flatten().map(|from| [to.clone(), from]));
    }
    pairs
}

#[test]
fn plans_at_the_edge_of_the_address_space() {
    for [to, from] in edge_of_the_address_space() {
        for width in [1, 4, 12, 16] {
            let plan = CopyPlan::new(&from, &to, width, &Machine::REFERENCE);
            assert!(plan.is_ok() || matches!(plan, Err(Error::TooLarge { .. })), "{plan:?}");
            assert!(plan.is_ok() || width > 1);
        }
    }
}

#[test]
fn a_plan_begins_with_the_name_of_its_path() {
    for (name, from, to, width) in copies() {
        let plan = CopyPlan::new(&from, &to, width, &Machine::REFERENCE).unwrap();
        assert!(plan.to_string().starts_with(&format!("{} of ", plan.path())), "{name}: {plan}");
    }
}

#[test]
fn a_plan_is_a_value() {
    let (from, to) = (dense(&[30, 40]).t().unwrap(), dense(&[40, 30]));
    let plan = || CopyPlan::new(&from, &to, 4, &Machine::REFERENCE).unwrap();
    let others = [
        CopyPlan::new(&from, &to, 8, &Machine::REFERENCE).unwrap(),
        CopyPlan::new(&to, &to, 4, &Machine::REFERENCE).unwrap(),
    ];
    let all =
        std::collections::HashSet::from([plan(), plan(), others[0].clone(), others[1].clone()]);
    assert_eq!((plan(), all.len()), (plan().clone(), 3));
}

#[test]
fn fault_a_plan_runs_on_its_own_layouts_only_and_any_number_of_times() {
    let (transposed, rows) = (dense(&[3, 4]).t().unwrap(), dense(&[4, 3]));
    let plan = CopyPlan::new(&transposed, &rows, 2, &Machine::REFERENCE).unwrap();
    let exec = Exec::current().unwrap();
    let source: Vec<i16> = (0..12).collect();
    let mut result = [0i16; 12];
    for _ in 0..2 {
        let from = TensorView::new(&source, transposed.clone()).unwrap();
        plan.run(exec, &from, &mut TensorViewMut::new(&mut result, rows.clone()).unwrap()).unwrap();
        assert_eq!(result, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        result.fill(-1);
    }

    let from = TensorView::new(&source, rows.clone()).unwrap();
    let refused =
        plan.run(exec, &from, &mut TensorViewMut::new(&mut result, rows.clone()).unwrap());
    assert!(matches!(refused, Err(Error::NotPlanned { .. })), "another source layout");
    let (wide, mut target) = ([0i64; 12], [0i64; 12]);
    let from = TensorView::new(&wide, transposed).unwrap();
    let refused = plan.run(exec, &from, &mut TensorViewMut::new(&mut target, rows).unwrap());
    assert!(matches!(refused, Err(Error::NotPlanned { .. })), "another width");
    assert_eq!(result, [-1; 12]);
    let mut memory = [MaybeUninit::<i16>::uninit(); 12];
    let to = TensorViewMut::new(&mut memory, dense(&[3, 4])).unwrap();
    let refused = plan.run_uninit(exec, TensorView::new(&source, dense(&[3, 4])).unwrap(), to);
    assert!(matches!(refused, Err(Error::NotPlanned { .. })), "other layouts, uninitialised");
}

#[test]
fn a_copy_of_a_tensor_to_itself_is_planned_but_not_timed() {
    let exec = Exec::current().unwrap();
    let x = tensor_kernels::Tensor::arange(0i32, 12, 1).unwrap().view([3, 4]).unwrap();
    for x in [x.clone(), x.t().unwrap()] {
        let plan = CopyPlan::measured(exec, &x, &x).unwrap();
        assert_eq!(plan, CopyPlan::new(x.layout(), x.layout(), 4, &exec.machine).unwrap());
        plan.run(exec, &x, &x).unwrap();
    }
}

#[test]
fn fault_what_cannot_be_planned_is_refused() {
    let refused = |from: &Layout, to: &Layout, width| {
        CopyPlan::new(from, to, width, &Machine::REFERENCE).map(|plan| plan.to_string())
    };
    let shapes = refused(&dense(&[2, 3]), &dense(&[3, 2]), 4);
    assert!(matches!(shapes, Err(Error::OutputShape { .. })), "{shapes:?}");
    let far = Layout::new([3], [1_isize << 61], 0).unwrap();
    for width in [4, 6, 16, 24, usize::MAX] {
        let (from, to) = (refused(&far, &dense(&[3]), width), refused(&dense(&[3]), &far, width));
        assert!(matches!(from, Err(Error::TooLarge { .. })), "{from:?}");
        assert!(matches!(to, Err(Error::TooLarge { .. })), "{to:?}");
    }
}

/// A layout without elements can have any offset.
#[test]
fn fault_empty_layouts_at_huge_offsets_are_planned() {
    for (shape, strides) in
        [(&[0][..], &[1][..]), (&[5, 0], &[-(1 << 62), 7]), (&[0, 9], &[0, isize::MAX])]
    {
        let far = Layout::new(shape, strides, isize::MAX as usize).unwrap();
        for width in [1, 3, 8, 16, 48] {
            let plan = CopyPlan::new(&far, &far, width, &Machine::REFERENCE).unwrap();
            assert_eq!(plan.path(), "nothing");
        }
    }
}

/// Views in several orders with their values, on machines of any numbers.
fn for_any_machine(run: impl Fn(&Exec, &TensorView<'_, u16>, &[u16])) {
    let source: Vec<u16> = (0..3600).collect();
    let extremes = [0, 1, 100, usize::MAX];
    for (shape, order) in
        [([60, 60, 1], [1, 0, 2]), ([5, 12, 60], [0, 2, 1]), ([3, 120, 10], [1, 2, 0])]
    {
        let from = TensorView::new(&source, dense(&shape).permute(order).unwrap()).unwrap();
        let values = values_of(&source, from.layout());
        for (l1, l2) in extremes.into_iter().flat_map(|l1| extremes.map(|l2| (l1, l2))) {
            let mut exec = *Exec::current().unwrap();
            exec.machine = Machine {
                l1,
                l2,
                stream: 0,
                keeps_transposes: l1 == 0,
                grain: 0,
                vector: l1,
                channel: l1,
            };
            for exec in [exec, exec.serial()] {
                run(&exec, &from, &values);
            }
        }
    }
}

/// A plan can be made for a machine with any numbers, and computes the same.
#[test]
fn fault_a_machine_of_any_numbers_has_plans() {
    for_any_machine(|exec, from, values| {
        let mut result = vec![0u16; 3600];
        let mut to = TensorViewMut::new(&mut result, dense(from.shape())).unwrap();
        tensor_kernels::copy_into(exec, from, &mut to).unwrap();
        assert_eq!(result, values, "{:?}", exec.machine);
    });
}
