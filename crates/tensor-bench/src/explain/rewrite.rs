//! What to write in place of a call that copies, or that is refused: calls that can be put into the
//! chain, each with its cost.

use tensor_kernels::{Error, Layout, Remedy, WhyNotContiguous, WhyNotView};

use super::State;
use crate::{
    cases::view_op::ViewOp,
    input::chain::{Link, Step},
    output::render::{bytes, tuple},
};

/// Something else to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Calls of a chain, or what to do in words.
    pub calls: String,
    /// What it costs, and how its result differs.
    pub cost: String,
}

/// In place of the first of these calls, which copies. The others come after it.
pub(super) fn of(state: &State, links: &[Link]) -> Vec<Rewrite> {
    let Some((link, rest)) = links.split_first() else { return Vec::new() };
    match &link.step {
        Step::View(_) => Vec::new(),
        Step::ViewOrCopy(op) => {
            let copied =
                |remedy: &&Remedy| remedy.copied(&state.layout).map(|copied| copied.numel());
            of_view(state, op, |remedy| copied(remedy).is_ok_and(|n| n < state.layout.numel()))
        }
        Step::Contiguous => of_contiguous(state, rest),
    }
}

/// In place of a call that is refused.
pub(super) fn of_refusal(state: &State, step: &Step) -> Vec<Rewrite> {
    match step {
        Step::View(op @ (ViewOp::View(_) | ViewOp::Flatten(..))) => of_view(state, op, |_| true),
        _ => Vec::new(),
    }
}

fn of_view(state: &State, op: &ViewOp, wanted: impl Fn(&&Remedy) -> bool) -> Vec<Rewrite> {
    let Ok(Some(why)) = why_not(state, op) else { return Vec::new() };
    let remedies = why.remedies().iter().filter(wanted);
    remedies.filter_map(|remedy| of_remedy(state, remedy).ok()).collect()
}

/// Why the shape that an operation gives cannot be a view.
fn why_not(state: &State, op: &ViewOp) -> Result<Option<WhyNotView>, Error> {
    let target = op.apply(&state.dense()?)?;
    let sizes: Vec<isize> = target.shape().iter().map(|&size| size as isize).collect();
    state.layout.why_not_view(&sizes)
}

/// A view of the strides alone, or a permutation, and the copies that the rest of the chain makes
/// without `contiguous()`.
fn of_contiguous(state: &State, rest: &[Link]) -> Vec<Rewrite> {
    let mut rewrites: Vec<Rewrite> = left_out(state, rest).into_iter().collect();
    let why = state.layout.why_not_contiguous();
    let permutes = why.as_ref().map_or(&[][..], WhyNotContiguous::remedies).iter();
    let permutes = permutes.filter(|remedy| matches!(remedy, Remedy::Permute { .. }));
    rewrites.extend(permutes.filter_map(|remedy| of_remedy(state, remedy).ok()));
    rewrites
}

fn left_out(state: &State, rest: &[Link]) -> Option<Rewrite> {
    let dense = state.step(&Step::Contiguous).ok()?;
    let (before, after) = (1 + copies(&dense, rest)?, copies(state, rest)?);
    let cost = match (after, rest.len()) {
        (0, 0) => "no copy; operations of this library read any strides".to_owned(),
        (0, _) => "no copy; the calls after it work on the view".to_owned(),
        _ if after < before => format!("{after} of {before} copies; the calls after it work, too"),
        _ => return None,
    };
    Some(Rewrite { calls: "leave contiguous() out".to_owned(), cost })
}

/// The copies that calls make; `None` if one is refused.
fn copies(state: &State, links: &[Link]) -> Option<usize> {
    let mut state = state.clone();
    let mut count = 0;
    for link in links {
        state = state.step(&link.step).ok()?;
        count += usize::from(state.origin.is_copy());
    }
    Some(count)
}

fn of_remedy(state: &State, remedy: &Remedy) -> Result<Rewrite, Error> {
    let copied = remedy.copied(&state.layout)?;
    Ok(Rewrite { calls: calls(state, remedy), cost: cost(state, remedy, &copied) })
}

/// The calls of a way out, as a chain writes them: without the marks that Rust needs.
fn calls(state: &State, remedy: &Remedy) -> String {
    match remedy {
        Remedy::View { shape } if shape == state.layout.shape() => {
            format!("keep the shape {}", tuple(shape))
        }
        _ => remedy.to_string().replace("(&[", "(").replace("])", ")").replace('?', ""),
    }
}

fn cost(state: &State, remedy: &Remedy, copied: &Layout) -> String {
    let size = |elements: usize| bytes(elements as u128 * state.dtype.size() as u128);
    let copied = size(copied.numel());
    match remedy {
        Remedy::View { .. } => "no copy".to_owned(),
        Remedy::Permute { .. } => "no copy; the elements come in the order of memory".to_owned(),
        Remedy::CopyBlock { blocks: 1, .. } => {
            format!("copies {copied}; dimensions of stride 0 go on repeating them")
        }
        Remedy::CopyBlock { blocks, block_shape, .. } => {
            let block = size(block_shape.iter().product());
            format!("copies {blocks} blocks of {block}")
        }
        _ => format!("copies {copied}"),
    }
}

/// Why a reshape copies or a view is refused: the dimensions that the new one would span.
pub(super) fn reason(state: &State, step: &Step) -> Option<String> {
    let (Step::View(op) | Step::ViewOrCopy(op)) = step else { return None };
    let why = why_not(state, op).ok()??;
    let (at, size) = (why.stride_break(), why.target()[why.target_dim()]);
    Some(format!(
        "size {size} of dimension {} would span dimensions {} and {}: dimension {} has stride {}, \
         but {} would be needed",
        why.target_dim(),
        at.dim(),
        at.dim() + 1,
        at.dim(),
        at.found(),
        at.expected()
    ))
}
