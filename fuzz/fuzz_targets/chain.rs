//! Chains of calls and index tuples as text: a syntax error is an error value, never a panic; view
//! operations are printed as they were parsed; `explain` describes a chain or refuses it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_bench::{
    cases::view_op::ViewOp,
    cmd::explain,
    input::chain::{Chain, Step, parse_index},
};

fuzz_target!(|text: &str| {
    match parse_index(text) {
        Ok(indices) => {
            let printed = ViewOp::Index(indices.clone()).to_string();
            let inside = printed.trim_start_matches('[').trim_end_matches(']');
            assert_eq!(parse_index(inside).as_deref(), Ok(&indices[..]), "{printed}");
        }
        Err(mistake) => assert!(!mistake.to_string().is_empty()),
    }
    match Chain::parse(text) {
        Ok(chain) => {
            print_again(&chain);
            let chain =
                explain::Args { chain: text.to_owned(), plan: false, html: None, overwrite: false };
            let _ = explain::run(&chain, &mut Vec::new());
        }
        Err(mistake) => assert!(!mistake.to_string().is_empty()),
    }
});

/// The text of a view operation parses to the same operation.
fn print_again(chain: &Chain) {
    for link in &chain.links {
        let Step::View(op) = &link.step else { continue };
        let again = Chain::parse(&format!("zeros(6){op}")).map(|chain| chain.links[0].step.clone());
        assert_eq!(again.as_ref(), Ok(&link.step), "{op}");
    }
}
