//! Simplifies a failing case by changes to its choices that preserve the failure.

/// Shortens and lowers the numbers while `fails` holds, with at most `attempts` calls of it.
pub(crate) fn shrunk(
    mut choices: Vec<u32>,
    mut attempts: usize,
    mut fails: impl FnMut(&[u32]) -> bool,
) -> Vec<u32> {
    loop {
        let before = choices.clone();
        let mut keep = |candidate: Vec<u32>, choices: &mut Vec<u32>| {
            if attempts == 0 || candidate == *choices {
                return false;
            }
            attempts -= 1;
            let kept = fails(&candidate);
            if kept {
                *choices = candidate;
            }
            kept
        };
        remove_spans(&mut choices, &mut keep);
        lower(&mut choices, &mut keep);
        if choices == before {
            return choices;
        }
    }
}

type Keep<'k> = &'k mut dyn FnMut(Vec<u32>, &mut Vec<u32>) -> bool;

/// Removes spans, or sets them to zero: long ones first, from the end.
fn remove_spans(choices: &mut Vec<u32>, keep: Keep<'_>) {
    let mut len = choices.len().next_power_of_two();
    while len > 0 {
        let mut start = choices.len();
        while start > 0 {
            start = start.saturating_sub(len);
            let span = start..(start + len).min(choices.len());
            let mut without = choices.clone();
            without.drain(span.clone());
            if !keep(without, choices) {
                let mut zeros = choices.clone();
                zeros[span].fill(0);
                keep(zeros, choices);
            }
        }
        len /= 2;
    }
}

/// Lowers single numbers by binary search.
fn lower(choices: &mut Vec<u32>, keep: Keep<'_>) {
    for i in 0..choices.len() {
        let mut low = 0;
        while let Some(&high) = choices.get(i).filter(|&&high| high > low) {
            let middle = low + (high - low) / 2;
            let mut lowered = choices.clone();
            lowered[i] = middle;
            if !keep(lowered, choices) {
                low = middle + 1;
            }
        }
    }
}
