//! Explanations of refusals, lints and padded layouts of extreme layouts: rank 64, no elements,
//! stride 0, `isize::MAX` elements.

use tensor_core::{
    Error, Layout, Lint, LintKind, Overlap, Remedy, Tensor, TensorView, TensorViewMut,
};

const MAX: usize = isize::MAX as usize;

#[test]
fn fault_a_refusal_at_rank_64_has_every_way_out() {
    let shape: Vec<usize> = (0..64).map(|dim| if dim % 10 == 0 { 2 } else { 1 }).collect();
    let reversed: Vec<isize> = (0..64).rev().collect();
    let layout = Layout::contiguous(&shape).unwrap().permute(&reversed).unwrap();
    let why = layout.why_not_view([-1]).unwrap().expect("seven dimensions in reverse");
    assert_eq!(why.groups().len(), 7);
    assert_eq!(why.remedies()[0], Remedy::View { shape: vec![2; 7] });
    for remedy in why.remedies() {
        assert!(remedy.apply(&layout).is_ok(), "{remedy}");
    }
    assert_eq!(layout.why_not_contiguous().unwrap().groups().len(), 7);
    assert!(layout.lints(1 << 20).iter().all(|lint| !lint.to_string().is_empty()));
    assert_eq!(Layout::padded(&shape, 0, 128).unwrap().strides()[0], 128);
}

#[test]
fn fault_what_has_no_elements_is_viewed_contiguous_and_without_lints() {
    for shape in [&[0][..], &[3, 0], &[0, MAX], &[4096, 0, 4096]] {
        let strides = vec![isize::MAX; shape.len()];
        let layout = Layout::new(shape, &strides, MAX).unwrap();
        assert_eq!(layout.why_not_view([0, 5]), Ok(None));
        assert_eq!(layout.why_not_contiguous(), None);
        assert_eq!(layout.lints(8), []);
    }
    let padded = Tensor::<f32>::zeros_padded([0, 3], 0, 16).unwrap();
    assert_eq!((padded.numel(), padded.strides()), (0, &[16, 1][..]));
    assert_eq!(Layout::SCALAR.why_not_view([1, 1]), Ok(None));
    assert_eq!((Layout::SCALAR.why_not_contiguous(), Layout::SCALAR.lints(8)), (None, vec![]));
}

#[test]
fn fault_repeated_elements_are_copied_once_however_many_there_are() {
    let columns = Layout::contiguous([3, 4]).unwrap().t().unwrap();
    let huge = columns.expand([1_isize << 58, 4, 3]).unwrap();
    let why = huge.why_not_view([1_isize << 58, 12]).unwrap().unwrap();
    let [_, block, all] = why.remedies() else { panic!("{why}") };
    assert_eq!(block.copied(&huge).unwrap().numel(), 12);
    assert_eq!(block.apply(&huge), Layout::new([1_isize << 58, 12], [0, 1], 0));
    assert_eq!(all.apply(&huge).unwrap().numel(), 12 << 58);
    let bytes = (12u128 << 58) * 16;
    assert!(why.in_bytes(16).to_string().contains(&format!("copies {bytes} bytes")));
}

/// `isize::MAX` is 7 · 1317624576693539401.
#[test]
fn fault_isize_max_elements_are_explained_and_linted() {
    let rest = MAX / 7;
    let layout = Layout::new([7, rest], [0, 1], 0).unwrap();
    let why = layout.why_not_view([-1]).unwrap().expect("a repetition is not adjacent");
    assert_eq!(why.remedies()[0], Remedy::View { shape: vec![7, rest] });
    assert_eq!(why.stride_break().expected(), rest as isize);
    assert!(why.in_bytes(usize::MAX).to_string().lines().count() > 4);

    let far = Layout::new([2, 2], [1_isize << 61, 1_isize << 60], 0).unwrap();
    assert!(far.lints(8).iter().all(|lint| lint.padded().is_none_or(|p| p.numel() == 4)));
    let backwards = Layout::new([2, 2], [-(1_isize << 62), 1], 1 << 62).unwrap();
    assert_eq!(backwards.lints(1)[0].kind(), LintKind::PageAliasing);
    assert_eq!(backwards.lints(1)[0].padded_stride(), Some((1 << 62) + 64));
}

#[test]
fn fault_a_shape_with_other_elements_is_an_error_as_of_view() {
    let layout = Layout::contiguous([2, 3]).unwrap().t().unwrap();
    for sizes in [&[7][..], &[-1, -1], &[-2], &[isize::MAX, 6]] {
        assert_eq!(layout.why_not_view(sizes), layout.view(sizes).map(|_| None), "{sizes:?}");
    }
}

#[test]
fn fault_padding_that_does_not_hold_a_row_is_refused_with_both_sizes() {
    let refused = Tensor::<f32>::zeros_padded([5, 4, 3], 1, 2).unwrap_err();
    assert_eq!(refused, Error::PaddedStride { dim: 1, stride: 2, needed: 3 });
    let text = "an index of dimension 1 needs 3 elements, which a stride of 2 does not hold";
    assert!(refused.to_string().ends_with(text), "{refused}");

    let zeros = Tensor::<f32>::zeros_padded;
    assert!(matches!(zeros(&[][..], 0, 1), Err(Error::DimOutOfRange { .. })));
    assert!(matches!(zeros(&[2][..], 1, 1), Err(Error::DimOutOfRange { .. })));
    assert!(matches!(zeros(&[2, 2][..], 0, MAX), Err(Error::TooLarge { .. })));
    assert!(matches!(zeros(&[3, 2][..], 0, usize::MAX), Err(Error::TooLarge { .. })));
    assert!(matches!(zeros(&[2, 2][..], 0, MAX / 2), Err(Error::TooLarge { .. })));
    assert!(matches!(zeros(&[3, 2][..], 0, 1 << 60), Err(Error::TooLarge { .. })));
    assert_eq!(zeros(&[1, 2][..], 0, MAX).unwrap().to_vec(), Ok(vec![0.0; 2]));
}

#[test]
fn fault_a_padded_tensor_is_as_any_other() {
    let padded = Tensor::<i32>::zeros_padded([2, 3, 4], -2, 16).unwrap();
    assert_eq!(padded.strides(), [48, 16, 1]);
    for (i, at) in [[0, 0, 0], [0, 2, 3], [1, 0, 0], [1, 2, 3]].iter().enumerate() {
        padded.set(at, i as i32 + 1).unwrap();
    }
    let values = padded.to_vec().unwrap();
    assert_eq!([values[0], values[11], values[12], values[23]], [1, 2, 3, 4]);
    assert_eq!(values.iter().sum::<i32>(), 10);
    assert_eq!(padded.view([-1, 4]).unwrap().strides(), [16, 1]);
    assert!(padded.why_not_view([24]).unwrap().is_some());
}

#[test]
fn tensors_and_views_explain_themselves_in_bytes() {
    let expected = "\
shape [4, 3] strides [1, 4] cannot be viewed as [2, 6]
contiguous among themselves: dim 0 | dim 1
size 6 of dim 1 would span dims 0 and 1: stride of dim 0 is 1, but 12 would be needed
instead, the cheapest first:
- .view(&[2, 2, 3]): no copy
- .permute(&[1, 0])?.view(&[2, 6]): no copy; the elements in the order of memory
- .reshape(&[2, 6]): copies 48 bytes";
    let mut values: Vec<f32> = (0u8..12).map(f32::from).collect();
    let tensor = Tensor::from_vec(values.clone(), [3, 4]).unwrap().t().unwrap();
    let layout = tensor.layout().clone();
    let view = TensorView::new(&values, layout.clone()).unwrap();
    let explained = [tensor.why_not_view([2, 6]), view.why_not_view([2, 6])];
    for why in explained.map(|why| why.unwrap().unwrap()) {
        assert_eq!(why.to_string(), expected);
    }
    let view = TensorViewMut::new(&mut values, layout.clone()).unwrap();
    assert_eq!(view.why_not_view([2, 6]).unwrap().unwrap().to_string(), expected);

    let expected = "\
shape [4, 3] strides [1, 4] is not contiguous
contiguous among themselves: dim 0 | dim 1
stride of dim 1 is 4, but 1 would be needed
instead, the cheapest first:
- .permute(&[1, 0]): no copy; the elements in the order of memory
- .contiguous(): copies 48 bytes";
    assert_eq!(view.why_not_contiguous().unwrap().to_string(), expected);
    assert_eq!(tensor.why_not_contiguous().unwrap().to_string(), expected);
    assert_eq!((tensor.lints(), view.lints()), (layout.lints(4), layout.lints(4)));
}

/// Only the last two dimensions change their order: each image can be copied by itself.
#[test]
fn a_border_in_the_last_dimensions_needs_a_copy_of_these_only() {
    let images = Layout::contiguous([8, 5, 3, 4]).unwrap().transpose(2, 3).unwrap();
    let why = images.why_not_view([8, 5, 12]).unwrap().unwrap().in_bytes(2);
    let expected = Remedy::CopyBlock {
        dims: vec![2, 3],
        source: vec![8, 5, 4, 3],
        repeated: vec![],
        block_shape: vec![12],
        blocks: 40,
        shape: vec![8, 5, 12],
    };
    assert_eq!(why.remedies()[2], expected);
    let text = "- .select(1, i1)?.select(0, i0)?.reshape(&[12]) for all i0, i1: \
                copies 40 blocks of 24 bytes";
    assert!(why.to_string().contains(text), "{why}");
}

/// The next plane begins where the last row ends, not where its padding does.
#[test]
fn padding_keeps_what_follows_a_last_row_behind_it() {
    let planes = Layout::new([2, 40, 300], [39 * 512 + 300, 512, 1], 0).unwrap();
    let lints = planes.lints(4);
    let padded = lints[0].padded().expect("rows 2 KiB apart");
    assert_eq!(padded.strides(), [39 * 528 + 300, 528, 1]);
    assert_eq!(padded.self_overlap(), Overlap::No);
}

/// Elements of a page each alias whatever their stride.
#[test]
fn padding_that_does_not_help_is_not_proposed() {
    let pages = Layout::contiguous([9, 4]).unwrap();
    let lints = pages.lints(4096);
    let padded: Vec<_> = lints.iter().map(|lint| (lint.kind(), lint.padded_stride())).collect();
    let expected = [(LintKind::PowerOfTwoStride, Some(5)), (LintKind::PageAliasing, None)];
    assert_eq!(padded, expected);
}

#[test]
fn each_lint_is_found_where_it_is_due() {
    let kinds = |shape: &[usize], strides: &[isize], width: usize| -> Vec<LintKind> {
        let lints = Layout::new(shape, strides, 0).unwrap().lints(width);
        lints.iter().map(Lint::kind).collect()
    };
    use LintKind::{FalseSharing, PageAliasing, PageStride, PowerOfTwoStride, ShortRows};
    assert_eq!(kinds(&[1000, 1000], &[1000, 1], 4), []);
    assert_eq!(kinds(&[100, 512], &[512, 1], 4), [PowerOfTwoStride]);
    assert_eq!(kinds(&[16, 512], &[512, 1], 4), [], "the sets hold 16 rows");
    assert_eq!(kinds(&[3, 3072], &[3072, 1], 4), [PageAliasing]);
    assert_eq!(kinds(&[3072, 100], &[1, 3072], 4), [PageAliasing, PageStride]);
    assert_eq!(kinds(&[3072, 50], &[1, 3072], 4), [PageAliasing], "a TLB holds 50 pages");
    assert_eq!(kinds(&[8, 3], &[3, 1], 8), [FalseSharing]);
    assert_eq!(kinds(&[8, 8], &[8, 1], 8), [], "rows are cache lines");
    assert_eq!(kinds(&[8, 3], &[11, 1], 8), [], "rows are a line apart");
    assert_eq!(kinds(&[2000, 3], &[3, 1], 8), [], "each thread has many rows");
    assert_eq!(kinds(&[2000, 3], &[4, 1], 8), [ShortRows]);
    assert_eq!(kinds(&[10, 3], &[4, 1], 4), [FalseSharing], "all of it stays in cache");
    assert_eq!(kinds(&[4096], &[2], 4), [ShortRows]);
    assert_eq!(kinds(&[1 << 20], &[1], 4), []);
}
