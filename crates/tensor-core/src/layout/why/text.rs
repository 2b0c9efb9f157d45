//! Refusals as text.

use std::fmt;

use super::{DimGroup, Layout, Remedy, StrideBreak, WhyNotContiguous, WhyNotView};

/// The calls, in Rust: `.permute([1, 0])?.view([2, 6])`.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = match self {
            Self::View { shape } => format!(".view(&{shape:?})"),
            Self::Permute { dims, shape: None } => format!(".permute(&{dims:?})"),
            Self::Permute { dims, shape: Some(shape) } => {
                format!(".permute(&{dims:?})?.view(&{shape:?})")
            }
            Self::CopyBlock { blocks: 1, source, repeated, shape, .. } => {
                let narrowed: String =
                    repeated.iter().map(|d| format!(".narrow({d}, 0, 1)?")).collect();
                format!("{narrowed}.contiguous()?.expand(&{source:?})?.view(&{shape:?})")
            }
            Self::CopyBlock { dims, source, repeated, block_shape, .. } => {
                let (selected, names) = one_block(dims, source, repeated);
                format!("{selected}.reshape(&{block_shape:?}) for all {names}")
            }
            Self::CopyAll { shape: None } => ".contiguous()".to_owned(),
            Self::CopyAll { shape: Some(shape) } => format!(".reshape(&{shape:?})"),
        };
        f.write_str(&calls)
    }
}

/// The calls that select one block, and the names of the indices that differ between blocks. The
/// last dimension comes first: the numbers of those before it stay as they are.
fn one_block(dims: &[usize], source: &[usize], repeated: &[usize]) -> (String, String) {
    let (mut calls, mut names) = (String::new(), Vec::new());
    for d in (0..source.len()).rev().filter(|d| !dims.contains(d)) {
        if source[d] == 1 || repeated.contains(&d) {
            calls += &format!(".select({d}, 0)?");
        } else {
            calls += &format!(".select({d}, i{d})?");
            names.insert(0, format!("i{d}"));
        }
    }
    (calls, names.join(", "))
}

/// Bytes, or elements if the width of one is not known.
fn amount(elements: usize, itemsize: Option<usize>) -> String {
    match (elements, itemsize) {
        (1, None) => "1 element".to_owned(),
        (_, None) => format!("{elements} elements"),
        (_, Some(width)) => format!("{} bytes", elements as u128 * width as u128),
    }
}

/// What a remedy costs, and what is special about it.
fn cost(remedy: &Remedy, layout: &Layout, itemsize: Option<usize>) -> String {
    let copied = remedy.copied(layout).map_or(0, |copied| copied.numel());
    let copied = amount(copied, itemsize);
    match remedy {
        Remedy::View { .. } => "no copy".to_owned(),
        Remedy::Permute { .. } => "no copy; the elements in the order of memory".to_owned(),
        Remedy::CopyBlock { blocks: 1, .. } => {
            format!("copies {copied}; dims of stride 0 go on repeating them")
        }
        Remedy::CopyBlock { blocks, block_shape, .. } => {
            let block = amount(block_shape.iter().product(), itemsize);
            format!("copies {blocks} blocks of {block}")
        }
        Remedy::CopyAll { .. } => format!("copies {copied}"),
    }
}

/// The lines that both kinds of refusals have.
struct Lines<'a> {
    layout: &'a Layout,
    groups: &'a [DimGroup],
    remedies: &'a [Remedy],
    itemsize: Option<usize>,
}

impl Lines<'_> {
    fn write_groups(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("contiguous among themselves: ")?;
        self.groups
            .iter()
            .enumerate()
            .try_for_each(|(i, group)| write!(f, "{}{group}", if i > 0 { " | " } else { "" }))?;
        f.write_str("\n")
    }

    fn write_remedies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("instead, the cheapest first:")?;
        self.remedies.iter().try_for_each(|remedy| {
            write!(f, "\n- {remedy}: {}", cost(remedy, self.layout, self.itemsize))
        })
    }
}

fn write_stride(f: &mut fmt::Formatter<'_>, at: StrideBreak) -> fmt::Result {
    writeln!(f, "stride of dim {} is {}, but {} would be needed", at.dim, at.found, at.expected)
}

impl fmt::Display for WhyNotView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, target, groups, target_dim, stride_break, remedies, itemsize } = self;
        let (shape, strides) = (layout.shape(), layout.strides());
        let lines = Lines { layout, groups, remedies, itemsize: *itemsize };
        let [before, after] = [stride_break.dim, stride_break.dim + 1];
        writeln!(f, "shape {shape:?} strides {strides:?} cannot be viewed as {target:?}")?;
        lines.write_groups(f)?;
        write!(f, "size {} of dim {target_dim} would span dims ", target[*target_dim])?;
        write!(f, "{before} and {after}: ")?;
        write_stride(f, *stride_break)?;
        lines.write_remedies(f)
    }
}

impl fmt::Display for WhyNotContiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, groups, stride_break, remedies, itemsize } = self;
        let (shape, strides) = (layout.shape(), layout.strides());
        let lines = Lines { layout, groups, remedies, itemsize: *itemsize };
        writeln!(f, "shape {shape:?} strides {strides:?} is not contiguous")?;
        lines.write_groups(f)?;
        write_stride(f, *stride_break)?;
        lines.write_remedies(f)
    }
}
