//! A layout of a small array and a chain of calls on it, valid or not: the naive model agrees on
//! which calls are valid, on the offset of every element, and on the queries of order and overlap.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};
use tensor_fuzz::{Call, Naive, Stop, draw};
use tensor_kernels::Layout;

/// The largest number of calls of one chain.
const LONGEST: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    // If the bytes end early the chain is shorter.
    let _ = chain(&mut Unstructured::new(bytes));
});

fn chain(u: &mut Unstructured<'_>) -> Result<()> {
    let (shape, strides, offset) = draw::small(u)?;
    let made = Layout::new(&shape, &strides, offset);
    let Some(mut now) = agreed(made, Naive::strided(&shape, &strides, offset), "new") else {
        return Ok(());
    };
    for _ in 0..LONGEST {
        if u.is_empty() {
            break;
        }
        let (layout, naive) = &now;
        let call = Call::draw(u, layout)?;
        let rule = call.rule(naive, layout.offset());
        let of = format!("{call:?} of {layout:?}");
        if let Some(next) = agreed(call.apply(layout), rule, &of) {
            next.1.check_pair(&next.0, naive, layout);
            now = next;
        }
    }
    Ok(())
}

/// The layout and its model, if both accept the call and the model can be enumerated.
fn agreed(
    made: tensor_kernels::Result<Layout>,
    rule: std::result::Result<Naive, Stop>,
    what: &str,
) -> Option<(Layout, Naive)> {
    match (made, rule) {
        (Ok(layout), Ok(naive)) => {
            naive.check(&layout);
            Some((layout, naive))
        }
        (Err(_), Err(Stop::Refused)) | (Ok(_), Err(Stop::TooMany)) => None,
        (made, rule) => panic!("{what}: {made:?}, but the rule says {rule:?}"),
    }
}
