//! The axes of a pattern, numbered, and the rules of its operation: which axes may be on one side
//! only.

use std::collections::BTreeMap;

use tensor_core::{PatternRule, PatternSide};

use super::{
    parse::{Checked, Dim, Item, Kind, Refusal, Side, Span},
    pattern::{Axis, Operation, Pattern, Place},
};

/// Numbers the axes of the left side in their order, then those that are on the right side only.
pub(super) fn number(
    operation: Operation,
    text: &str,
    left: &Side,
    right: &Side,
) -> Checked<Pattern> {
    let mut numbers = Numbers { operation, text, axes: Vec::new(), names: BTreeMap::new() };
    let left_dims = numbers.left(left)?;
    let left_axes = numbers.axes.len();
    let right_dims = numbers.right(right)?;
    numbers.check_removed()?;
    numbers.check_ellipsis(left.ellipsis(), right.ellipsis())?;
    Ok(Pattern {
        operation,
        text: text.to_owned(),
        axes: numbers.axes,
        left_axes,
        left: left_dims,
        right: right_dims,
        left_span: left.span.clone(),
    })
}

struct Numbers<'t> {
    operation: Operation,
    text: &'t str,
    axes: Vec<Axis>,
    names: BTreeMap<&'t str, usize>,
}

impl<'t> Numbers<'t> {
    fn left(&mut self, side: &Side) -> Checked<Vec<Dim<usize>>> {
        numbered(side, |item| match self.names.get(self.text(&item.span)) {
            Some(_) => Err(self.duplicate(item)),
            None => self.add(item, side.side),
        })
    }

    fn right(&mut self, side: &Side) -> Checked<Vec<Dim<Place>>> {
        numbered(side, |item| {
            let axis = match (item.kind, self.names.get(self.text(&item.span))) {
                (Kind::Ellipsis, _) => return Ok(Place::Ellipsis),
                (_, None) => self.add(item, side.side)?,
                (_, Some(&axis)) if self.axes[axis].kept => return Err(self.duplicate(item)),
                (_, Some(&axis)) => axis,
            };
            self.axes[axis].kept = true;
            Ok(Place::Axis(axis))
        })
    }

    /// Adds an axis that the other side cannot have, or is not known to have.
    fn add(&mut self, item: &Item, side: PatternSide) -> Checked<usize> {
        let size = match item.kind {
            Kind::Number(size) => Some(size),
            Kind::Name | Kind::Ellipsis => None,
        };
        // The right side may still name an axis of the left one; it cannot name a number.
        let one_sided = size.is_some() || side == PatternSide::Right;
        if one_sided && !self.operation.allows_only(side) {
            return Err(self.one_sided(&item.span, size, side));
        }
        let axis = self.axes.len();
        if size.is_none() {
            self.names.insert(self.text(&item.span), axis);
        }
        self.axes.push(Axis { span: item.span.clone(), size, kept: false });
        Ok(axis)
    }

    /// Refuses axes that are on the left side only, unless the operation removes them.
    fn check_removed(&self) -> Checked<()> {
        match self.axes.iter().find(|axis| !axis.kept) {
            Some(removed) if !self.operation.allows_only(PatternSide::Left) => {
                Err(self.one_sided(&removed.span, None, PatternSide::Left))
            }
            _ => Ok(()),
        }
    }

    fn check_ellipsis(&self, left: Option<&Span>, right: Option<&Span>) -> Checked<()> {
        match (left, right) {
            (None, Some(at)) => Err(Refusal { at: at.clone(), rule: PatternRule::EllipsisOnRight }),
            (Some(at), None) if !self.operation.allows_only(PatternSide::Left) => {
                Err(self.one_sided(at, None, PatternSide::Left))
            }
            _ => Ok(()),
        }
    }

    fn one_sided(&self, span: &Span, size: Option<usize>, side: PatternSide) -> Refusal {
        let both = self.operation == Operation::Rearrange;
        let rule = match size {
            Some(size) => PatternRule::Unnamed { size, side },
            None => PatternRule::OneSide { name: self.text(span).to_owned(), side, both },
        };
        Refusal { at: span.clone(), rule }
    }

    fn duplicate(&self, item: &Item) -> Refusal {
        let name = self.text(&item.span).to_owned();
        Refusal { at: item.span.clone(), rule: PatternRule::Duplicate { name } }
    }

    fn text(&self, span: &Span) -> &'t str {
        &self.text[span.clone()]
    }
}

/// The dimensions of a side, with `number` of each axis.
fn numbered<A>(side: &Side, mut number: impl FnMut(&Item) -> Checked<A>) -> Checked<Vec<Dim<A>>> {
    let dim = |dim: &Dim<Item>| match dim {
        Dim::Ellipsis(span) => Ok(Dim::Ellipsis(span.clone())),
        Dim::Axes(items, span) => {
            let axes = items.iter().map(&mut number).collect::<Checked<_>>()?;
            Ok(Dim::Axes(axes, span.clone()))
        }
    };
    side.dims.iter().map(dim).collect()
}
