//! Index tuples of every form of `s!` on a small array: which tuples are valid, and the elements
//! that they select, agree with Python's rules.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};
use tensor_fuzz::{Naive, Stop, draw, index};
use tensor_kernels::Layout;

fuzz_target!(|bytes: &[u8]| {
    let _ = tuples(&mut Unstructured::new(bytes));
});

fn tuples(u: &mut Unstructured<'_>) -> Result<()> {
    let (shape, strides, offset) = draw::small(u)?;
    let Ok(naive) = Naive::strided(&shape, &strides, offset) else { return Ok(()) };
    let layout = Layout::new(&shape, &strides, offset).expect("what the rule accepts");
    while !u.is_empty() {
        let items = index::tuple(u, layout.ndim())?;
        let rule = index::index(&naive, &items);
        match (layout.index(&index::as_given(&items)), rule) {
            (Ok(part), Ok(naive)) => naive.check(&part),
            (Err(_), Err(Stop::Refused)) => {}
            (part, rule) => panic!("{items:?} of {layout:?}: {part:?}, but the rule says {rule:?}"),
        }
    }
    Ok(())
}
