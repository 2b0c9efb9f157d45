//! The machine for which the copy that computes is planned.

use std::borrow::Cow;

use tensor_core::Layout;

use crate::{exec::Machine, tuning::MAX_LARGE_FINISHED_SIDE};

/// The same machine, but one that streams no result if there are several inputs, and few rows or
/// columns to transpose, as the channels of an image: result and inputs are then few runs of
/// memory, each read or written in its order.
pub(super) fn machine_in_registers<'m, const N: usize>(
    layouts: &[&Layout; N],
    width: usize,
    machine: &'m Machine,
) -> Cow<'m, Machine> {
    let is_large = N > 2 && layouts[0].numel().saturating_mul(width) >= machine.stream;
    match is_large && layouts.iter().copied().any(has_short_rows) {
        true => Cow::Owned(Machine { stream: usize::MAX, ..*machine }),
        false => Cow::Borrowed(machine),
    }
}

/// Is an operand, which is not broadcast, adjacent along a short dimension?
fn has_short_rows(layout: &Layout) -> bool {
    let mut dims = layout.strides().iter().zip(layout.shape()).filter(|(_, len)| **len > 1);
    let is_short = |len: usize| len <= MAX_LARGE_FINISHED_SIDE;
    dims.clone().all(|(&stride, _)| stride != 0)
        && dims.any(|(&stride, &len)| stride == 1 && is_short(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_results_of_few_channels_are_not_streamed() {
        let machine = Machine { stream: 1 << 20, ..Machine::REFERENCE };
        let streams = |channels: usize, pixels: usize| {
            let planes = Layout::contiguous([channels, pixels]).unwrap();
            let image = Layout::contiguous([pixels, channels]).unwrap().t().unwrap();
            let bias = Layout::contiguous([channels, 1]).unwrap();
            let bias = bias.expand([channels as isize, pixels as isize]).unwrap();
            let of = |inputs: [&Layout; 2]| {
                let layouts = [&planes, inputs[0], inputs[1]];
                machine_in_registers(&layouts, 4, &machine).stream == machine.stream
            };
            assert_eq!(of([&image, &planes]), of([&planes, &image]));
            assert_eq!(machine_in_registers(&[&planes, &image], 4, &machine).stream, 1 << 20);
            assert!(of([&planes, &bias]), "nothing is transposed");
            of([&image, &planes])
        };
        assert!(!streams(4, 100_000) && !streams(7, 100_000));
        assert!(streams(8, 100_000) && streams(4, 10_000));
    }
}
