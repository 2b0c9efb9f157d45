//! Ranks from 0 to 64, no elements, sizes beyond memory, long patterns, other elements.

use tensor_kernels::{
    Error, Layout, PatternRule, RearrangePattern, ReducePattern, Reduction, Tensor, TensorExt,
    TensorView, rearrange,
};

const RANK: usize = 64;

fn axes(range: impl Iterator<Item = usize>) -> String {
    range.map(|axis| format!("x{axis}")).collect::<Vec<_>>().join(" ")
}

/// A tensor of 64 dimensions, ten of them of size 2, whose values are their positions.
fn high_rank() -> Tensor<i64> {
    let shape: Vec<isize> = (0..RANK).map(|d| if d % 6 == 1 && d < 60 { 2 } else { 1 }).collect();
    Tensor::arange(0i64, 1024, 1).unwrap().view(&shape).unwrap()
}

fn bits_reversed(value: usize) -> i64 {
    (0..10).fold(0, |reversed, bit| reversed << 1 | (value as i64 >> bit & 1))
}

#[test]
fn sixty_four_dimensions_are_reversed_merged_and_split() {
    let x = high_rank();
    let (forwards, backwards) = (axes(0..RANK), axes((0..RANK).rev()));
    let reversed: Vec<i64> = (0..1024).map(bits_reversed).collect();
    let view = x.rearrange(&format!("{forwards} -> {backwards}"), &[]).unwrap();
    assert!(!view.copied() && view.ndim() == RANK);
    assert_eq!(view.to_vec().unwrap(), reversed);
    let copy = x.rearrange(&format!("{forwards} -> ({backwards})"), &[]).unwrap();
    assert!(copy.copied() && copy.ndim() == 1);
    assert_eq!(copy.to_vec().unwrap(), reversed);

    let (front, back) = (axes(0..49), axes(50..55));
    let swapped =
        x.rearrange(&format!("{front} x49 {back} x55 ... -> {front} x55 {back} x49 ..."), &[]);
    assert_eq!(swapped.unwrap().to_vec().unwrap()[..8], [0, 2, 1, 3, 4, 6, 5, 7]);

    let names: Vec<String> = (0..RANK).map(|axis| format!("x{axis}")).collect();
    let sizes: Vec<(&str, usize)> =
        names.iter().map(|name| &name[..]).zip(x.shape().iter().copied()).skip(1).collect();
    let split = copy.rearrange(&format!("({forwards}) -> {forwards}"), &sizes).unwrap();
    assert!(!split.copied() && split.shape() == x.shape());
    let repeated = x.repeat_axes(&format!("{forwards} -> 2 {forwards} 2"), &[]).unwrap();
    assert!(!repeated.copied() && repeated.ndim() == RANK + 2);
    let sum = x.cast::<f64>().unwrap().reduce("... x63 -> x63", Reduction::Sum, &[]).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [523_776.0]);
    assert_eq!(x.rearrange("... -> (...)", &[]).unwrap().shape(), [1024]);
}

#[test]
fn a_tensor_without_dimensions() {
    let x = Tensor::full((), 7.0f32).unwrap();
    for (pattern, shape) in
        [("->", &[][..]), ("-> 1", &[1]), ("... -> ...", &[]), ("... -> () (...)", &[1, 1])]
    {
        let y = x.rearrange(pattern, &[]).unwrap();
        assert_eq!((y.shape(), y.copied(), y.get(&vec![0; y.ndim()])), (shape, false, Ok(7.0)));
    }
    assert_eq!(x.repeat_axes("-> 2 3", &[]).unwrap().to_vec().unwrap(), [7.0; 6]);
    assert_eq!(x.reduce("->", Reduction::Mean, &[]).unwrap().get(&[]), Ok(7.0));
    assert!(x.rearrange("a -> a", &[]).is_err());
}

#[test]
fn no_elements() {
    let x = Tensor::<f32>::zeros([0, 4]).unwrap();
    let shape = |pattern, sizes: &[_]| x.rearrange(pattern, sizes).unwrap().shape().to_vec();
    assert_eq!(shape("a (b c) -> c a b", &[("c", 2)]), [2, 0, 2]);
    assert_eq!(shape("(a z) b -> a (z b)", &[("z", 3)]), [0, 12]);
    assert_eq!(shape("(a z) b -> (b a) z", &[("z", 0), ("a", 5)]), [20, 0]);
    let repeated = x.repeat_axes("a b -> (a 5) b", &[]).unwrap();
    assert!(!repeated.copied() && repeated.shape() == [0, 4]);
    let reduced = |pattern, reduction| x.reduce(pattern, reduction, &[]);
    assert_eq!(reduced("a b -> b", Reduction::Sum).unwrap().to_vec().unwrap(), [0.0; 4]);
    assert_eq!(reduced("a b -> b", Reduction::Prod).unwrap().to_vec().unwrap(), [1.0; 4]);
    assert!(reduced("a b -> b", Reduction::Mean).unwrap().get(&[3]).unwrap().is_nan());
    assert_eq!(reduced("a b -> a", Reduction::Max).unwrap().shape(), [0]);
    assert!(matches!(reduced("a b -> b", Reduction::Max), Err(Error::ReduceEmpty { .. })));
}

/// One element, repeated with stride 0.
#[test]
fn more_elements_than_memory() {
    let one = Tensor::full([1], 3u16).unwrap();
    let half = 1usize << 31;
    let x = one.expand([half as isize, 1 << 31]).unwrap();
    let y = x.rearrange("(a b) c -> c b a", &[("b", 1 << 20)]).unwrap();
    assert_eq!((y.copied(), y.shape()), (false, &[half, 1 << 20, 1 << 11][..]));
    assert_eq!(x.rearrange("a b -> (b a)", &[]).unwrap().shape(), [1 << 62]);
    let line = Tensor::arange(0u16, 2, 1).unwrap().view([1, 2]).unwrap();
    let wide = line.expand([1_isize << 61, -1]).unwrap();
    let refused = wide.rearrange("a b -> (b a)", &[]).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. } | Error::OutOfMemory { .. }), "{refused}");
}

#[test]
fn sizes_that_no_layout_has() {
    let x = Tensor::full([2], 1.0f32).unwrap();
    let empty = Tensor::<f32>::zeros([0]).unwrap();
    let too_large = |result: Result<_, Error>| match result.unwrap_err() {
        Error::TooLarge { .. } => {}
        other => panic!("{other}"),
    };
    let huge = usize::MAX;
    too_large(x.repeat_axes("a -> a b", &[("b", huge)]).map(drop));
    too_large(x.repeat_axes("a -> (a b)", &[("b", huge)]).map(drop));
    too_large(x.repeat_axes("a -> a b c", &[("b", 1 << 40), ("c", 1 << 40)]).map(drop));
    too_large(x.repeat_axes("a -> a b c 18446744073709551615", &[("b", 0), ("c", 3)]).map(drop));
    too_large(empty.rearrange("(a b) -> a b", &[("b", huge)]).map(drop));
    too_large(empty.rearrange("(a b c) -> a b c", &[("b", 1 << 40), ("c", 1 << 40)]).map(drop));
    too_large(empty.reduce("(a b) -> a", Reduction::Sum, &[("b", huge)]).map(drop));
    match x.rearrange("(a b c) -> a b c", &[("a", huge), ("b", huge), ("c", 2)]).unwrap_err() {
        Error::Pattern(error) => {
            assert_eq!(error.rule, PatternRule::Mismatch { dim: 0, size: 2, product: usize::MAX });
        }
        other => panic!("{other}"),
    }
}

/// In linear time, or nearly: names are looked up, not searched for.
#[test]
fn patterns_of_a_megabyte() {
    let names = axes(0..100_000);
    assert!(RearrangePattern::new(&format!("{names} -> {names}")).is_ok());
    assert!(ReducePattern::new(&format!("({names}) -> ")).is_ok());
    for text in ["(", ")", "1", ".", "-", "->", "_", "( ", "a", "\u{1F980}", "\0"] {
        let text = text.repeat(100_000);
        for pattern in [text.clone(), format!("{text}->"), format!("->{text}")] {
            if let Err(refused) = RearrangePattern::new(&pattern) {
                assert_eq!(refused.to_string().lines().count(), 3);
            }
        }
    }
}

#[test]
fn elements_that_are_not_numbers() {
    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::NoUninit)]
    #[repr(C)]
    struct Rgb([u8; 3]);

    let pixels: Vec<Rgb> = (0..6).map(|i| Rgb([i, 2 * i, 3 * i])).collect();
    let x = Tensor::from_vec(pixels.clone(), [2, 3]).unwrap();
    let expected: Vec<Rgb> = [0, 3, 1, 4, 2, 5].map(|i| pixels[i]).to_vec();
    assert_eq!(x.rearrange("h w -> (w h)", &[]).unwrap().to_vec().unwrap(), expected);
    let exec = tensor_kernels::Exec::current().unwrap();
    let view = TensorView::new(&pixels, Layout::contiguous([2, 3]).unwrap()).unwrap();
    assert_eq!(rearrange(exec, &view, "h w -> (w h)", &[]).unwrap().to_vec().unwrap(), expected);
    let truth = Tensor::from_vec(vec![true, false, true], [3]).unwrap();
    let repeated = truth.repeat_axes("a -> (a 2)", &[]).unwrap();
    assert_eq!(repeated.to_vec().unwrap(), [true, true, false, false, true, true]);
    let counted = truth.reduce_with("a -> ", &[], tensor_kernels::TensorExt::sum).unwrap();
    assert_eq!(counted.get(&[]), Ok(2i64));
}
