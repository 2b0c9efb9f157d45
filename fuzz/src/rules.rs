//! The meaning of each call on the naive model, by the rule in PyTorch's documentation.

use crate::{
    Call, Naive, Ruled, Stop,
    index::{self, Selection},
};

/// A dimension counted from either end of `range`.
fn wrap(dim: isize, range: usize) -> Result<usize, Stop> {
    let wrapped = if dim < 0 { dim as i128 + range as i128 } else { dim as i128 };
    let is_in_range = (0..range as i128).contains(&wrapped);
    if is_in_range { Ok(wrapped as usize) } else { Err(Stop::Refused) }
}

fn refuse_unless(holds: bool) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Refused) }
}

/// Dimensions counted from the front, without repetition.
fn distinct(dims: &[isize], range: usize) -> Result<Vec<usize>, Stop> {
    let wrapped = dims.iter().map(|&dim| wrap(dim, range)).collect::<Result<Vec<_>, _>>()?;
    let twice = |(at, dim)| wrapped[..at].contains(dim);
    refuse_unless(!wrapped.iter().enumerate().any(twice))?;
    Ok(wrapped)
}

impl Call {
    /// The model of the result. `own_offset` is the layout's offset, the default of `as_strided`.
    ///
    /// # Errors
    /// Arguments that the rule refuses, and more elements than [`LIMIT`](crate::LIMIT).
    pub fn rule(&self, naive: &Naive, own_offset: usize) -> Ruled {
        let rank = naive.rank();
        // A tensor without dimensions counts as having one.
        let scalar = |dim: isize| wrap(dim, rank.max(1));
        match self {
            Call::Transpose(a, b) => naive.transposed(scalar(*a)?, scalar(*b)?),
            Call::T => match rank {
                0 | 1 => Ok(naive.clone()),
                2 => naive.transposed(0, 1),
                _ => Err(Stop::Refused),
            },
            Call::Permute(dims) => {
                refuse_unless(dims.len() == rank)?;
                naive.reordered(&distinct(dims, rank)?)
            }
            Call::MoveDim(from, to) => naive.moved(from, to),
            Call::Flip(dims) => distinct(dims, rank.max(1))?
                .into_iter()
                .filter(|&d| d < rank)
                .try_fold(naive.clone(), |naive, d| naive.sliced(d, None, None, -1)),
            Call::Narrow(dim, start, len) => naive.narrowed(wrap(*dim, rank)?, *start, *len),
            Call::Select(dim, at) => naive.selected(wrap(*dim, rank)?, *at),
            Call::Slice(dim, slice) => {
                let wide = |bound: Option<isize>| bound.map(|bound| bound as i128);
                let (start, end) = (wide(slice.start), wide(slice.end));
                naive.sliced(wrap(*dim, rank)?, start, end, slice.step as i128)
            }
            Call::Index(items) => index::index(naive, items),
            Call::Unsqueeze(dim) => {
                let mut shape = naive.shape.clone();
                shape.insert(wrap(*dim, rank + 1)?, 1);
                naive.with_shape(shape)
            }
            Call::Squeeze => naive.with_shape(others(&naive.shape, |_, size| size == 1)),
            Call::SqueezeDim(dim) => {
                let dim = scalar(*dim)?;
                naive.with_shape(others(&naive.shape, |d, size| d == dim && size == 1))
            }
            Call::Expand(sizes) => naive.expanded(sizes),
            Call::BroadcastTo(shape) => naive.broadcast_to(shape),
            Call::Diagonal(offset, a, b) => naive.diagonal(*offset, scalar(*a)?, scalar(*b)?),
            Call::Unfold(dim, size, step) => naive.unfolded(scalar(*dim)?, *size, *step),
            Call::View(sizes) => naive.viewed(inferred(sizes, naive.offsets.len())?),
            Call::Flatten(start, end) => naive.flattened(scalar(*start)?, scalar(*end)?),
            Call::Unflatten(dim, sizes) => naive.unflattened(wrap(*dim, rank)?, sizes),
            Call::AsStrided(shape, strides, offset) => {
                refuse_unless(strides.iter().all(|&stride| stride >= 0))?;
                Naive::strided(shape, strides, offset.unwrap_or(own_offset))
            }
            Call::Split(size, dim, which) => naive.split(wrap(*dim, rank)?, *size, *which),
            Call::Chunk(count, dim, which) => naive.chunked(wrap(*dim, rank)?, *count, *which),
            Call::Unbind(dim, which) => match naive.shape[wrap(*dim, rank)?] {
                0 => Ok(naive.clone()),
                size => naive.selected(wrap(*dim, rank)?, (which % size) as isize),
            },
        }
    }
}

/// The sizes without the dropped ones.
fn others(shape: &[usize], dropped: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let kept = shape.iter().enumerate().filter(|&(d, &size)| !dropped(d, size));
    kept.map(|(_, &size)| size).collect()
}

/// The shape with `numel` elements for sizes of which at most one is −1.
pub(crate) fn inferred(sizes: &[isize], numel: usize) -> Result<Vec<usize>, Stop> {
    let unknown = sizes.iter().filter(|&&size| size == -1).count();
    refuse_unless(unknown <= 1 && sizes.iter().all(|&size| size >= -1))?;
    let known = sizes.iter().filter(|&&size| size >= 0);
    let known = known.fold(1i128, |product, &size| product.saturating_mul(size as i128));
    let numel = numel as i128;
    if unknown == 0 {
        refuse_unless(known == numel)?;
    } else {
        refuse_unless(known > 0 && numel % known == 0)?;
    }
    let size = |&size: &isize| if size == -1 { (numel / known) as usize } else { size as usize };
    let shape: Vec<usize> = sizes.iter().map(size).collect();
    refuse_unless(crate::naive::numel(&shape).is_some())?;
    Ok(shape)
}

impl Naive {
    /// The same elements in the same order.
    fn with_shape(&self, shape: Vec<usize>) -> Ruled {
        Ok(Naive { shape, offsets: self.offsets.clone() })
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    fn reordered(&self, order: &[usize]) -> Ruled {
        let shape = order.iter().map(|&d| self.shape[d]).collect();
        self.rearranged(shape, |index| {
            let mut source = vec![0; index.len()];
            order.iter().zip(index).for_each(|(&d, &i)| source[d] = i);
            source
        })
    }

    fn transposed(&self, a: usize, b: usize) -> Ruled {
        let mut order: Vec<usize> = (0..self.rank()).collect();
        if self.rank() > 0 {
            order.swap(a, b);
        }
        self.reordered(&order)
    }

    fn moved(&self, from: &[isize], to: &[isize]) -> Ruled {
        refuse_unless(from.len() == to.len())?;
        let from = distinct(from, self.rank().max(1))?;
        let to = distinct(to, self.rank().max(1))?;
        let mut order: Vec<Option<usize>> = vec![None; self.rank()];
        for (&from, &to) in from.iter().zip(&to).filter(|&(&from, _)| from < self.rank()) {
            order[to] = Some(from);
        }
        let mut rest = (0..self.rank()).filter(|d| !from.contains(d));
        let order: Vec<usize> = order.iter().filter_map(|d| d.or_else(|| rest.next())).collect();
        self.reordered(&order)
    }

    fn selected_range(&self, dim: usize, selection: Selection) -> Ruled {
        let mut shape = self.shape.clone();
        shape[dim] = selection.len;
        self.rearranged(shape, |index| {
            let mut source = index.to_vec();
            source[dim] = selection.at(index[dim]);
            source
        })
    }

    fn sliced(&self, dim: usize, start: Option<i128>, end: Option<i128>, step: i128) -> Ruled {
        self.selected_range(
            dim,
            Selection::of(self.shape[dim], start, end, step).ok_or(Stop::Refused)?,
        )
    }

    /// The indices from `start` to `end`, which must be in range.
    fn between(&self, dim: usize, start: usize, end: usize) -> Ruled {
        self.sliced(dim, Some(start as i128), Some(end as i128), 1)
    }

    fn narrowed(&self, dim: usize, start: isize, len: usize) -> Ruled {
        // `size` is a valid start too, of length 0.
        let size = self.shape[dim];
        let start = if start == size as isize { size } else { wrap(start, size)? };
        refuse_unless(len as i128 <= (size - start) as i128)?;
        self.between(dim, start, start + len)
    }

    fn selected(&self, dim: usize, at: isize) -> Ruled {
        let at = wrap(at, self.shape[dim])?;
        self.rearranged(others(&self.shape, |d, _| d == dim), |index| {
            [&index[..dim], &[at], &index[dim..]].concat()
        })
    }

    fn expanded(&self, sizes: &[isize]) -> Ruled {
        let lead = sizes.len().checked_sub(self.rank()).ok_or(Stop::Refused)?;
        let size = |(d, &size): (usize, &isize)| match size {
            -1 if d >= lead => Ok(self.shape[d - lead]),
            size => usize::try_from(size).map_err(|_| Stop::Refused),
        };
        self.broadcast_to(&sizes.iter().enumerate().map(size).collect::<Result<Vec<_>, _>>()?)
    }

    fn broadcast_to(&self, shape: &[usize]) -> Ruled {
        let lead = shape.len().checked_sub(self.rank()).ok_or(Stop::Refused)?;
        let fits = |(&to, &from): (&usize, &usize)| to == from || from == 1;
        refuse_unless(shape[lead..].iter().zip(&self.shape).all(fits))?;
        self.rearranged(shape.to_vec(), |index| {
            let own = index[lead..].iter().zip(&self.shape);
            own.map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
        })
    }

    fn diagonal(&self, offset: isize, a: usize, b: usize) -> Ruled {
        refuse_unless(a != b)?;
        let (down, right) = (offset.min(0).unsigned_abs(), offset.max(0).unsigned_abs());
        let len = self.shape[a].saturating_sub(down).min(self.shape[b].saturating_sub(right));
        let rest: Vec<usize> = (0..self.rank()).filter(|&d| d != a && d != b).collect();
        let shape = rest.iter().map(|&d| self.shape[d]).chain([len]).collect();
        self.rearranged(shape, |index| {
            let mut source = vec![0; self.rank()];
            rest.iter().zip(index).for_each(|(&d, &i)| source[d] = i);
            let along = index[rest.len()];
            (source[a], source[b]) = (along + down, along + right);
            source
        })
    }

    fn unfolded(&self, dim: usize, window: usize, step: usize) -> Ruled {
        let full = self.shape.get(dim).copied().unwrap_or(1);
        refuse_unless(window <= full && step > 0)?;
        let mut shape = self.shape.clone();
        if let Some(size) = shape.get_mut(dim) {
            *size = (full - window) / step + 1;
        }
        shape.push(window);
        self.rearranged(shape, |index| {
            let mut source = index[..self.rank()].to_vec();
            if let Some(i) = source.get_mut(dim) {
                *i = *i * step + index[self.rank()];
            }
            source
        })
    }

    fn flattened(&self, start: usize, end: usize) -> Ruled {
        refuse_unless(start <= end)?;
        if self.rank() == 0 {
            return self.viewed(vec![1]);
        }
        let merged = self.shape[start..=end].iter().fold(1, |a: usize, &b| a.saturating_mul(b));
        self.viewed([&self.shape[..start], &[merged], &self.shape[end + 1..]].concat())
    }

    fn unflattened(&self, dim: usize, sizes: &[isize]) -> Ruled {
        refuse_unless(!sizes.is_empty())?;
        let parts = inferred(sizes, self.shape[dim])?;
        let shape = [&self.shape[..dim], &parts, &self.shape[dim + 1..]].concat();
        refuse_unless(crate::naive::numel(&shape).is_some())?;
        self.viewed(shape)
    }

    /// Part number `which` of those of `size` indices.
    fn split(&self, dim: usize, size: usize, which: usize) -> Ruled {
        let full = self.shape[dim];
        refuse_unless(size > 0 || full == 0)?;
        let count = full.div_ceil(size.max(1)).max(1);
        let start = which % count * size;
        self.between(dim, start, full.min(start + size))
    }

    /// Part number `which` of at most `count` parts of equal size.
    fn chunked(&self, dim: usize, count: usize, which: usize) -> Ruled {
        refuse_unless(count > 0)?;
        match self.shape[dim] {
            0 => Ok(self.clone()),
            full => self.split(dim, full.div_ceil(count), which),
        }
    }
}
