//! Operands in the storage of the result: the result itself, disjoint from it, or overlapping it.

use bytemuck::{Pod, bytes_of, cast_slice};
use tensor_kernels::{
    Element, Error, Exec, Overlap, ReduceDims, Result, Tensor, TensorMutExt, copy_between, ops,
};

use super::{
    Case, Check, Outcome,
    layouts::{Strided, Use, broadcast_shape, index_of, shape},
    reductions::{dims, groups},
    values::{Number, Value, ValueKind},
};

type Run<A, R> = fn(&Exec, &Tensor<A>, &Tensor<A>, &Tensor<R>) -> Result<()>;

/// An operation on tensors of one storage.
struct Shared<A: Element, R: Element> {
    name: &'static str,
    run: Run<A, R>,
    /// The result for one element of each operand.
    oracle: fn(A, A) -> R,
    /// The first operand is the result.
    is_inplace: bool,
    /// There is no second operand.
    is_unary: bool,
    /// Whether the first operand is broadcast to the result's shape.
    broadcasts_first: bool,
    /// Whether the operation can copy overlapping operands first.
    copies_first: bool,
}

const ALL: &[Check] = &[
    |case| {
        shared::<f32, f32>(
            case,
            &Shared {
                name: "add_into of f32",
                run: |exec, a, b, out| ops::add_into(exec, a, b, out),
                oracle: |a, b| a + b,
                ..binary()
            },
        )
    },
    |case| {
        shared::<u8, u8>(
            case,
            &Shared {
                name: "sub_into of u8",
                run: |exec, a, b, out| ops::sub_into(exec, a, b, out),
                oracle: u8::wrapping_sub,
                ..binary()
            },
        )
    },
    |case| {
        shared::<u64, u64>(
            case,
            &Shared {
                name: "bitwise_xor_inplace of u64",
                run: |exec, _, b, out| ops::bitwise_xor_inplace(exec, out, b),
                oracle: |a, b| a ^ b,
                is_inplace: true,
                ..binary()
            },
        )
    },
    |case| {
        shared::<u16, u16>(
            case,
            &Shared {
                name: "zip_inplace of u16",
                run: |_, _, b, out| out.zip_inplace(b, |a, b| a.rotate_left(3) ^ b),
                oracle: |a, b| a.rotate_left(3) ^ b,
                is_inplace: true,
                copies_first: false,
                ..binary()
            },
        )
    },
    |case| shared::<u32, u8>(case, &cast()),
    |case| shared::<u8, u32>(case, &cast()),
    |case| shared::<u16, i16>(case, &cast()),
    |case| shared::<f64, u16>(case, &cast()),
    |case| shared::<f32, f64>(case, &cast()),
    |case| shared::<u32, u32>(case, &copy()),
    |case| shared::<u8, u8>(case, &copy()),
    |case| {
        reduced::<i32, i64>(
            case,
            &SharedReduction {
                name: "sum_into of i32",
                run: |exec, a, over, out| ops::sum_into(exec, a, over, out),
                oracle: |x| x.iter().fold(0, |sum, &x| sum.wrapping_add(i64::from(x))),
                has_empty: true,
            },
        )
    },
    |case| {
        reduced::<u64, u64>(
            case,
            &SharedReduction {
                name: "sum_into of u64",
                run: |exec, a, over, out| ops::sum_into(exec, a, over, out),
                oracle: |x| x.iter().fold(0, |sum, &x| sum.wrapping_add(x)),
                has_empty: true,
            },
        )
    },
    |case| {
        reduced::<u8, u8>(
            case,
            &SharedReduction {
                name: "max_into of u8",
                run: |exec, a, over, out| ops::max_into(exec, a, over, out),
                oracle: |x| x.iter().copied().max().unwrap_or(0),
                has_empty: false,
            },
        )
    },
    |case| {
        reduced::<u16, i64>(
            case,
            &SharedReduction {
                name: "argmin_into of u16",
                run: |exec, a, over, out| ops::argmin_into(exec, a, over, out),
                oracle: |x| (0..x.len()).min_by_key(|&i| (x[i], i)).map_or(0, |i| i as i64),
                has_empty: false,
            },
        )
    },
];

/// A reduction of a tensor into another one of its storage.
struct SharedReduction<A: Element, R: Element> {
    name: &'static str,
    run: fn(&Exec, &Tensor<A>, ReduceDims, &Tensor<R>) -> Result<()>,
    oracle: fn(&[A]) -> R,
    /// Whether the reduction of no elements has a value.
    has_empty: bool,
}

pub(crate) fn check(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(ALL)(case)
}

fn binary<A: Element, R: Element>() -> Shared<A, R> {
    Shared {
        name: "",
        run: |_, _, _, _| Ok(()),
        oracle: |_, _| unreachable!("every operation has its own"),
        is_inplace: false,
        is_unary: false,
        broadcasts_first: false,
        copies_first: true,
    }
}

fn cast<A: Number + tensor_kernels::Cast<R>, R: Number>() -> Shared<A, R> {
    Shared {
        name: "cast_into",
        run: |exec, a, _, out| ops::cast_into(exec, a, out),
        oracle: |a, _| R::narrow(a.wide()),
        is_unary: true,
        ..binary()
    }
}

fn copy<T: Value>() -> Shared<T, T> {
    Shared {
        name: "copy_between",
        run: |exec, a, _, out| copy_between(exec, a, out),
        oracle: |a, _| a,
        is_unary: true,
        broadcasts_first: true,
        ..binary()
    }
}

/// How an operand aliases the result.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Apart,
    Same,
    /// The same element at each index, but with another shape. This may be refused.
    SameOfAnotherShape,
    Overlap,
}

/// `read` has the offsets of the elements of `a` that the operation reads, in logical order.
fn relation(
    read: &[usize],
    (a, a_width): (&Strided, usize),
    (out, width): (&Strided, usize),
) -> Relation {
    let written = out.offsets();
    let size = (out.extent() * width).max(a.extent() * a_width);
    let mut is_written = vec![false; size];
    written.iter().for_each(|offset| is_written[offset * width..][..width].fill(true));
    let shares = |offset: &usize| is_written[offset * a_width..][..a_width].contains(&true);
    match (read.iter().any(shares), a_width == width && read == written) {
        (false, _) => Relation::Apart,
        (true, true) if a.shape == out.shape => Relation::Same,
        (true, true) => Relation::SameOfAnotherShape,
        (true, false) => Relation::Overlap,
    }
}

/// An operand: the result itself, the same layout at another offset, or any layout.
fn operand(
    case: &mut Case<'_>,
    (out, out_width): (&Strided, usize),
    width: usize,
    broadcasts: bool,
) -> Strided {
    let same_width = width == out_width;
    let moved = |case: &mut Case<'_>, by: usize| {
        let offset = out.offset + case.choices.draw(by + 1);
        Strided { offset, ..out.clone() }
    };
    match case.choices.draw(6) {
        0 if same_width => out.clone(),
        1 if same_width => moved(case, 3),
        2 if same_width => Strided { offset: out.offset + out.extent(), ..out.clone() },
        drawn => {
            let shape = match broadcasts {
                true => broadcast_shape(&mut case.choices, &out.shape),
                false => out.shape.clone(),
            };
            let mut at = Strided::draw(&mut case.choices, &shape, width, Use::Read);
            // After the result, or within it.
            let offset = case.choices.draw(65);
            at.offset += if drawn == 5 { offset } else { out.extent() + offset };
            at
        }
    }
}

fn shared<A: Number + Pod, R: Number + Pod>(case: &mut Case<'_>, op: &Shared<A, R>) -> Outcome {
    case.note("operation", op.name);
    let setting = case.setting();
    let copies_first = case.choices.draw(2) == 1;
    let sizes = shape(&mut case.choices, &[size_of::<R>(), size_of::<A>()]);
    let mut out = Strided::draw(&mut case.choices, &sizes, size_of::<R>(), Use::Written);
    out.offset += case.choices.draw(65);
    let (target, width) = ((&out, size_of::<R>()), size_of::<A>());
    let mut next = |broadcasts| operand(case, target, width, broadcasts);
    let a = if op.is_inplace { out.clone() } else { next(op.broadcasts_first) };
    let b = if op.is_unary { a.clone() } else { next(true) };
    case.note("result", format_args!("{} {out}", R::NAME));
    case.note("a", format_args!("{} {a}", A::NAME));
    case.note("b", format_args!("{} {b}", A::NAME));
    case.note("operands that overlap", if copies_first { "copied first" } else { "refused" });

    let bytes = (out.extent() * size_of::<R>()).max(a.extent().max(b.extent()) * size_of::<A>());
    let len = bytes.next_multiple_of(16) / size_of::<A>();
    let bits = case.bits();
    let elements: Vec<A> = (0..len).map(|i| A::of(bits(i), ValueKind::Any)).collect();
    let expected = expected(op, &elements, [&a, &b], &out);

    let refused = |why: Error| why.to_string();
    let storage = Tensor::from_vec(elements.clone(), [len]).map_err(refused)?;
    let [a_tensor, b_tensor] = [storage.with_layout(a.layout()), storage.with_layout(b.layout())];
    let (a_tensor, b_tensor) = (a_tensor.map_err(refused)?, b_tensor.map_err(refused)?);
    let out_tensor = storage.view_dtype::<R>().and_then(|all| all.with_layout(out.layout()));
    let out_tensor = out_tensor.map_err(refused)?;
    let done = setting.run(|exec| {
        let exec = if copies_first { exec.copying_first() } else { *exec };
        (op.run)(&exec, &a_tensor, &b_tensor, &out_tensor)
    });

    let relations = [&a, &b].map(|at| {
        let read = at.offsets_as(&out.shape);
        relation(&read, (at, size_of::<A>()), (&out, size_of::<R>()))
    });
    let after = storage.to_vec().map_err(refused)?;
    match done {
        Ok(()) if relations.contains(&Relation::Overlap) && !(copies_first && op.copies_first) => {
            Err("an operand that overlaps the result was not refused".to_owned())
        }
        Ok(()) => compare::<A, R>(&after, &expected, &out),
        Err(why) => match may_refuse(&why, &relations) {
            false => Err(format!("refused: {why}")),
            true if cast_slice::<A, u8>(&after) != cast_slice::<A, u8>(&elements) => {
                Err("refused, but written".to_owned())
            }
            true if copies_first && op.copies_first => Err(format!("not copied: {why}")),
            true => Ok(()),
        },
    }
}

fn reduced<A: Number + Pod, R: Number + Pod>(
    case: &mut Case<'_>,
    op: &SharedReduction<A, R>,
) -> Outcome {
    let setting = case.setting();
    let copies_first = case.choices.draw(2) == 1;
    let sizes = shape(&mut case.choices, &[size_of::<A>(), size_of::<R>()]);
    let a = Strided::draw(&mut case.choices, &sizes, size_of::<A>(), Use::Read);
    let (dims, is_reduced) = dims(case, sizes.len());
    let keepdim = case.choices.draw(2) == 1;
    let over =
        if keepdim { ReduceDims::from(&dims[..]).keepdim() } else { ReduceDims::from(&dims[..]) };
    let offsets = a.offsets_as(&sizes);
    let (groups, out_shape) = groups(&sizes, offsets, &is_reduced, keepdim);
    let out = reduction_output::<A, R>(case, &a, &out_shape);
    case.note("operation", format_args!("{} over {dims:?}, keepdim {keepdim}", op.name));
    case.note("a", format_args!("{} {a}", A::NAME));
    case.note("result", format_args!("{} {out}", R::NAME));
    case.note("an operand that overlaps", if copies_first { "copied first" } else { "refused" });
    // As PyTorch refuses it, also where the result has no elements.
    let mut reduced = sizes.iter().zip(&is_reduced).filter(|(_, is_reduced)| **is_reduced);
    let reduces_nothing = reduced.any(|(&len, _)| len == 0);
    if !op.has_empty && reduces_nothing {
        return Ok(());
    }

    let bytes = (out.extent() * size_of::<R>()).max(a.extent() * size_of::<A>());
    let len = bytes.next_multiple_of(16) / size_of::<A>();
    let bits = case.bits();
    let elements: Vec<A> = (0..len).map(|i| A::of(bits(i), ValueKind::Any)).collect();
    let mut expected = cast_slice::<A, u8>(&elements).to_vec();
    for (group, to) in groups.iter().zip(out.offsets()) {
        let group: Vec<A> = group.iter().map(|&at| elements[at]).collect();
        let result = (op.oracle)(&group);
        expected[to * size_of::<R>()..][..size_of::<R>()].copy_from_slice(bytes_of(&result));
    }

    let refused = |why: Error| why.to_string();
    let storage = Tensor::from_vec(elements.clone(), [len]).map_err(refused)?;
    let input = storage.with_layout(a.layout()).map_err(refused)?;
    let target = storage.view_dtype::<R>().and_then(|all| all.with_layout(out.layout()));
    let target = target.map_err(refused)?;
    let done = setting.run(|exec| {
        let exec = if copies_first { exec.copying_first() } else { *exec };
        (op.run)(&exec, &input, over, &target)
    });

    let relation = relation(&a.offsets(), (&a, size_of::<A>()), (&out, size_of::<R>()));
    let after = storage.to_vec().map_err(refused)?;
    match done {
        Ok(()) if relation == Relation::Overlap && !copies_first => {
            Err("an operand that overlaps the result was not refused".to_owned())
        }
        Ok(()) => compare::<A, R>(&after, &expected, &out),
        Err(why) if copies_first || !may_refuse(&why, &[relation]) => {
            Err(format!("refused: {why}"))
        }
        Err(_) if cast_slice::<A, u8>(&after) != cast_slice::<A, u8>(&elements) => {
            Err("refused, but written".to_owned())
        }
        Err(_) => Ok(()),
    }
}

/// The result of a reduction: the input itself if it has the right shape, within the input's
/// memory, or after it.
fn reduction_output<A, R>(case: &mut Case<'_>, a: &Strided, shape: &[usize]) -> Strided {
    let (width, into) = (size_of::<A>(), size_of::<R>());
    let mut out = Strided::draw(&mut case.choices, shape, into, Use::Written);
    let offset = case.choices.draw(65);
    match case.choices.draw(4) {
        0 if width == into && a.shape == shape && is_injective(a) => a.clone(),
        1 => Strided { offset: out.offset + offset, ..out },
        _ => {
            out.offset += (a.extent() * width).div_ceil(into) + offset;
            out
        }
    }
}

/// Do different indices have different offsets?
fn is_injective(at: &Strided) -> bool {
    let mut offsets = at.offsets();
    offsets.sort_unstable();
    offsets.windows(2).all(|pair| pair[0] != pair[1])
}

/// The expected bytes of the whole storage after the operation.
fn expected<A: Number + Pod, R: Number + Pod>(
    op: &Shared<A, R>,
    elements: &[A],
    operands: [&Strided; 2],
    out: &Strided,
) -> Vec<u8> {
    let mut bytes = cast_slice::<A, u8>(elements).to_vec();
    let [a, b] = operands.map(|at| at.offsets_as(&out.shape));
    for ((a, b), to) in a.into_iter().zip(b).zip(out.offsets()) {
        let result = (op.oracle)(elements[a], elements[b]);
        bytes[to * size_of::<R>()..][..size_of::<R>()].copy_from_slice(bytes_of(&result));
    }
    bytes
}

/// Compares results by value, as NaN has many bit patterns, and all other bytes.
fn compare<A: Pod, R: Number + Pod>(after: &[A], expected: &[u8], out: &Strided) -> Outcome {
    let mut found = cast_slice::<A, u8>(after).to_vec();
    for (number, to) in out.offsets().into_iter().enumerate() {
        let range = to * size_of::<R>()..(to + 1) * size_of::<R>();
        let [got, wanted] = [&found[range.clone()], &expected[range.clone()]]
            .map(bytemuck::pod_read_unaligned::<R>);
        if !got.agrees(wanted, 0) {
            let index = index_of(&out.shape, number);
            return Err(format!("at index {index:?}: expected {wanted:?}, found {got:?}"));
        }
        found[range.clone()].copy_from_slice(&expected[range]);
    }
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(at) => Err(format!("byte {at} of the storage, outside of the result, was changed")),
    }
}

/// Is this the error for an operand that overlaps, or that may overlap?
fn may_refuse(why: &Error, relations: &[Relation]) -> bool {
    let overlapping = [Relation::Overlap, Relation::SameOfAnotherShape];
    match why {
        Error::ReadWriteOverlap { overlap, .. } => {
            **overlap == Overlap::TooHard || relations.iter().any(|r| overlapping.contains(r))
        }
        _ => false,
    }
}
