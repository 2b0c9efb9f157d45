//! Each rule of a pattern, with the place that the error names.

use tensor_kernels::{
    Error, PatternError, PatternRule as Rule, PatternSide as Side, RearrangePattern, ReducePattern,
    Reduction, RepeatPattern, Result, Tensor, TensorExt,
};

fn error<T>(result: Result<T>) -> PatternError {
    match result.err().expect("a refusal") {
        Error::Pattern(error) => *error,
        other => panic!("{other}"),
    }
}

/// The text of a rule, its place in the pattern, and the rule.
#[track_caller]
fn check(error: &PatternError, op: &str, place: &str, at: usize, rule: &Rule) {
    assert_eq!((error.op, &error.rule), (op, rule), "{error}");
    assert_eq!((&error.pattern[error.at.clone()], error.at.start), (place, at), "{error}");
}

fn name(name: &str) -> String {
    name.to_owned()
}

#[test]
fn each_rule_of_the_text() {
    let one_sided = |axis, side| Rule::OneSide { name: name(axis), side, both: true };
    for (pattern, place, at, rule) in [
        ("a b", "", 3, Rule::Arrow { count: 0 }),
        ("a -> b -> c -> d", "->", 7, Rule::Arrow { count: 3 }),
        ("a é,b -> a", ",", 4, Rule::Character { found: ',' }),
        ("a\tb -> a b", "\t", 1, Rule::Character { found: '\t' }),
        ("a … -> a …", "…", 2, Rule::Character { found: '…' }),
        ("a --> a", "-", 2, Rule::Character { found: '-' }),
        ("a .. -> a", "..", 2, Rule::Dots { found: name("..") }),
        ("a... -> a", "a...", 0, Rule::Dots { found: name("a...") }),
        ("... a ... -> a", "...", 6, Rule::TwoEllipses),
        ("... -> (... ...)", "...", 12, Rule::TwoEllipses),
        ("(...) -> ...", "...", 1, Rule::EllipsisInParentheses),
        ("a -> (... a)", "...", 6, Rule::EllipsisOnRight),
        ("_a -> _a", "_a", 0, Rule::Name { name: name("_a") }),
        ("a_ -> a_", "a_", 0, Rule::Name { name: name("a_") }),
        ("a -> a 2d", "2d", 7, Rule::Name { name: name("2d") }),
        ("a 0 -> a", "0", 2, Rule::Number { number: name("0") }),
        (
            "a -> a 99999999999999999999",
            "99999999999999999999",
            7,
            Rule::Number { number: name("99999999999999999999") },
        ),
        ("a 2 -> a", "2", 2, Rule::Unnamed { size: 2, side: Side::Left }),
        ("a -> (3 a)", "3", 6, Rule::Unnamed { size: 3, side: Side::Right }),
        ("a -> ((a))", "(", 6, Rule::Nested),
        ("a -> (a", "(", 5, Rule::Unclosed),
        ("(a -> a", "(", 0, Rule::Unclosed),
        ("a -> a)", ")", 6, Rule::Unopened),
        ("a b a -> a b", "a", 4, Rule::Duplicate { name: name("a") }),
        ("a b -> a (b a)", "a", 12, Rule::Duplicate { name: name("a") }),
        ("a b -> b", "a", 0, one_sided("a", Side::Left)),
        ("a ... -> a", "...", 2, one_sided("...", Side::Left)),
        ("a b -> b a c", "c", 11, one_sided("c", Side::Right)),
    ] {
        check(&error(RearrangePattern::new(pattern)), "rearrange", place, at, &rule);
    }
}

#[test]
fn axes_that_only_another_operation_adds_or_removes() {
    let one_sided = |axis, side| Rule::OneSide { name: name(axis), side, both: false };
    let unnamed = |size, side| Rule::Unnamed { size, side };
    for (pattern, place, at, rule) in [
        ("a b -> a", "b", 2, one_sided("b", Side::Left)),
        ("a ... -> a", "...", 2, one_sided("...", Side::Left)),
        ("(a 2) -> a", "2", 3, unnamed(2, Side::Left)),
    ] {
        check(&error(RepeatPattern::new(pattern)), "repeat_axes", place, at, &rule);
    }
    for (pattern, place, at, rule) in [
        ("a -> a b", "b", 7, one_sided("b", Side::Right)),
        ("a -> ...", "...", 5, Rule::EllipsisOnRight),
        ("a -> (a 2)", "2", 8, unnamed(2, Side::Right)),
    ] {
        check(&error(ReducePattern::new(pattern)), "reduce", place, at, &rule);
    }
}

#[test]
fn each_rule_of_the_shape_and_the_sizes() {
    let x = Tensor::arange(0.0f32, 12.0, 1.0).unwrap().view([2, 6]).unwrap();
    let rank = |expected, at_least| Rule::Rank { expected, at_least, shape: vec![2, 6] };
    let not_divisible = |product| Rule::NotDivisible { dim: 1, size: 6, product, name: name("b") };
    for (pattern, sizes, place, at, rule) in [
        ("a -> a", &[][..], "a", 0, rank(1, false)),
        (" a b c  -> a b c", &[], "a b c", 1, rank(3, false)),
        ("a 1 ... b -> a ... b", &[], "a 1 ... b", 0, rank(3, true)),
        ("->", &[], "", 0, rank(0, false)),
        ("a b -> b a", &[("c", 2)], "a b -> b a", 0, Rule::UnknownAxis { name: name("c") }),
        ("a b -> b a", &[("", 2)], "a b -> b a", 0, Rule::UnknownAxis { name: name("") }),
        (
            "a b -> b a",
            &[("b", 6), ("b", 6)],
            "b",
            2,
            Rule::SizeTwice { name: name("b"), first: 6, second: 6 },
        ),
        (
            "a (b c 1 d) -> a b c d",
            &[("c", 2)],
            "(b c 1 d)",
            2,
            Rule::NotInferable { names: vec![name("b"), name("d")] },
        ),
        ("a b -> b a", &[("a", 3)], "a", 0, Rule::Mismatch { dim: 0, size: 2, product: 3 }),
        ("a () -> a", &[], "()", 2, Rule::Mismatch { dim: 1, size: 6, product: 1 }),
        (
            "a (b c) -> a b c",
            &[("b", 4), ("c", 2)],
            "(b c)",
            2,
            Rule::Mismatch { dim: 1, size: 6, product: 8 },
        ),
        ("a (b c) -> a b c", &[("c", 4)], "(b c)", 2, not_divisible(4)),
        ("a (b c) -> a b c", &[("c", 0)], "(b c)", 2, not_divisible(0)),
        (
            "a (b c d) -> a b c d",
            &[("c", usize::MAX), ("d", 2)],
            "(b c d)",
            2,
            not_divisible(usize::MAX),
        ),
    ] {
        check(&error(x.rearrange(pattern, sizes)), "rearrange", place, at, &rule);
    }
    let no_size = Rule::NoSize { name: name("c") };
    check(&error(x.repeat_axes("a b -> (a c) b", &[])), "repeat_axes", "c", 10, &no_size);
    let mismatch = Rule::Mismatch { dim: 1, size: 6, product: 4 };
    let reduced = x.reduce("a (2 b) -> a", Reduction::Sum, &[("b", 2)]);
    check(&error(reduced), "reduce", "(2 b)", 2, &mismatch);
}

#[test]
fn the_text_shows_the_rule_the_values_and_the_place() {
    let x = Tensor::arange(0u8, 12, 1).unwrap().view([2, 6]).unwrap();
    for (pattern, sizes, text) in [
        (
            "n (h w) -> n h w",
            &[("h", 4)][..],
            "rearrange: dimension 1 of the input has size 6, which is not divisible by 4 to give \
             the size of axis 'w'\n  n (h w) -> n h w\n    ^^^^^",
        ),
        (
            "n … -> … n",
            &[],
            "rearrange: unknown character '…': write an ellipsis as three dots\
             \n  n … -> … n\n    ^",
        ),
        (
            "n (größe w) -> n größe",
            &[],
            "rearrange: axis 'w' is on the left side only; it must be on both\
             \n  n (größe w) -> n größe\n           ^",
        ),
        (
            "n hw",
            &[],
            "rearrange: a pattern has one '->' between its sides, but this one has 0\
             \n  n hw\n      ^",
        ),
    ] {
        assert_eq!(x.rearrange(pattern, sizes).unwrap_err().to_string(), text);
    }
}

#[test]
fn a_function_must_give_the_axes_that_are_not_reduced() {
    let x = Tensor::arange(0.0f32, 12.0, 1.0).unwrap().view([2, 6]).unwrap();
    let refused = x.reduce_with("a (b 2) -> b a", &[], |x, _| x.sum(0)).unwrap_err();
    let expected = Error::OutputShape { op: "reduce", got: vec![2, 2], expected: vec![3, 2] };
    assert_eq!(refused, expected);
    let refused = x.reduce_with("a b -> a", &[], |x, _| x.select(0, 9)).unwrap_err();
    assert!(matches!(refused, Error::SelectIndex { index: 9, .. }));
}

#[test]
fn what_is_being_written_cannot_be_copied_but_viewed() {
    let x = Tensor::arange(0u8, 6, 1).unwrap().view([2, 3]).unwrap();
    let guard = x.write().unwrap();
    assert!(x.rearrange("a b -> b a", &[]).is_ok());
    let refused = x.rearrange("a b -> (b a)", &[]).unwrap_err();
    assert!(matches!(refused, Error::Borrowed { .. }), "{refused}");
    drop(guard);
}
