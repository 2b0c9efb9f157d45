//! Draws patterns with the sizes of their axes, and inputs for them.

use std::collections::BTreeMap;

use tensor_kernels::{Reduction, Slice, Tensor, TensorMutExt};

/// More elements are not worth their time.
const MAX_ELEMENTS: usize = 500;

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.below(2);
        random
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Operation {
    Rearrange,
    Repeat,
    Reduce(Reduction),
}

const OPERATIONS: [Operation; 8] = [
    Operation::Rearrange,
    Operation::Rearrange,
    Operation::Repeat,
    Operation::Reduce(Reduction::Min),
    Operation::Reduce(Reduction::Max),
    Operation::Reduce(Reduction::Sum),
    Operation::Reduce(Reduction::Mean),
    Operation::Reduce(Reduction::Prod),
];

const NAMES: [&str; 8] = ["a", "b", "height", "w1", "w_2", "ö", "Q", "x"];

pub(crate) struct Case {
    pub(crate) operation: Operation,
    pub(crate) pattern: String,
    /// The sizes of all named axes.
    pub(crate) sizes: BTreeMap<String, usize>,
    /// Those that are given in the call.
    given: Vec<(String, usize)>,
    /// The sizes of the dimensions of the ellipsis.
    pub(crate) ellipsis: Vec<usize>,
    /// The shape of the input.
    shape: Vec<usize>,
    memory: Memory,
}

impl Case {
    pub(crate) fn drawn(random: &mut Random) -> Self {
        loop {
            let case = Self::of_any_size(random);
            if case.shape.iter().product::<usize>() <= MAX_ELEMENTS {
                return case;
            }
        }
    }

    fn of_any_size(random: &mut Random) -> Self {
        let operation = random.pick(&OPERATIONS);
        let ellipsis: Vec<usize> = (0..random.below(4)).map(|_| size(random)).collect();
        let (names, mut sizes) = named(random, 6);
        let (left, mut right) = sides(random, operation, &names);
        if operation == Operation::Repeat {
            right.extend(numbers(random));
            right.extend(new_axes(random, &mut sizes));
            random.shuffle(&mut right);
        }
        let (left, right) = grouped_sides(random, operation, &left, &right);
        let shape = shape(&left, &sizes, &ellipsis);
        let pattern = format!("{}->{}", text(random, &left), text(random, &right));
        let mut given = given(random, &left, &sizes);
        let new = sizes.iter().filter(|(name, _)| !names.contains(name));
        given.extend(new.map(|(name, &size)| (name.clone(), size)));
        let memory = Memory::drawn(random, shape.len());
        Self { operation, pattern, sizes, given, ellipsis, shape, memory }
    }

    pub(crate) fn given(&self) -> Vec<(&str, usize)> {
        self.given.iter().map(|(name, size)| (&name[..], *size)).collect()
    }

    /// The value of each element is its position; for products it is a power of two, so that they
    /// are exact.
    pub(crate) fn value(&self, position: usize) -> f64 {
        match self.operation {
            Operation::Reduce(Reduction::Prod) => [1.0, 2.0, 0.5][position % 3],
            _ => position as f64,
        }
    }

    pub(crate) fn input(&self) -> Tensor<f64> {
        let shape: Vec<isize> = self.shape.iter().map(|&n| n as isize).collect();
        let values = (0..self.shape.iter().product()).map(|at| self.value(at)).collect();
        self.memory.laid_out(&Tensor::from_vec(values, &self.shape).unwrap().view(&shape).unwrap())
    }
}

/// How the input lies in memory.
struct Memory {
    order: Vec<isize>,
    flipped: Vec<isize>,
    /// Only every n-th index of each dimension of the memory is used.
    step: usize,
}

impl Memory {
    fn drawn(random: &mut Random, rank: usize) -> Self {
        let mut order: Vec<isize> = (0..rank as isize).collect();
        if random.percent(50) {
            random.shuffle(&mut order);
        }
        let flipped = (0..rank as isize).filter(|_| random.percent(10)).collect();
        Self { order, flipped, step: if random.percent(20) { 2 } else { 1 } }
    }

    /// The same elements in this memory.
    fn laid_out(&self, x: &Tensor<f64>) -> Tensor<f64> {
        let permuted = x.permute(&self.order).unwrap();
        let doubled: Vec<usize> = permuted.shape().iter().map(|&n| n * self.step).collect();
        let mut memory = Tensor::zeros(&doubled).unwrap();
        for dim in 0..self.order.len() as isize {
            let slice = Slice::new(None, None, self.step as isize);
            memory = memory.slice(dim, slice).unwrap();
        }
        let mut inverse = self.order.clone();
        for (at, &dim) in self.order.iter().enumerate() {
            inverse[dim as usize] = at as isize;
        }
        let laid_out = memory.permute(&inverse).unwrap().flip(&self.flipped).unwrap();
        laid_out.copy_from(x).unwrap();
        laid_out
    }
}

fn size(random: &mut Random) -> usize {
    if random.percent(3) { 0 } else { random.pick(&[1, 2, 2, 3, 3, 4, 5]) }
}

/// Fewer than `limit` names, and sizes for them.
fn named(random: &mut Random, limit: usize) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut names = NAMES.map(str::to_owned);
    random.shuffle(&mut names);
    let names = names[..random.below(limit)].to_vec();
    let sizes = names.iter().map(|name| (name.clone(), size(random))).collect();
    (names, sizes)
}

/// The axes of both sides.
fn sides(
    random: &mut Random,
    operation: Operation,
    names: &[String],
) -> (Vec<String>, Vec<String>) {
    let (mut left, mut right) = (names.to_vec(), names.to_vec());
    if matches!(operation, Operation::Reduce(_)) {
        right.retain(|_| random.percent(50));
        left.extend(numbers(random));
        random.shuffle(&mut left);
    }
    if random.percent(85) {
        random.shuffle(&mut right);
    }
    (left, right)
}

/// Axes that are on the right side only.
fn new_axes(random: &mut Random, sizes: &mut BTreeMap<String, usize>) -> Vec<String> {
    let unused = NAMES.iter().filter(|&&name| !sizes.contains_key(name));
    let new: Vec<String> = unused.take(random.below(3)).map(|&name| name.to_owned()).collect();
    sizes.extend(new.iter().map(|name| (name.clone(), 1 + random.below(3))));
    new
}

type Groups = Vec<Vec<String>>;

/// The axes of both sides in groups, some of them with an ellipsis.
fn grouped_sides(
    random: &mut Random,
    operation: Operation,
    left: &[String],
    right: &[String],
) -> (Groups, Groups) {
    let (mut left, mut right) = (grouped(random, left), right.to_vec());
    if random.percent(40) {
        left.insert(random.below(left.len() + 1), vec!["...".to_owned()]);
        if !matches!(operation, Operation::Reduce(_)) || random.percent(70) {
            right.insert(random.below(right.len() + 1), "...".to_owned());
        }
    }
    (left, grouped(random, &right))
}

fn shape(left: &Groups, sizes: &BTreeMap<String, usize>, ellipsis: &[usize]) -> Vec<usize> {
    let size = |axis: &String| match sizes.get(axis) {
        Some(&size) => size,
        None => axis.parse().expect("a number"),
    };
    let dims = |group: &Vec<String>| match &group[..] {
        [dots] if dots == "..." => ellipsis.to_vec(),
        group => vec![group.iter().map(size).product()],
    };
    left.iter().flat_map(dims).collect()
}

/// Axes of a size, without a name.
fn numbers(random: &mut Random) -> Vec<String> {
    (0..random.below(3)).map(|_| random.pick(&["2", "3"]).to_owned()).collect()
}

/// The axes in groups, some of them empty.
fn grouped(random: &mut Random, axes: &[String]) -> Groups {
    let mut groups: Groups = Vec::new();
    for axis in axes {
        match groups.last_mut() {
            Some(group) if random.percent(45) => group.push(axis.clone()),
            _ => groups.push(vec![axis.clone()]),
        }
    }
    if random.percent(25) {
        groups.insert(random.below(groups.len() + 1), Vec::new());
    }
    groups
}

fn text(random: &mut Random, groups: &Groups) -> String {
    let mut text = String::new();
    for group in groups {
        let spaces = random.pick(&[" ", "  "]);
        let parenthesised = group.len() > 1 || (random.percent(15) && group[..] != ["..."]);
        text += &match &group[..] {
            [] => random.pick(&[" 1 ", "()", "( 1 )", "(1 1)"]).to_owned(),
            group if parenthesised => format!("({})", group.join(spaces)),
            group => format!(" {} ", group[0]),
        };
        text += random.pick(&["", " "]);
    }
    text
}

/// Sizes of all but one axis of each group, and sometimes of all.
fn given(
    random: &mut Random,
    groups: &Groups,
    sizes: &BTreeMap<String, usize>,
) -> Vec<(String, usize)> {
    let mut given = Vec::new();
    for group in groups {
        let named: Vec<&String> = group.iter().filter(|axis| sizes.contains_key(*axis)).collect();
        // Beside an axis of size 0 none can be inferred.
        let spare = named.get(random.below(named.len())).copied();
        let zero_beside = named.iter().any(|&axis| sizes[axis] == 0 && Some(axis) != spare);
        let all = zero_beside || random.percent(10);
        given.extend(named.into_iter().filter(|&axis| all || Some(axis) != spare).cloned());
    }
    random.shuffle(&mut given);
    given.into_iter().map(|axis| (axis.clone(), sizes[&axis])).collect()
}

/// An ellipsis in one character, controls, four bytes, a combining accent.
const FOREIGN: [char; 5] = ['\u{2026}', '\n', '\0', '\u{1F980}', '\u{301}'];

/// The pattern with one character removed, added or changed.
pub(crate) fn damaged(random: &mut Random, pattern: &str) -> String {
    let mut characters: Vec<char> = pattern.chars().collect();
    let at = random.below(characters.len());
    let put = random.pick(&['(', ')', ' ', '.', '_', '-', '>', '0', '1', '2', 'a', 'x', '\u{e9}']);
    match random.below(4) {
        0 => drop(characters.splice(at..=at, None)),
        1 => characters[at] = put,
        2 => characters.insert(at, put),
        _ => characters.insert(at, random.pick(&FOREIGN)),
    }
    characters.into_iter().collect()
}
