//! Elementwise operations whose operands are packed into scratch block by block, and copies of
//! images, with regular and non-temporal stores: shapes larger than one block and no multiple of
//! it.

#![cfg(feature = "reductions")]

use std::sync::atomic::{AtomicUsize, Ordering};

use tensor_kernels::{
    Cast, Element, Exec, Layout, Machine, Scalar, SimdLevel, Tensor, TensorExt, TensorView,
    TensorViewMut, copy_into, explain_elementwise, map_into, ops, zip_into,
};

/// Rows and columns: more than one block in both dimensions, and no multiple of it.
const SHAPE: [usize; 2] = [37, 561];

/// Every level, with regular and with non-temporal stores. The caches are so small that operations
/// on the shape are planned.
fn execs() -> Vec<Exec> {
    let machines = [usize::MAX, 0].map(|stream| Machine {
        stream,
        l1: 2 << 10,
        l2: 64 << 10,
        ..Machine::REFERENCE
    });
    let exec = |machine, simd| {
        let mut exec = Exec::from_env().unwrap().with_simd(simd).unwrap();
        exec.machine = machine;
        exec
    };
    machines
        .into_iter()
        .flat_map(|machine| SimdLevel::available().into_iter().map(move |simd| exec(machine, simd)))
        .collect()
}

/// The test value of an element, which fits every type.
fn number<T: Element>(place: usize) -> T
where
    u8: Cast<T>,
{
    ((place * 7 + place / 251) as u8 % 100).cast()
}

/// Results with rows that start at a cache line, and with rows that do not.
fn results() -> [Layout; 2] {
    [576, 563].map(|row| Layout::new(SHAPE, [row, 1], 64).unwrap())
}

/// A transposed, a reversed, a strided and a contiguous operand of the shape.
fn operands() -> [Layout; 4] {
    let [rows, columns] = SHAPE.map(|n| n as isize);
    [
        Layout::new(SHAPE, [1, rows], 3).unwrap(),
        Layout::new(SHAPE, [columns, -1], SHAPE[1] - 1).unwrap(),
        Layout::new(SHAPE, [2 * columns, 2], 1).unwrap(),
        Layout::contiguous(SHAPE).unwrap(),
    ]
}

fn check<T: Element + Cast<i32>, R: Element + PartialEq + std::fmt::Debug>()
where
    u8: Cast<T> + Cast<R>,
    i32: Cast<R>,
{
    let numbers: Vec<T> = (0..2 * SHAPE[0] * SHAPE[1] + 8).map(number).collect();
    let canary: R = 77u8.cast();
    let sum = |a: T, b: T| (a.cast() + b.cast()).cast();
    for exec in execs() {
        for result in results() {
            let mut field = vec![canary; 600 * SHAPE[0]];
            for [a, b] in [[0, 0], [0, 3], [1, 0], [2, 3], [2, 1]] {
                let [a, b] = [a, b].map(|k: usize| operands()[k].clone());
                let view = |layout: &Layout| TensorView::new(&numbers, layout.clone()).unwrap();
                let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
                zip_into(&exec, view(&a), view(&b), &mut out, sum).unwrap();
                let mut inside = 0;
                let offsets = result.offsets().zip(a.offsets().zip(b.offsets()));
                for (to, (a, b)) in offsets {
                    assert_eq!(field[to], sum(numbers[a], numbers[b]), "{exec:?} {to}");
                    inside += 1;
                }
                assert_eq!(inside, SHAPE[0] * SHAPE[1]);
                let row = result.strides()[0] as usize;
                let outside = |at: &usize| *at < 64 || (at - 64) % row >= SHAPE[1];
                let last = 64 + SHAPE[0] * row;
                assert!((0..last).filter(outside).all(|at| field[at] == canary), "{exec:?}");
            }
            let transposed = &operands()[0];
            let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
            let view = TensorView::new(&numbers, transposed.clone()).unwrap();
            map_into(&exec, &view, &mut out, |a| sum(a, a)).unwrap();
            let mut offsets = result.offsets().zip(transposed.offsets());
            assert!(offsets.all(|(to, a)| field[to] == sum(numbers[a], numbers[a])), "{exec:?}");
        }
    }
}

#[test]
fn equal_widths() {
    check::<f32, f32>();
}

#[test]
fn bytes() {
    check::<u8, u8>();
}

#[test]
fn a_wider_result() {
    check::<u8, f64>();
}

#[test]
fn a_narrower_result() {
    check::<f64, i16>();
}

#[test]
fn in_place_with_a_transposed_operand() {
    for n in [530usize] {
        let x = Tensor::<i32>::from_fn(&[n, n], |index| (index[0] * n + index[1]) as i32).unwrap();
        let y = x.t().unwrap();
        let y = Tensor::<i32>::from_vec(y.to_vec().unwrap(), [n, n]).unwrap().t().unwrap();
        for exec in execs() {
            let z = Tensor::<i32>::from_vec(x.to_vec().unwrap(), [n, n]).unwrap();
            let mut guard = z.write().unwrap();
            let y = y.read().unwrap();
            let view = &mut guard.as_view_mut().unwrap();
            tensor_kernels::zip_inplace(&exec, view, y.as_view(), |a, b| a - b).unwrap();
            drop(guard);
            assert!(z.to_vec().unwrap().iter().all(|&z| z == 0), "{exec:?}");
        }
    }
}

/// Streamed results of type `bool` at every address within a cache line, of operands up to 16 times
/// as wide. The first block of a row ends at the result's first cache-line boundary, after up to 63
/// elements.
#[test]
fn narrow_results_of_wide_transposed_operands_at_every_address() {
    const NARROW: [usize; 2] = [300, 520];
    let columns = Layout::new(NARROW, [1, NARROW[0] as isize], 0).unwrap();
    let a: Vec<f64> = (0..NARROW[0] * NARROW[1]).map(number).collect();
    let b: Vec<f64> = (0..NARROW[0] * NARROW[1]).map(|i| number(i / 3)).collect();
    let mut exec = Exec::from_env().unwrap();
    exec.machine = Machine { stream: 0, l1: 4 << 10, l2: 16 << 10, ..Machine::REFERENCE };
    for offset in 0..64 {
        let mut field = vec![false; NARROW[0] * 576 + 128];
        let start = field.as_ptr().addr().wrapping_neg() % 64 + offset;
        let layout = Layout::new(NARROW, [576, 1], start).unwrap();
        let mut out = TensorViewMut::new(&mut field, layout.clone()).unwrap();
        let a_view = TensorView::new(&a, columns.clone()).unwrap();
        let b_view = TensorView::new(&b, Layout::contiguous(NARROW).unwrap()).unwrap();
        zip_into(&exec, &a_view, &b_view, &mut out, |a, b| a > b).unwrap();
        for i in 0..NARROW[0] {
            for j in 0..NARROW[1] {
                let expected = a[j * NARROW[0] + i] > b[i * NARROW[1] + j];
                assert_eq!(field[start + i * 576 + j], expected, "({i}, {j}) at {offset}");
            }
        }
    }
}

/// Images with few channels, whole, mirrored and cropped, from pixels to planes and back.
#[test]
fn copies_of_mirrored_images_in_both_orders() {
    for columns in [64, 100, 499] {
        for channels in [2, 3, 4, 7] {
            mirrored::<u8>(channels, columns);
            mirrored::<i16>(channels, columns);
            mirrored::<f32>(channels, columns);
            mirrored::<f64>(channels, columns);
        }
    }
}

fn mirrored<T: Scalar>(channels: usize, columns: usize)
where
    u8: Cast<T>,
{
    let pixels = Tensor::<T>::from_vec(
        (0..2 * 9 * columns * channels).map(number).collect(),
        [2, 9, columns, channels],
    );
    let pixels = pixels.unwrap();
    let planes = pixels.view([2, channels, 9, columns]).unwrap();
    let cropped = pixels.narrow(2, 1, columns - 2).unwrap();
    let to_planes = [0, 3, 1, 2];
    let views = [
        pixels.flip([2]).unwrap().permute(to_planes).unwrap(),
        pixels.flip([1, 2]).unwrap().permute(to_planes).unwrap(),
        cropped.permute(to_planes).unwrap(),
        cropped.flip([2]).unwrap().permute(to_planes).unwrap(),
        planes.flip([3]).unwrap().permute([0, 2, 3, 1]).unwrap(),
        planes.flip([2, 3]).unwrap().permute([0, 2, 3, 1]).unwrap(),
    ];
    for view in views {
        let expected: Vec<T> = view.iter().unwrap().collect();
        for (mut exec, grain) in execs().into_iter().zip([usize::MAX, 64].into_iter().cycle()) {
            // Every second one cuts the copy between threads.
            exec.machine.grain = grain;
            for offset in [0, 3] {
                let mut result = vec![T::ONE; expected.len() + 2 * 64];
                let row_major = Layout::contiguous(view.shape()).unwrap();
                let layout = Layout::new(view.shape(), row_major.strides(), offset).unwrap();
                let mut out = TensorViewMut::new(&mut result, layout).unwrap();
                copy_into(&exec, &view, &mut out).unwrap();
                let (before, rest) = result.split_at(offset);
                let (copied, after) = rest.split_at(expected.len());
                assert!(copied == expected, "{channels} channels, {columns} columns, {view:?}");
                assert!(before.iter().chain(after).all(|&x| x == T::ONE), "written beside");
            }
        }
    }
}

/// A transposed input of a large result is copied to the result first, unless the result is another
/// input, or has another type.
#[test]
fn an_input_that_is_copied_to_the_result_first() {
    let [rows, columns] = SHAPE;
    for exec in execs() {
        let a = Tensor::from_fn([columns, rows], |at| (at[0] * 3 + at[1]) as f32).unwrap();
        let b = Tensor::from_fn(SHAPE, |at| (at[0] * 5 + 2 * at[1]) as f32).unwrap();
        let across = a.t().unwrap();
        let [a, b] = [&across, &b].map(|x| x.to_vec().unwrap());
        let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + 2.0 * b).collect();
        let combine = |a: f32, b: f32| a + 2.0 * b;
        let ours = Tensor::from_vec(b.clone(), SHAPE).unwrap();
        let result = Tensor::zeros(SHAPE).unwrap();
        zip_into(&exec, &across, &ours, &result, combine).unwrap();
        assert!(result.to_vec().unwrap() == sums, "{exec:?}");
        zip_into(&exec, &across, &ours, &ours, combine).unwrap();
        assert!(ours.to_vec().unwrap() == sums, "the result is the second input: {exec:?}");
        map_into(&exec, &across, &result, |a: f32| -a).unwrap();
        assert!(result.to_vec().unwrap() == a.iter().map(|a| -a).collect::<Vec<_>>(), "{exec:?}");
        let other = Tensor::<u32>::zeros(SHAPE).unwrap();
        map_into(&exec, &across, &other, |a: f32| a as u32 + 1).unwrap();
        assert!(
            other.to_vec().unwrap() == a.iter().map(|&a| a as u32 + 1).collect::<Vec<_>>(),
            "{exec:?}"
        );
    }
}

/// Of two or three inputs in several orders one is copied to the result first, and beside an input
/// in the order of the result a transposed one, where blocks would be streamed.
#[test]
fn an_input_that_is_copied_to_the_result_first_beside_others() {
    let orders: [(&[usize], &[&[isize]]); 3] = [
        (&[9, 17, 11, 7], &[&[0, 1, 2, 3], &[3, 2, 1, 0], &[1, 3, 0, 2]]),
        (&[9, 17, 11, 7], &[&[0, 1, 2, 3], &[2, 0, 3, 1], &[3, 2, 1, 0]]),
        (&[97, 208], &[&[0, 1], &[0, 1], &[1, 0]]),
    ];
    for mut exec in execs() {
        (exec.machine.stream, exec.machine.l2) = (16 << 10, 4 << 10);
        for (shape, orders) in orders {
            let tensors = orders.iter().enumerate().map(|(k, order)| {
                let sizes: Vec<usize> = order.iter().map(|&dim| shape[dim as usize]).collect();
                let numbers = (0..sizes.iter().product()).map(|at: usize| at as f32 + k as f32);
                let dims: Vec<isize> = (0..order.len() as isize)
                    .map(|dim| order.iter().position(|&at| at == dim).unwrap() as isize)
                    .collect();
                let tensor = Tensor::from_vec(numbers.collect(), &sizes[..]).unwrap();
                tensor.permute(&dims[..]).unwrap()
            });
            let [result, a, b] = tensors.collect::<Vec<_>>().try_into().unwrap();
            let layouts = [result.layout(), a.layout(), b.layout()];
            let explained = explain_elementwise(&exec, layouts, [4; 3]).unwrap();
            assert!(explained.copied_first().is_some(), "{explained}");
            assert!(explained.to_string().contains("it is copied into the result"), "{explained}");
            let combine = |a: f32, b: f32| a - 2.0 * b;
            let [x, y] = [&a, &b].map(|input| input.to_vec().unwrap());
            let expected: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| combine(x, y)).collect();
            zip_into(&exec, &a, &b, &result, combine).unwrap();
            assert!(result.to_vec().unwrap() == expected, "{explained}");
            for (which, ours) in
                [a.deep_clone().unwrap(), b.deep_clone().unwrap()].iter().enumerate()
            {
                let [first, second] = if which == 0 { [ours, &b] } else { [&a, ours] };
                zip_into(&exec, first, second, ours, combine).unwrap();
                assert!(ours.to_vec().unwrap() == expected, "input {which} in place: {explained}");
            }
        }
    }
}

/// All inputs are broadcast along the innermost dimension or along two: each result is computed
/// once and copied to all its places. Results with and without gaps, and with that dimension first.
#[test]
fn results_of_broadcast_inputs() {
    for repetitions in [2usize, 3, 17, 40, 299] {
        let shape = [19, 29, repetitions];
        let contiguous = Layout::contiguous(shape).unwrap();
        let apart = Layout::new(shape, [29 * 300, 300, 1], 5).unwrap();
        let every_other = Layout::new(shape, [29 * 600, 600, 2], 3).unwrap();
        let in_front = Layout::contiguous([repetitions, 19, 29]).unwrap();
        let inputs = [
            Layout::new(shape, [29, 1, 0], 0).unwrap(),
            Layout::new(shape, [1, 19, 0], 0).unwrap(),
            Layout::new(shape, [0, 2, 0], 1).unwrap(),
            Layout::new(shape, [7, 0, 0], 2).unwrap(),
            Layout::new(shape, [0, 0, 0], 4).unwrap(),
        ];
        let numbers: Vec<i32> = (0..2 * 19 * 29).map(|at| at * 31 % 1009).collect();
        let in_front = in_front.permute([1, 2, 0]).unwrap();
        for (exec, result) in execs()
            .iter()
            .flat_map(|e| [&contiguous, &apart, &every_other, &in_front].map(|r| (e, r)))
        {
            for [a, b] in [[0, 0], [0, 1], [1, 1], [1, 2], [3, 3], [3, 0], [4, 0], [4, 3], [4, 4]] {
                let [a, b] = [a, b].map(|k: usize| inputs[k].clone());
                let view = |layout: &Layout| TensorView::new(&numbers, layout.clone()).unwrap();
                let mut field = vec![-1i32; 19 * 29 * 600 + 8];
                let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
                ops::sub_into(exec, view(&a), view(&b), &mut out).unwrap();
                let mut written = 0;
                for (to, (a, b)) in result.offsets().zip(a.offsets().zip(b.offsets())) {
                    let expected = numbers[a] - numbers[b];
                    assert_eq!(field[to], expected, "{exec:?} {result:?} {to}");
                    (field[to], written) = (-1, written + 1);
                }
                assert_eq!(written, 19 * 29 * repetitions);
                assert!(field.iter().all(|&x| x == -1), "{exec:?}: a gap of {result:?} is written");
            }
        }
    }
}

/// Rows along which every input is broadcast, of a result with gaps: short rows are packed into
/// longer ones, others computed once. Whichever it is, all parts of the plan agree on it.
#[test]
fn short_rows_of_broadcast_inputs() {
    for (rows, repetitions) in
        [64usize, 65, 200].into_iter().flat_map(|r| (20..30).map(move |n| (r, n)))
    {
        let shape = [rows, repetitions];
        let result = Layout::new(shape, [64, 2], 1).unwrap();
        let numbers: Vec<u8> = (0..3 * rows).map(|at| (at * 31 % 101) as u8).collect();
        for input in [
            Layout::new(shape, [3, 0], 0).unwrap(),
            Layout::new(shape, [-3, 0], 3 * rows - 1).unwrap(),
        ] {
            for exec in execs() {
                let view = TensorView::new(&numbers, input.clone()).unwrap();
                let mut field = vec![255u8; 64 * rows];
                let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
                ops::add_into(&exec, 3u8, &view, &mut out).unwrap();
                for (to, from) in result.offsets().zip(input.offsets()) {
                    assert_eq!(field[to], numbers[from] + 3, "{exec:?} {shape:?} {to}");
                    field[to] = 255;
                }
                assert!(
                    field.iter().all(|&x| x == 255),
                    "{exec:?}: a gap of {result:?} is written"
                );
            }
        }
    }
}

/// A function may count its calls, or draw numbers: it is called for each result, also where all
/// inputs are broadcast.
#[test]
fn a_closure_is_called_once_for_each_result() {
    let numbers: Vec<u32> = (0..400).collect();
    for (rows, columns) in [(3, 5), (40, 70), (400, 300)] {
        let shape = [rows, columns];
        let contiguous = Layout::contiguous(shape).unwrap();
        let apart = Layout::new(shape, [2 * columns as isize + 3, 2], 1).unwrap();
        for strides in [[1, 0], [0, 1], [0, 0]] {
            let input = Layout::new(shape, strides, 0).unwrap();
            let view = TensorView::new(&numbers, input).unwrap();
            for (exec, result) in execs().iter().flat_map(|e| [&contiguous, &apart].map(|r| (e, r)))
            {
                let calls = AtomicUsize::new(0);
                let mut field = vec![usize::MAX; rows * (2 * columns + 3)];
                let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
                let count = |_| calls.fetch_add(1, Ordering::Relaxed);
                map_into(exec, &view, &mut out, count).unwrap();
                let mut counts: Vec<usize> = result.offsets().map(|at| field[at]).collect();
                counts.sort_unstable();
                assert!(counts.iter().copied().eq(0..rows * columns), "{exec:?} {strides:?}");
                let calls = AtomicUsize::new(0);
                let mut out = TensorViewMut::new(&mut field, result.clone()).unwrap();
                let count = |_, _| calls.fetch_add(1, Ordering::Relaxed);
                zip_into(exec, &view, &view, &mut out, count).unwrap();
                assert_eq!(calls.into_inner(), rows * columns, "{exec:?} {strides:?}");
            }
        }
    }
}
