//! Random shapes, layouts and arguments, against the loops of `naive`.

use proptest::{prelude::*, sample::select};
use tensor_kernels::{Exec, PadMode, Slice, Tensor, TensorExt, ops};

use super::naive::{self, by_index, with};

/// A tensor of a shape in a random layout: dimensions in any order, in steps, reversed.
fn of_shape(shape: &[usize], layout: u32) -> Tensor<i64> {
    let ndim = shape.len();
    let mut order: Vec<isize> = (0..ndim as isize).collect();
    order.rotate_left(layout as usize % ndim.max(1));
    if layout & 4 != 0 {
        order.reverse();
    }
    let step = if layout & 8 != 0 { 2 } else { 1 };
    let mut base: Vec<usize> = shape.iter().map(|&size| size * step).collect();
    for (position, &dim) in order.iter().enumerate() {
        base[dim as usize] = shape[position] * step;
    }
    let numel: usize = base.iter().product();
    let base: Tensor<i64> = Tensor::from_vec((0..numel as i64).collect(), &base).unwrap();
    let mut tensor = base.permute(&order).unwrap();
    for dim in 0..ndim as isize {
        let step = if layout & 16 != 0 { -(step as isize) } else { step as isize };
        tensor = tensor.slice(dim, Slice::new(None, None, step)).unwrap();
    }
    assert_eq!(tensor.shape(), shape);
    tensor
}

fn shapes(most: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(select(vec![1usize, 2, 3, 5, 8, 17]), 1..=most)
}

fn expect(result: &Tensor<i64>, expected: &[i64]) {
    assert_eq!(result.to_vec().unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cat_takes_each_part_in_turn(
        shape in shapes(4), dim in 0usize..4, sizes in prop::collection::vec(0usize..4, 1..4),
        layouts in any::<u32>()
    ) {
        let dim = dim % shape.len();
        let parts: Vec<Tensor<i64>> = (0u32..)
            .zip(&sizes)
            .map(|(number, &size)| of_shape(&with(&shape, dim, size), layouts >> (5 * number)))
            .collect();
        let joined = Tensor::cat(&parts.iter().collect::<Vec<_>>(), dim as isize).unwrap();
        let (shape, elements) = naive::cat(&parts, dim).unwrap();
        assert_eq!(joined.shape(), shape);
        expect(&joined, &elements);
    }

    #[test]
    fn pad_by_every_mode(
        shape in shapes(5), layout in any::<u32>(),
        mode in select(vec!["constant", "reflect", "replicate", "circular"]),
        padding in prop::collection::vec((0isize..4, 0isize..4), 5)
    ) {
        let x = of_shape(&shape, layout);
        let limit = |size: usize| match mode {
            "reflect" => size as isize - 1,
            "circular" => size as isize,
            _ => 3,
        };
        let pairs: Vec<(isize, isize)> = shape
            .iter()
            .zip(&padding)
            .map(|(&size, &(before, after))| (before.min(limit(size)), after.min(limit(size))))
            .collect();
        let flat: Vec<isize> = pairs.iter().rev().flat_map(|&(a, b)| [a, b]).collect();
        let pad_mode = match mode {
            "reflect" => PadMode::Reflect,
            "replicate" => PadMode::Replicate,
            "circular" => PadMode::Circular,
            _ => PadMode::Constant(-1),
        };
        let padded = x.pad(&flat, pad_mode).unwrap();
        let elements = by_index(padded.shape(), |index| {
            let from = (0..shape.len()).map(|d| {
                naive::padded_from(mode, index[d] as isize - pairs[d].0, shape[d] as isize)
            });
            from.collect::<Option<Vec<_>>>().map_or(-1, |from| x.get(&from).unwrap())
        });
        expect(&padded, &elements);
    }

    #[test]
    fn roll_moves_indices_around(
        shape in shapes(6), layout in any::<u32>(),
        shifts in prop::collection::vec(-40isize..40, 6)
    ) {
        let x = of_shape(&shape, layout);
        let dims: Vec<isize> = (0..shape.len() as isize).collect();
        let rolled = x.roll(&shifts[..shape.len()], &dims).unwrap();
        let elements = by_index(&shape, |index| {
            let from: Vec<usize> = (0..shape.len())
                .map(|d| (index[d] as isize - shifts[d]).rem_euclid(shape[d] as isize) as usize)
                .collect();
            x.get(&from).unwrap()
        });
        expect(&rolled, &elements);
    }

    #[test]
    fn indices_choose_along_a_dimension(
        shape in shapes(4), layout in any::<u32>(), dim in 0usize..4,
        seeds in prop::collection::vec(any::<u16>(), 1..40)
    ) {
        let (x, dim) = (of_shape(&shape, layout), dim % shape.len());
        let size = shape[dim];
        let index: Vec<i64> = seeds.iter().map(|&seed| (usize::from(seed) % size) as i64).collect();
        let count = index.len();
        let vector = Tensor::from_vec(index.clone(), [count]).unwrap();
        let selected = x.index_select(dim as isize, &vector).unwrap();
        let chosen = |i: &[usize]| x.get(&with(i, dim, index[i[dim]] as usize)).unwrap();
        expect(&selected, &by_index(&with(&shape, dim, count), chosen));

        // The same, with an index for each element, in a layout of its own.
        let wide = with(&shape, dim, count);
        let places = of_shape(&wide, layout >> 7).map(|n| index[n as usize % count]).unwrap();
        let gathered = x.gather(dim as isize, &places).unwrap();
        let place = |i: &[usize]| places.get(i).unwrap() as usize;
        expect(&gathered, &by_index(&wide, |i| x.get(&with(i, dim, place(i))).unwrap()));

        // The last one counts if indices repeat.
        let src = of_shape(&wide, layout >> 9);
        let mut written = by_index(&shape, |i| x.get(i).unwrap());
        let number = |i: &[usize]| i.iter().zip(&shape).fold(0, |at, (&i, &size)| at * size + i);
        by_index(&wide, |i| {
            written[number(&with(i, dim, place(i)))] = src.get(i).unwrap();
            0
        });
        expect(&x.scatter(dim as isize, &places, &src).unwrap(), &written);
    }

    #[test]
    fn masks_choose_elements(shape in shapes(4), layout in any::<u32>(), seed in any::<u64>()) {
        let x = of_shape(&shape, layout);
        let mask = of_shape(&shape, layout >> 6);
        let mask = mask.map(|n| (n as u64).wrapping_mul(seed | 1) >> 61 < 3).unwrap();
        let (elements, chosen) = (x.to_vec().unwrap(), mask.to_vec().unwrap());
        let zip = || elements.iter().zip(&chosen);
        let selected: Vec<i64> = zip().filter(|pair| *pair.1).map(|pair| *pair.0).collect();
        expect(&x.masked_select(&mask).unwrap(), &selected);
        let filled: Vec<i64> = zip().map(|(&x, &is)| if is { -7 } else { x }).collect();
        expect(&x.masked_fill(&mask, -7).unwrap(), &filled);
    }

    #[test]
    fn repeats_triangles_and_running_sums(
        shape in shapes(4), layout in any::<u32>(), dim in 0usize..4, times in 0usize..4,
        diagonal in -20isize..20
    ) {
        let (x, dim) = (of_shape(&shape, layout), dim % shape.len());
        let wide = with(&shape, dim, shape[dim] * times);
        let repeated = x.repeat_interleave(times, dim as isize).unwrap();
        let once = |i: &[usize]| x.get(&with(i, dim, i[dim] / times)).unwrap();
        expect(&repeated, &by_index(&wide, once));
        let sums = by_index(&shape, |i| {
            (0..=i[dim]).map(|at| x.get(&with(i, dim, at)).unwrap()).sum()
        });
        expect(&x.cumsum(dim as isize).unwrap(), &sums);
        if let [.., _, _] = shape[..] {
            let n = shape.len();
            let part = |keep: fn(isize, isize) -> bool| by_index(&shape, |i| {
                let above = i[n - 1] as isize - i[n - 2] as isize;
                if keep(above, diagonal) { x.get(i).unwrap() } else { 0 }
            });
            expect(&x.tril(diagonal).unwrap(), &part(|above, diagonal| above <= diagonal));
            expect(&x.triu(diagonal).unwrap(), &part(|above, diagonal| above >= diagonal));
        }
    }
}

/// Large enough to be shared among threads: the results are those of one thread.
#[test]
fn results_do_not_depend_on_threads() {
    let exec = Exec::current().unwrap();
    let serial = &exec.serial();
    let x = of_shape(&[700, 900], 5);
    let index = of_shape(&[700, 900], 0).map(|n| n * 31 % 700).unwrap();
    let mask = x.map(|n| n % 3 == 0).unwrap();
    let float = x.map(|n| (n % 1000) as f32 / 100.0).unwrap();
    let both = |f: &dyn Fn(&Exec) -> tensor_kernels::Result<Tensor<i64>>| {
        assert_eq!(f(exec).unwrap(), f(serial).unwrap());
    };
    both(&|exec| ops::gather(exec, &x, 0, &index));
    both(&|exec| ops::scatter(exec, &x, 1, &index, &x));
    both(&|exec| ops::masked_select(exec, &x, &mask));
    both(&|exec| ops::cumsum(exec, &x, 0));
    both(&|exec| ops::tril(exec, &x, 3));
    let both = |f: &dyn Fn(&Exec) -> tensor_kernels::Result<Tensor<f32>>| {
        let (parallel, serial) = (f(exec).unwrap(), f(serial).unwrap());
        let bits = |x: &Tensor<f32>| x.to_vec().unwrap().into_iter().map(f32::to_bits);
        assert!(bits(&parallel).eq(bits(&serial)));
    };
    for dim in 0..2 {
        both(&|exec| ops::softmax(exec, &float, dim));
        both(&|exec| ops::log_softmax(exec, &float, dim));
        both(&|exec| ops::var(exec, &float, dim, 1.0));
        both(&|exec| ops::norm(exec, &float, dim, 3.0));
    }
    both(&|exec| ops::logsumexp(exec, &float, ..));
    both(&|exec| ops::std(exec, &float, .., 1.0));
    both(&|exec| ops::softmax(exec, float.reshape([-1])?.into_tensor(), 0));
}
