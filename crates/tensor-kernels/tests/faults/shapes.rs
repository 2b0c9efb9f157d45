//! Extreme shapes and strides: many dimensions, a very long one, rows that map to the same cache
//! sets, reversed and interleaved elements. Results are compared with the oracle in every
//! configuration.

use tensor_kernels::{
    Exec, Layout, Slice, Tensor, TensorMutExt, TensorView, TensorViewMut, copy_into, ops, zip_into,
};

use crate::common::{Memory, Sample, extent, offsets_of, run_configs, strided};

/// Checks a copy and an operation into a contiguous and into a column-major result.
fn check<T: Sample>(from: &Layout, what: &str) {
    let source = Memory::<T>::samples(extent(from), 1);
    let values = source.values(from);
    let dense = Layout::contiguous(from.shape()).unwrap();
    for to in [dense, Layout::fortran(from.shape()).unwrap()] {
        let blank = Memory::<T>::for_layout(&to, 1);
        let expected = blank.with(&to, &values);
        for config in run_configs() {
            let (mut copied, mut computed) = (blank.clone(), blank.clone());
            let a = source.view(from);
            config.run(|exec| copy_into(exec, &a, &mut copied.view_mut(&to))).unwrap();
            copied.assert_is(&expected, || format!("copy, {what}, {config}"));
            config
                .run(|exec| zip_into(exec, &a, &a, &mut computed.view_mut(&to), |x, _| x))
                .unwrap();
            computed.assert_is(&expected, || format!("zip, {what}, {config}"));
        }
    }
}

#[test]
fn fault_dimensions_of_size_one_have_any_strides() {
    let (least, most) = (isize::MIN + 1, isize::MAX);
    for strides in [[0; 5], [1; 5], [most, least, 7, most, 1], [least; 5]] {
        let layout = Layout::new([1; 5], strides, 3).unwrap();
        check::<u32>(&layout, "ones");
        check::<[u8; 3]>(&layout, "ones");
        let between = Layout::new([1, 7, 1, 9, 1], [strides[0], 9, strides[2], 1, most], 3);
        check::<u32>(&between.unwrap(), "ones between others");
    }
}

#[test]
fn fault_dimensions_without_elements_have_any_strides() {
    let (least, most) = (isize::MIN + 1, isize::MAX);
    for strides in [[0; 3], [most, 1, least], [least; 3]] {
        let layout = Layout::new([4, 0, 5], strides, 0).unwrap();
        let none: [f32; 0] = [];
        let view = TensorView::new(&none, layout.clone()).unwrap();
        for config in run_configs() {
            let mut to = TensorViewMut::new(&mut [], layout.clone()).unwrap();
            config.run(|exec| copy_into(exec, &view, &mut to)).unwrap();
            config.run(|exec| zip_into(exec, &view, &view, &mut to, |x, _| x)).unwrap();
            assert_eq!(config.run(|exec| ops::sum_all(exec, &view)).unwrap(), 0.0, "{config}");
            assert!(config.run(|exec| ops::max_all(exec, &view)).is_err(), "{config}");
        }
    }
}

/// A source can be broadcast along any of its dimensions.
#[test]
fn fault_strides_of_zero_in_any_dimension() {
    for strides in [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 7, 1], [7, 0, 1], [9, 1, 0]] {
        let layout = Layout::new([6, 9, 7], strides, 2).unwrap();
        check::<u8>(&layout, "stride 0");
        check::<f32>(&layout, "stride 0");
        check::<[u8; 12]>(&layout, "stride 0");
    }
}

#[test]
fn fault_many_dimensions_are_reversed() {
    let eight = [2, 3, 2, 3, 2, 3, 2, 3];
    let layout = Layout::contiguous(eight).unwrap();
    let reversed = layout.permute([7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
    check::<u8>(&reversed, "rank 8 reversed");
    check::<f64>(&reversed.flip([0, 3, 7]).unwrap(), "rank 8 reversed, in part backwards");
    let twelve: Vec<isize> = (0..12).rev().collect();
    let reversed = Layout::contiguous([2; 12]).unwrap().permute(&twelve).unwrap();
    check::<u16>(&reversed, "rank 12 reversed");
    let deep: Vec<isize> = (0..40).rev().collect();
    let mut shape = [1; 40];
    (shape[0], shape[20], shape[39]) = (5, 6, 7);
    check::<u32>(&Layout::contiguous(shape).unwrap().permute(&deep).unwrap(), "rank 40 reversed");
}

#[test]
fn fault_one_dimension_is_very_long() {
    let len = 100_003;
    for stride in [1, -1, 2, -3] {
        let layout = strided(&[len], &[stride], 1);
        let numbers: Vec<u16> = (0..extent(&layout)).map(|n| (n % 65_521) as u16).collect();
        let view = TensorView::new(&numbers, layout.clone()).unwrap();
        let values: Vec<u16> =
            offsets_of(&layout).into_iter().map(|offset| numbers[offset]).collect();
        for config in run_configs() {
            let mut out = vec![0; len];
            let dense = Layout::contiguous([1, len, 1]).unwrap();
            let mut to = TensorViewMut::new(&mut out, dense).unwrap();
            let from = view.view([1, len as isize, 1]).unwrap();
            config.run(|exec| copy_into(exec, &from, &mut to)).unwrap();
            assert!(out == values, "{stride}, {config}");
        }
    }
}

/// Rows at distances of a power of two map to the same sets of a cache, which can only be slow.
#[test]
fn fault_rows_a_power_of_two_apart_are_copied_correctly() {
    for apart in [1 << 10, 1 << 12] {
        let numbers: Vec<u32> = (0..40 * apart as u32).collect();
        let rows = strided(&[40, 70], &[apart, 1], 0);
        for layout in [rows.t().unwrap(), rows.flip([1]).unwrap().t().unwrap()] {
            let values: Vec<u32> = offsets_of(&layout).into_iter().map(|at| at as u32).collect();
            let view = TensorView::new(&numbers, layout).unwrap();
            for config in run_configs() {
                let mut out = vec![0; values.len()];
                let mut to =
                    TensorViewMut::new(&mut out, Layout::contiguous([70, 40]).unwrap()).unwrap();
                config.run(|exec| copy_into(exec, &view, &mut to)).unwrap();
                assert!(out == values, "copy, {apart} apart, {config}");
                let sum = config.run(|exec| ops::sum_all(exec, &view)).unwrap();
                assert_eq!(sum, values.iter().map(|&x| i64::from(x)).sum::<i64>(), "{config}");
            }
            // The same distance between rows of the result.
            let mut out = vec![0; 70 * apart as usize];
            let to = strided(&[70, 40], &[apart, 1], 0);
            let exec = Exec::current().unwrap();
            copy_into(exec, &view, &mut TensorViewMut::new(&mut out, to.clone()).unwrap()).unwrap();
            let copied = offsets_of(&to).into_iter().map(|offset| out[offset]);
            let copied: Vec<u32> = copied.collect();
            assert!(copied == values, "{apart} apart");
        }
    }
}

/// Fields of an array of structures, read forwards and backwards, and written in place.
#[test]
fn fault_fields_of_interleaved_structures_are_read_and_written() {
    for fields in [3, 5, 7] {
        for field in [0, fields as usize - 1] {
            for stride in [fields, -fields] {
                let layout = strided(&[131], &[stride], field);
                check::<u8>(&layout, "a field");
                check::<u32>(&layout, "a field");
                check::<u64>(&layout, "a field");
            }
            let structures = Tensor::arange(0, 131 * fields as i32, 1).unwrap();
            let of = |t: &Tensor<i32>| {
                t.slice(0, Slice::new(Some(field as isize), None, fields)).unwrap()
            };
            of(&structures).map_inplace(|x| -x).unwrap();
            for (at, x) in structures.to_vec().unwrap().into_iter().enumerate() {
                let is_field = at % fields as usize == field;
                assert_eq!(x, if is_field { -(at as i32) } else { at as i32 });
            }
        }
    }
}
