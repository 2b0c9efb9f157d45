//! Minima and maxima of NaN, zeros and infinities of either sign: the same bits at every SIMD
//! level, although the instructions of the CPUs differ.

use tensor_kernels::{
    Compare, Exec, Number, Ordered, Result, SimdLevel, Tensor, TensorView, TensorViewMut, ops,
};

use crate::common::{RunConfig, run_configs, strided};

/// A float whose bits are compared.
trait Bits: Number + Ordered + Compare {
    /// The bits, or `None` for NaN, whose payload may differ.
    fn bits(self) -> Option<u64>;
    fn of(x: f64) -> Self;
}

macro_rules! bits {
    ($($type:ty: |$x:ident| $narrow:expr;)*) => {$(
        impl Bits for $type {
            fn bits(self) -> Option<u64> { (!self.is_nan()).then_some(self.to_bits().into()) }
            fn of($x: f64) -> Self { $narrow }
        }
    )*};
}

bits! {
    f32: |x| x as f32;
    f64: |x| x;
}
#[cfg(feature = "half")]
bits! {
    half::f16: |x| half::f16::from_f64(x);
    half::bf16: |x| half::bf16::from_f64(x);
}

const VALUES: [f64; 9] =
    [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, 1e-40];

type Operation<T> = fn(&Exec, [&TensorView<'_, T>; 3], &mut TensorViewMut<'_, T>) -> Result<()>;

fn operations<T: Bits>() -> [(&'static str, Operation<T>); 4] {
    [
        ("minimum", |exec, [a, b, _], out| ops::minimum_into(exec, a, b, out)),
        ("maximum", |exec, [a, b, _], out| ops::maximum_into(exec, a, b, out)),
        ("clamp", |exec, [a, b, c], out| ops::clamp_into(exec, a, b, c, out)),
        ("relu", |exec, [a, ..], out| ops::relu_into(exec, a, out)),
    ]
}

/// All pairs of values, in rows that end within a register.
fn minima_and_maxima<T: Bits>() {
    let values = VALUES.map(T::of);
    let n = values.len();
    let shape = [n, n, n];
    let along = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let [a, b, c] =
        along.map(|strides| TensorView::new(&values, strided(&shape, &strides, 0)).unwrap());
    for (name, operation) in operations::<T>() {
        let compute = |exec: &Exec| {
            let mut out = vec![values[6]; n * n * n];
            let layout = strided(&shape, &[(n * n) as isize, n as isize, 1], 0);
            operation(exec, [&a, &b, &c], &mut TensorViewMut::new(&mut out, layout).unwrap())
                .unwrap();
            out.into_iter().map(Bits::bits).collect::<Vec<_>>()
        };
        let expected = RunConfig::serial(SimdLevel::Scalar, false).run(compute);
        for config in run_configs() {
            assert_eq!(config.run(compute), expected, "{name}, {config}");
        }
    }
}

#[test]
fn fault_minima_and_maxima_are_the_same_bits_at_every_level() {
    minima_and_maxima::<f32>();
    minima_and_maxima::<f64>();
    #[cfg(feature = "half")]
    minima_and_maxima::<half::f16>();
    #[cfg(feature = "half")]
    minima_and_maxima::<half::bf16>();
}

/// PyTorch's rule for NaN in either operand.
#[test]
fn fault_nan_on_either_side_is_the_minimum_and_the_maximum() {
    for config in run_configs() {
        let x = Tensor::from_vec(vec![f32::NAN, 1.0, -0.0, f32::INFINITY], [4]).unwrap();
        let y = Tensor::from_vec(vec![1.0, f32::NAN, -1.0, 2.0], [4]).unwrap();
        let [least, most] = config.run(|exec| {
            [ops::minimum(exec, &x, &y), ops::maximum(exec, &x, &y)]
                .map(|result| result.unwrap().to_vec().unwrap())
        });
        assert!(least[..2].iter().chain(&most[..2]).all(|x| x.is_nan()), "{config}");
        assert_eq!((&least[2..], &most[2..]), (&[-1.0, 2.0][..], &[-0.0, f32::INFINITY][..]));
        assert!(most[2].is_sign_negative(), "{config}");
    }
}

/// Rows of zeros of both signs, of infinities, and with one NaN at each index in turn.
#[test]
fn fault_min_and_max_reductions_are_the_same_bits_at_every_level() {
    for len in [1usize, 2, 7, 16, 33, 130] {
        let zeros = |i: usize| if (i * 7) % 3 == 1 { -0.0f32 } else { 0.0 };
        let infinite = |i: usize| [f32::INFINITY, 1.0, f32::NEG_INFINITY][i % 3];
        for nan in [0, len / 2, len - 1, len] {
            for fill in [zeros as fn(usize) -> f32, infinite] {
                let row: Vec<f32> =
                    (0..len).map(|i| if i == nan { f32::NAN } else { fill(i) }).collect();
                check_row(&row, nan);
            }
        }
    }
}

fn check_row(row: &[f32], nan: usize) {
    let view = TensorView::new(row, strided(&[row.len()], &[1], 0)).unwrap();
    let extremes = |exec: &Exec| {
        let ends = [ops::min_all(exec, &view), ops::max_all(exec, &view)];
        let indices = [ops::argmin_all(exec, &view), ops::argmax_all(exec, &view)];
        (ends.map(|x| x.unwrap().bits()), indices.map(Result::unwrap))
    };
    let expected = RunConfig::serial(SimdLevel::Scalar, false).run(extremes);
    if nan < row.len() {
        assert_eq!(expected, ([None; 2], [nan as i64; 2]), "{row:?}");
    } else {
        let [least, most] = expected.1.map(|index| row[index as usize]);
        assert!(row.iter().all(|&x| least <= x && x <= most), "{row:?}");
    }
    for config in run_configs() {
        assert_eq!(config.run(extremes), expected, "{row:?}, {config}");
    }
}
