//! The meaning of a pattern, index by index.
//!
//! This reads well-formed patterns only, is told the sizes of all axes, and shares nothing with the
//! library.

use std::collections::{BTreeMap, HashMap};

/// The shape of the result, and for each of its elements, in row-major order, the elements of the
/// input that it is made of: one, or those that are reduced. They are positions in row-major order.
pub(crate) fn sources(
    pattern: &str,
    sizes: &BTreeMap<String, usize>,
    ellipsis: &[usize],
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let (left, right) = pattern.split_once("->").expect("an arrow");
    let (left, right) = (groups(left, "<", ellipsis.len()), groups(right, ">", ellipsis.len()));
    let size = |axis: &str| match axis.trim_start_matches(['<', '>']) {
        dots if dots.starts_with('.') => ellipsis[dots[1..].parse::<usize>().unwrap()],
        number_or_name => {
            let number = number_or_name.split('#').next().unwrap();
            number.parse().unwrap_or_else(|_| sizes[number_or_name])
        }
    };
    let shape = right.iter().map(|group| group.iter().map(|axis| size(axis)).product()).collect();
    let (input, result) = (left.concat(), right.concat());
    let reduced: Vec<String> =
        input.iter().filter(|axis| !result.contains(axis)).cloned().collect();
    let position = |at: &HashMap<&str, usize>| {
        input.iter().fold(0, |position, axis| position * size(axis) + at[&axis[..]])
    };
    let elements = indices(&result, &size);
    let element = |at: HashMap<&str, usize>| {
        indices(&reduced, &size)
            .map(|more| position(&at.clone().into_iter().chain(more).collect()))
            .collect()
    };
    (shape, elements.map(element).collect())
}

/// The axes of each dimension. Numbers and the dimensions of the ellipsis get names of their own.
fn groups(side: &str, mark: &str, ellipsis: usize) -> Vec<Vec<String>> {
    let (mut groups, mut in_group, mut numbers) = (Vec::<Vec<String>>::new(), false, 0);
    let spaced = side.replace('(', " ( ").replace(')', " ) ");
    for word in spaced.split_whitespace() {
        let axes: Vec<String> = match word {
            "(" | ")" => {
                in_group = word == "(";
                groups.extend(in_group.then(Vec::new));
                continue;
            }
            "1" => vec![],
            "..." => (0..ellipsis).map(|d| format!(".{d}")).collect(),
            number if number.parse::<usize>().is_ok() => {
                numbers += 1;
                vec![format!("{mark}{number}#{numbers}")]
            }
            name => vec![name.to_owned()],
        };
        match (in_group, word) {
            (true, _) => groups.last_mut().unwrap().extend(axes),
            (false, "...") => groups.extend(axes.into_iter().map(|axis| vec![axis])),
            (false, _) => groups.push(axes),
        }
    }
    groups
}

/// All indices of these axes, the last one fastest.
fn indices<'a>(
    axes: &'a [String],
    size: &impl Fn(&str) -> usize,
) -> impl Iterator<Item = HashMap<&'a str, usize>> {
    let sizes: Vec<usize> = axes.iter().map(|axis| size(axis)).collect();
    (0..sizes.iter().product()).map(move |mut n: usize| {
        let mut index = HashMap::new();
        for (axis, &size) in axes.iter().zip(&sizes).rev() {
            index.insert(&axis[..], n % size);
            n /= size;
        }
        index
    })
}

#[test]
fn sources_of_patterns_worked_out_on_paper() {
    let sizes = BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 3), ("c".to_owned(), 2)]);
    let one = |positions: &[usize]| positions.iter().map(|&p| vec![p]).collect::<Vec<_>>();
    for (pattern, ellipsis, shape, expected) in [
        ("a b -> b a", &[][..], vec![3, 2], one(&[0, 3, 1, 4, 2, 5])),
        ("a b -> (b a)", &[], vec![6], one(&[0, 3, 1, 4, 2, 5])),
        ("(a b) 1 -> () b a", &[], vec![1, 3, 2], one(&[0, 3, 1, 4, 2, 5])),
        ("a ... -> (... 2) a", &[2], vec![4, 2], one(&[0, 2, 0, 2, 1, 3, 1, 3])),
        ("a ... -> a ...", &[1, 2], vec![2, 1, 2], one(&[0, 1, 2, 3])),
        ("a b -> b", &[], vec![3], vec![vec![0, 3], vec![1, 4], vec![2, 5]]),
        ("(c 3) -> c", &[], vec![2], vec![vec![0, 1, 2], vec![3, 4, 5]]),
        ("... -> ", &[2, 2], vec![], vec![vec![0, 1, 2, 3]]),
    ] {
        assert_eq!(sources(pattern, &sizes, ellipsis), (shape, expected), "{pattern}");
    }
}
