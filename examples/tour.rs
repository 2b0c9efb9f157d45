//! The program of the guided tour, `docs/tour.md`: the code of each of its sections, in order.
//!
//! ```sh
//! cargo run --release -p examples --bin tour
//! ```
//!
//! `tests/tour.rs` checks that the sections here are those of the page, and that the page shows
//! what they print.

use tensor_kernels::{
    Layout, Result, Tensor, TensorExt, TensorMutExt, count_copies, forbid_copies, s, tensor,
};

fn section(title: &str) {
    println!("## {title}");
}

/// The elements of the storage, in the order of memory.
fn storage(tensor: &Tensor<i64>) -> Result<Vec<i64>> {
    let len = tensor.storage().bytes() / size_of::<i64>();
    tensor.with_layout(Layout::contiguous([len])?)?.to_vec()
}

fn main() -> Result<()> {
    section("1. Storage and strides");
    let t = Tensor::arange(0i64, 12, 1)?.view([3, 4])?;
    println!("{t}");
    println!("shape {:?} strides {:?} offset {}", t.shape(), t.strides(), t.storage_offset());
    println!("storage {:?}", storage(&t)?);

    let [i, j] = [2, 1];
    let offset = t.storage_offset() + i * 4 + j;
    assert_eq!(t.get(&[i, j])?, storage(&t)?[offset]);

    println!("strides in bytes {:?}", t.layout().strides_in_bytes(size_of::<i64>())?);

    section("2. A transpose moves nothing");
    let t2 = t.transpose(0, 1)?;
    println!("{t2}");
    println!("shape {:?} strides {:?}", t2.shape(), t2.strides());
    println!("the same storage: {}", t2.same_storage(&t));
    println!("the same address: {}", t2.data_ptr() == t.data_ptr());

    t.set(&[0, 1], 100)?;
    println!("t2[1, 0] is {}", t2.get(&[1, 0])?);
    t.set(&[0, 1], 1)?;

    for index in [[0, 0], [0, 1], [0, 2], [1, 0]] {
        let bytes = t2.layout().offset_of(&index)? * size_of::<i64>();
        println!("t2{index:?} is {} and stands at byte {bytes}", t2.get(&index)?);
    }

    section("3. What contiguous means");
    println!("{}\n", t.layout().contiguity_trace());
    println!("{}", t2.layout().contiguity_trace());

    for (size, strides) in [([3, 4], [8, 2]), ([3, 1], [1, 1]), ([0, 4], [7, 9])] {
        let contiguous = Layout::new(size, strides, 0)?.is_contiguous();
        println!("size {size:?} strides {strides:?}: contiguous {contiguous}");
    }

    for strides in [[2, 1], [1, 2], [4, 2]] {
        let layout = Layout::new([2, 2], strides, 0)?;
        println!("{strides:?}: contiguous {}, dense {}", layout.is_contiguous(), layout.is_dense());
    }

    section("4. Which operations are views");
    let x = Tensor::arange(0i64, 6, 1)?.view([3, 2])?;
    let results = [
        ("transpose(0, 1)", x.transpose(0, 1)?),
        ("narrow(0, 1, 2)", x.narrow(0, 1, 2)?),
        ("select(1, 1)", x.select(1, 1)?),
        ("view([2, 3])", x.view([2, 3])?),
        ("flip([0])", x.flip([0])?),
        ("expand([2, 3, 2])", x.expand([2, 3, 2])?),
        ("repeat([2, 1])", x.repeat([2, 1])?),
        ("contiguous()", x.contiguous()?),
    ];
    for (call, y) in &results {
        let shared = if y.same_storage(&x) { "view" } else { "copy" };
        let (strides, offset) = (y.strides(), y.storage_offset());
        let contiguous = if y.is_contiguous() { "contiguous" } else { "not contiguous" };
        println!("{call:18}{shared}, {contiguous:14} strides {strides:?} offset {offset}");
    }

    let y = x.unsqueeze(2)?;
    println!("unsqueeze(2): {:?}", y.strides());
    println!(".expand([3, 2, 4]): {:?}", y.expand([3, 2, 4])?.strides());
    let repeated = y.repeat([1, 1, 8])?.view([3, 8, 2])?;
    println!(".repeat([1, 1, 8]).view([3, 8, 2]): {:?}", repeated.strides());
    let one = Tensor::arange(0i64, 24, 1)?.view([1, 2, 3, 4])?.permute([1, 2, 3, 0])?;
    println!("{:?} of size {:?}: contiguous {}", one.strides(), one.shape(), one.is_contiguous());

    section("5. Why a view is refused");
    println!("{}\n", t2.view([12]).expect_err("no stride leads through it"));
    println!("{}", t2.why_not_view([12])?.expect("the same"));

    println!("{}", Tensor::arange(0i64, 11, 1)?.view([2, 2, 3]).expect_err("12 are needed"));

    section("6. What reshape does");
    let u = Tensor::arange(0i64, 24, 1)?.view([1, 2, 3, 4])?;
    let column = u.index(s![.., .., .., 2])?;
    println!("strides {:?}, contiguous {}", column.strides(), column.is_contiguous());
    let flat = column.reshape([3, 2])?;
    println!("as [3, 2]: copied {}, strides {:?}", flat.copied(), flat.strides());
    let flat = t2.reshape([12])?;
    println!("t2 as [12]: copied {}, {:?}", flat.copied(), flat.to_vec()?);

    section("7. What contiguous costs");
    let (t3, copies) = count_copies(|| t2.contiguous());
    let t3 = t3?;
    println!("{} copy of {} bytes", copies.count(), copies.bytes());
    println!("strides {:?}, storage {:?}", t3.strides(), storage(&t3)?);

    let a = Tensor::arange(1i64, 13, 1)?.view([2, 3, 2])?;
    let b = a.transpose(0, 1)?;
    let c = b.contiguous()?;
    println!("{:?}, then {:?}, then {:?}", a.strides(), b.strides(), c.strides());
    println!("from {:?}\n  to {:?}", storage(&b)?, storage(&c)?);

    let (t4, copies) = count_copies(|| t3.contiguous());
    println!("{} copies, the same storage: {}", copies.count(), t4?.same_storage(&t3));

    let planes = Tensor::<u8>::zeros([32, 224, 224, 3])?.permute([0, 3, 1, 2])?;
    println!("{}", planes.why_not_contiguous().expect("channels are the last in memory"));

    section("8. Broadcasting is a stride of 0");
    let row = tensor![10i64, 20, 30, 40];
    let rows = row.expand([3, 4])?;
    println!("strides {:?}, storage {:?}", rows.strides(), storage(&rows)?);
    println!("{}", &t + &row);
    println!("{}", rows.fill(0).expect_err("three rows are one"));

    let hidden = Tensor::<f32>::zeros([1, 1, 8])?;
    let each = hidden.squeeze_dim(0)?.expand([1, 5, 8])?;
    println!("{:?}, contiguous {}", each.strides(), each.is_contiguous());
    println!("{:?} after contiguous()", each.contiguous()?.strides());

    section("9. Slices, steps and mirrors");
    let v = Tensor::arange(0i64, 96, 1)?.view([3, 4, 8])?;
    let part = v.index(s![2, 1..3, 1..6;3])?;
    println!("{part}");
    println!("strides {:?} offset {}", part.strides(), part.storage_offset());
    let mirrored = part.flip([1])?;
    println!("strides {:?} offset {}", mirrored.strides(), mirrored.storage_offset());

    let ids = Tensor::arange(0i64, 40, 1)?.view([1, 40])?;
    let window = ids.index(s![.., 3..13])?;
    println!("{:?} offset {}", window.strides(), window.storage_offset());
    let two_rows = ids.view([2, 20])?.index(s![.., 3..13])?;
    println!("contiguous {}, of two rows {}", window.is_contiguous(), two_rows.is_contiguous());

    section("10. Finding copies");
    let heads = || -> Result<Tensor<f32>> {
        let x = Tensor::<f32>::zeros([2, 8, 12])?; // batch, tokens, heads · size
        let heads = x.view([2, 8, 3, 4])?.transpose(1, 2)?.contiguous()?;
        Ok(heads.transpose(1, 2)?.reshape([2, 8, 12])?.into_tensor())
    };
    let (_, copies) = count_copies(heads);
    println!("{copies}");
    println!("{}", forbid_copies(heads).expect_err("it copies"));
    Ok(())
}
