//! Random patterns, compared with the interpreter.
//!
//! Inputs are contiguous, permuted, flipped, or have steps. That a copy is made only where strides
//! cannot express the result is decided anew, from the offsets of all elements.

use std::{
    collections::HashMap,
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use tensor_kernels::{
    Error, Exec, RearrangePattern, ReducePattern, Reduction, RepeatPattern, Reshaped, Slice,
    Tensor, TensorExt, rearrange, reduce, repeat_axes,
};

use crate::interpreter::sources;

/// The number of random patterns, unless `TENSOR_DIFFERENTIAL_CASES` says otherwise.
const CASES: u64 = 4000;

/// More elements are not worth their time.
const MAX_ELEMENTS: usize = 500;

#[test]
fn random_patterns_agree_with_the_interpreter() {
    for number in cases() {
        let mut case = Case::drawn(&mut Random::new(number));
        reported(number, &case.pattern.clone(), || case.check());
    }
}

#[test]
fn damaged_patterns_are_refused_in_place_or_taken() {
    for number in cases() {
        let mut random = Random::new(number);
        let case = Case::drawn(&mut random);
        let pattern = damaged(&mut random, &case.pattern);
        let check = || {
            check_refusal(&pattern, RearrangePattern::new(&pattern).err());
            check_refusal(&pattern, RepeatPattern::new(&pattern).err());
            check_refusal(&pattern, ReducePattern::new(&pattern).err());
            let (x, sizes) = (case.input(), case.given());
            check_refusal(&pattern, x.rearrange(&pattern, &sizes).err());
            check_refusal(&pattern, x.repeat_axes(&pattern, &sizes).err());
            check_refusal(&pattern, x.reduce(&pattern, Reduction::Sum, &sizes).err());
        };
        reported(number, &pattern, check);
    }
}

fn cases() -> std::ops::Range<u64> {
    let number = |variable| env::var(variable).ok().map(|n| n.parse().expect("a number"));
    let first = number("TENSOR_DIFFERENTIAL_SEED").unwrap_or(0) << 32;
    first..first + number("TENSOR_DIFFERENTIAL_CASES").unwrap_or(CASES)
}

fn reported(number: u64, pattern: &str, check: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
        eprintln!("case {number}: {pattern:?}");
        resume_unwind(panic);
    }
}

fn check_refusal(pattern: &str, error: Option<Error>) {
    if let Some(Error::Pattern(error)) = error {
        assert_eq!(error.pattern, pattern);
        assert!(pattern.get(error.at.clone()).is_some(), "{error:?}");
        assert_eq!(error.to_string().lines().count(), 3, "{error}");
    }
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
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
enum Operation {
    Rearrange,
    Repeat,
    Reduce(Reduction),
}

/// How the input lies in memory.
#[derive(Clone)]
struct Memory {
    order: Vec<isize>,
    flipped: Vec<isize>,
    /// Only every n-th index of each dimension of the memory is used.
    step: usize,
}

struct Case {
    operation: Operation,
    pattern: String,
    sizes: HashMap<String, usize>,
    given: Vec<(String, usize)>,
    ellipsis: Vec<usize>,
    shape: Vec<usize>,
    memory: Memory,
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

const NAMES: [&str; 8] = ["a", "b", "height", "w1", "w_2", "\u{f6}", "Q", "x"];

impl Case {
    fn drawn(random: &mut Random) -> Self {
        loop {
            let case = Self::maybe_large(random);
            let repeats: usize = case.sizes.values().map(|&n| n.max(1)).product();
            if case.shape.iter().map(|&n| n.max(1)).product::<usize>() * repeats < MAX_ELEMENTS * 40
                && case.shape.iter().product::<usize>() <= MAX_ELEMENTS
            {
                return case;
            }
        }
    }

    fn maybe_large(random: &mut Random) -> Self {
        let operation = random.pick(&OPERATIONS);
        let mut names = NAMES.map(str::to_owned);
        random.shuffle(&mut names);
        let count = random.below(6);
        let (here, new) = names.split_at(count);
        let size = |name: &String, random: &mut Random| {
            (name.clone(), if random.percent(3) { 0 } else { random.pick(&[1, 2, 2, 3, 3, 4, 5]) })
        };
        let mut sizes: HashMap<_, _> = here.iter().map(|name| size(name, random)).collect();
        let ellipsis: Vec<usize> = (0..random.below(4)).map(|_| 1 + random.below(3)).collect();
        let has_ellipsis = random.percent(40);

        let mut left = here.to_vec();
        let mut right: Vec<String> = match operation {
            Operation::Reduce(_) => here.iter().filter(|_| random.percent(50)).cloned().collect(),
            _ => here.to_vec(),
        };
        match operation {
            Operation::Reduce(_) => left.extend(numbers(random)),
            Operation::Repeat => {
                right.extend(numbers(random));
                let added = &new[..random.below(3).min(new.len())];
                sizes.extend(added.iter().map(|name| size(name, random)));
                right.extend_from_slice(added);
            }
            Operation::Rearrange => {}
        }
        random.shuffle(&mut left);
        if random.percent(85) {
            random.shuffle(&mut right);
        }
        let mut left = grouped(random, &left);
        if has_ellipsis {
            left.insert(random.below(left.len() + 1), vec!["...".to_owned()]);
            if !matches!(operation, Operation::Reduce(_)) || random.percent(70) {
                right.insert(random.below(right.len() + 1), "...".to_owned());
            }
        }
        let right = grouped(random, &right);
        let of = |axis: &String| sizes.get(axis).copied().unwrap_or_else(|| axis.parse().unwrap());
        let shape: Vec<usize> = left
            .iter()
            .flat_map(|group| match &group[..] {
                [dots] if dots == "..." => ellipsis.clone(),
                group => vec![group.iter().map(of).product()],
            })
            .collect();
        let pattern = format!("{}->{}", text(random, &left), text(random, &right));
        let mut given = given(random, &left, &sizes);
        given.extend(
            sizes.iter().filter(|(name, _)| new.contains(name)).map(|(n, &s)| (n.clone(), s)),
        );
        let memory = Memory::drawn(random, shape.len());
        Self { operation, pattern, sizes, given, ellipsis, shape, memory }
    }

    fn given(&self) -> Vec<(&str, usize)> {
        self.given.iter().map(|(name, size)| (&name[..], *size)).collect()
    }

    /// The value of each element is its position; for products it is a power of two, so that they
    /// are exact.
    fn value(&self, position: usize) -> f64 {
        match self.operation {
            Operation::Reduce(Reduction::Prod) => [1.0, 2.0, 0.5][position % 3],
            _ => position as f64,
        }
    }

    fn input(&self) -> Tensor<f64> {
        let shape: Vec<isize> = self.shape.iter().map(|&n| n as isize).collect();
        let values = (0..self.shape.iter().product()).map(|at| self.value(at)).collect();
        self.memory.laid_out(&Tensor::from_vec(values, &self.shape).unwrap().view(&shape).unwrap())
    }

    fn check(&mut self) {
        let (shape, sources) = sources(&self.pattern, &self.sizes, &self.ellipsis);
        let x = self.input();
        match self.operation {
            Operation::Reduce(reduction) => self.check_reduced(&x, reduction, &shape, &sources),
            _ => self.check_rearranged(&x, &shape, &sources),
        }
    }

    fn check_rearranged(&self, x: &Tensor<f64>, shape: &[usize], sources: &[Vec<usize>]) {
        let (exec, guard) = (Exec::current().unwrap(), x.read().unwrap());
        let view = guard.as_view();
        let (y, of_view) = match self.operation {
            Operation::Repeat => (
                x.repeat_axes(&self.pattern, &self.given()),
                repeat_axes(exec, &view, &self.pattern, &self.given()),
            ),
            _ => (
                x.rearrange(&self.pattern, &self.given()),
                rearrange(exec, &view, &self.pattern, &self.given()),
            ),
        };
        let (y, of_view) = (y.unwrap(), of_view.unwrap());
        let expected: Vec<f64> = sources.iter().map(|from| self.value(from[0])).collect();
        assert_eq!((y.shape(), y.to_vec().unwrap()), (shape, expected));
        self.check_copied(x, &y, sources);
        assert_eq!((of_view.layout(), of_view.copied()), (y.layout(), y.copied()));
        assert_eq!(of_view.to_vec(), y.to_vec());
    }

    /// It is a view if and only if the offsets of its elements are those of some strides.
    fn check_copied(&self, x: &Tensor<f64>, y: &Reshaped<f64>, sources: &[Vec<usize>]) {
        assert_eq!(y.copied(), !y.same_storage(x));
        let offsets: Vec<usize> = x.layout().offsets().collect();
        let wanted: Vec<usize> = sources.iter().map(|from| offsets[from[0]]).collect();
        assert_eq!(y.copied(), !is_strided(y.shape(), &wanted), "{:?} -> {:?}", x, y.shape());
        if y.copied() {
            assert!(y.is_contiguous());
        } else {
            assert_eq!(y.layout().offsets().collect::<Vec<_>>(), wanted);
        }
    }

    fn check_reduced(
        &self,
        x: &Tensor<f64>,
        reduction: Reduction,
        shape: &[usize],
        sources: &[Vec<usize>],
    ) {
        let y = x.reduce(&self.pattern, reduction, &self.given());
        let view = x.read().unwrap();
        let exec = Exec::current().unwrap();
        let of_view = reduce(exec, &view.as_view(), &self.pattern, reduction, &self.given());
        let ordered = matches!(reduction, Reduction::Min | Reduction::Max);
        if ordered && self.reduces_nothing() {
            assert!(matches!(y, Err(Error::ReduceEmpty { .. })));
            assert!(matches!(of_view, Err(Error::ReduceEmpty { .. })));
            return;
        }
        let expected: Vec<u64> = sources.iter().map(|from| self.reduced(reduction, from)).collect();
        for y in [y.unwrap(), of_view.unwrap()] {
            let bits: Vec<u64> = y.to_vec().unwrap().into_iter().map(bits).collect();
            assert_eq!((y.shape(), &bits), (shape, &expected));
            assert!(y.is_contiguous());
        }
    }

    /// Has a reduced axis size 0? PyTorch refuses this, even if the result has no elements either.
    fn reduces_nothing(&self) -> bool {
        let right = self.pattern.split("->").nth(1).unwrap();
        let words: Vec<&str> = right.split([' ', '(', ')']).collect();
        self.sizes.iter().any(|(name, &size)| size == 0 && !words.contains(&&name[..]))
    }

    fn reduced(&self, reduction: Reduction, from: &[usize]) -> u64 {
        let values = from.iter().map(|&position| self.value(position));
        bits(match reduction {
            Reduction::Min => values.fold(f64::INFINITY, f64::min),
            Reduction::Max => values.fold(f64::NEG_INFINITY, f64::max),
            Reduction::Sum => values.sum::<f64>() + 0.0,
            Reduction::Mean => (values.sum::<f64>() + 0.0) / from.len() as f64,
            Reduction::Prod => values.product(),
        })
    }
}

/// The bits, the same for every NaN.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
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

/// Axes of a size, without a name.
fn numbers(random: &mut Random) -> Vec<String> {
    (0..random.below(3)).map(|_| random.pick(&["2", "3"]).to_owned()).collect()
}

/// The axes in groups, some of them empty.
fn grouped(random: &mut Random, axes: &[String]) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
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

fn text(random: &mut Random, groups: &[Vec<String>]) -> String {
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
    groups: &[Vec<String>],
    sizes: &HashMap<String, usize>,
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

/// The pattern with one character removed, added or changed.
fn damaged(random: &mut Random, pattern: &str) -> String {
    let mut characters: Vec<char> = pattern.chars().collect();
    let at = random.below(characters.len());
    let put = random.pick(&['(', ')', ' ', '.', '_', '-', '>', '0', '1', '2', 'a', 'x', '\u{e9}']);
    match random.below(4) {
        0 => _ = characters.remove(at),
        1 => characters[at] = put,
        2 => characters.insert(at, put),
        _ => {
            characters.insert(at, random.pick(&['\u{2026}', '\n', '\u{0}', '\u{1F980}', '\u{301}']))
        }
    }
    characters.into_iter().collect()
}

/// Are these offsets, in row-major order of a shape, those of some strides?
fn is_strided(shape: &[usize], offsets: &[usize]) -> bool {
    if offsets.is_empty() {
        return true;
    }
    let steps = |d: usize| shape[d + 1..].iter().product::<usize>();
    let start = offsets[0] as isize;
    let stride = |d: usize| match shape[d] {
        1 => 0,
        _ => offsets[steps(d)] as isize - start,
    };
    let strides: Vec<isize> = (0..shape.len()).map(stride).collect();
    offsets.iter().enumerate().all(|(at, &offset)| {
        let reached = (0..shape.len()).map(|d| (at / steps(d) % shape[d]) as isize * strides[d]);
        offset as isize == start + reached.sum::<isize>()
    })
}
