//! Permutations of an array in its own memory, beside a copy into other memory and plain `memcpy`
//! of the same bytes. What is moved has other dimensions each time, and takes the same time.

mod common;

use common::{bench_bytes, bench_memcpy, criterion, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{Failure, measure::setting::Setting};
use tensor_kernels::{ByteView, ByteViewMut, Layout, Tensor, copy_bytes, permute_bytes_inplace};

struct Permutation {
    item_size: usize,
    shape: &'static [usize],
    dims: &'static [isize],
}

/// Squares of even and odd sizes, rectangles, images, heads of attention, a reversed array.
const PERMUTATIONS: &[Permutation] = &[
    Permutation { item_size: 4, shape: &[1024, 1024], dims: &[1, 0] },
    Permutation { item_size: 4, shape: &[1001, 1001], dims: &[1, 0] },
    Permutation { item_size: 8, shape: &[1300, 1300], dims: &[1, 0] },
    Permutation { item_size: 1, shape: &[2049, 2049], dims: &[1, 0] },
    Permutation { item_size: 4, shape: &[768, 3072], dims: &[1, 0] },
    Permutation { item_size: 4, shape: &[668, 2917], dims: &[1, 0] },
    Permutation { item_size: 1, shape: &[1080, 1920, 3], dims: &[2, 0, 1] },
    Permutation { item_size: 4, shape: &[8, 512, 16, 64], dims: &[0, 2, 1, 3] },
    Permutation { item_size: 4, shape: &[20, 30, 40, 50], dims: &[3, 2, 1, 0] },
];

fn permutations(criterion: &mut Criterion) {
    let setting = setting();
    for permutation in PERMUTATIONS {
        let name = permutation.name();
        permute(criterion, &setting, permutation)
            .unwrap_or_else(|failure| panic!("{}", failure.at(&name)));
    }
}

impl Permutation {
    fn name(&self) -> String {
        let Self { item_size, shape, dims } = self;
        format!("in_place {item_size} B {shape:?} permuted {dims:?}")
    }
}

fn permute(
    criterion: &mut Criterion,
    setting: &Setting,
    permutation: &Permutation,
) -> Result<(), Failure> {
    let &Permutation { item_size, shape, dims } = permutation;
    let mut group = criterion.benchmark_group(permutation.name());
    let exec = &setting.exec;
    let layout = Layout::contiguous(shape)?;
    let bytes = layout.dense_bytes(item_size)?;
    let [array, other] = [(); 2].map(|()| Tensor::<u8>::full([bytes], 1));
    let (array, other) = (array?, other?);
    let (mut array, mut other) = (array.write()?, other.write()?);
    let (mut array, mut other) = (array.as_view_mut()?, other.as_view_mut()?);
    let array = array.as_slice_mut().expect("it is contiguous");
    let moved = 2 * bytes as u64;
    bench_bytes(&mut group, "in its own memory", moved, || {
        permute_bytes_inplace(exec, array, item_size, shape, dims)?;
        Ok(())
    });
    let permuted = layout.permute(dims)?;
    let to = Layout::contiguous(permuted.shape())?;
    let from = ByteView::new(array, item_size, permuted)?;
    let other = other.as_slice_mut().expect("it is contiguous");
    let mut to = ByteViewMut::new(other, item_size, to)?;
    bench_bytes(&mut group, "into other memory", moved, || Ok(copy_bytes(exec, &from, &mut to)?));
    bench_memcpy(&mut group, bytes as u64, moved)?;
    group.finish();
    Ok(())
}

criterion_group! { name = benches; config = criterion(); targets = permutations }
criterion_main!(benches);
