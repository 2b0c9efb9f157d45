//! From the text of a pattern to the dimensions of its two sides.
//!
//! What is checked here holds for each side alone: characters, names, parentheses, dots. Spaces
//! separate axes, as in einops; no other whitespace is allowed.

use std::ops::Range;

use tensor_core::{PatternRule, PatternSide};

/// Bytes of the text of a pattern.
pub(super) type Span = Range<usize>;

/// A rule that is broken, and where.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) at: Span,
    pub(super) rule: PatternRule,
}

pub(super) type Checked<T> = Result<T, Refusal>;

/// One side of a pattern.
pub(super) struct Side {
    pub(super) side: PatternSide,
    pub(super) dims: Vec<Dim<Item>>,
    pub(super) span: Span,
}

impl Side {
    /// Where its ellipsis is.
    pub(super) fn ellipsis(&self) -> Option<&Span> {
        self.dims.iter().find_map(|dim| match dim {
            Dim::Ellipsis(span) => Some(span),
            Dim::Axes(items, _) => {
                let ellipsis = items.iter().find(|item| item.kind == Kind::Ellipsis);
                ellipsis.map(|item| &item.span)
            }
        })
    }
}

/// A dimension, of the input or of the result: what one name, one number or one pair of parentheses
/// stands for. `A` is an axis or an ellipsis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dim<A> {
    /// The product of these axes; of none for `1` and `()`.
    Axes(Vec<A>, Span),
    /// Any number of dimensions: an ellipsis outside of parentheses.
    Ellipsis(Span),
}

/// An axis or ellipsis in the text.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    /// An axis of this size, without a name.
    Number(usize),
    Ellipsis,
}

/// Splits a pattern at its arrow.
pub(super) fn parse(text: &str) -> Checked<(Side, Side)> {
    const ARROW: &str = "->";
    let mut arrows = text.match_indices(ARROW).map(|(at, _)| at);
    let (first, second) = (arrows.next(), arrows.next());
    let refused = |at, count| Err(Refusal { at, rule: PatternRule::Arrow { count } });
    match (first, second) {
        (None, _) => refused(text.len()..text.len(), 0),
        (Some(_), Some(second)) => refused(second..second + ARROW.len(), 2 + arrows.count()),
        (Some(arrow), None) => Ok((
            Parser::parse(text, 0..arrow, PatternSide::Left)?,
            Parser::parse(text, arrow + ARROW.len()..text.len(), PatternSide::Right)?,
        )),
    }
}

struct Parser<'t> {
    text: &'t str,
    side: PatternSide,
    dims: Vec<Dim<Item>>,
    /// The axes since a `(`, and where it is.
    group: Option<(Vec<Item>, usize)>,
    has_ellipsis: bool,
}

impl<'t> Parser<'t> {
    fn parse(text: &'t str, span: Span, side: PatternSide) -> Checked<Side> {
        let mut parser = Parser { text, side, dims: Vec::new(), group: None, has_ellipsis: false };
        let mut word = None;
        for (i, c) in text[span.clone()].char_indices() {
            let at = span.start + i;
            match c {
                ' ' | '(' | ')' => {
                    parser.end_word(&mut word, at)?;
                    parser.separator(c, at)?;
                }
                c if c.is_alphanumeric() || c == '_' || c == '.' => {
                    word.get_or_insert(at);
                }
                found => {
                    let at = at..at + found.len_utf8();
                    return Err(Refusal { at, rule: PatternRule::Character { found } });
                }
            }
        }
        parser.end_word(&mut word, span.end)?;
        match parser.group {
            Some((_, open)) => Err(Refusal { at: open..open + 1, rule: PatternRule::Unclosed }),
            None => Ok(Side { side, dims: parser.dims, span: trimmed(text, span) }),
        }
    }

    fn separator(&mut self, c: char, at: usize) -> Checked<()> {
        let refused = |rule| Err(Refusal { at: at..at + 1, rule });
        match (c, self.group.take()) {
            ('(', None) => self.group = Some((Vec::new(), at)),
            ('(', Some(_)) => return refused(PatternRule::Nested),
            (')', None) => return refused(PatternRule::Unopened),
            (')', Some((items, open))) => self.dims.push(Dim::Axes(items, open..at + 1)),
            (_, group) => self.group = group,
        }
        Ok(())
    }

    /// Takes the word that started at `word`, if there is one, and ends before `end`.
    fn end_word(&mut self, word: &mut Option<usize>, end: usize) -> Checked<()> {
        let Some(start) = word.take() else { return Ok(()) };
        let span = start..end;
        let kind = kind_of(&self.text[span.clone()])
            .and_then(|kind| self.check_ellipsis(kind).map(|()| kind))
            .map_err(|rule| Refusal { at: span.clone(), rule })?;
        match (&mut self.group, kind) {
            // A factor of 1 changes no product.
            (Some(_), Kind::Number(1)) => {}
            (Some((items, _)), _) => items.push(Item { kind, span }),
            (None, Kind::Number(1)) => self.dims.push(Dim::Axes(Vec::new(), span)),
            (None, Kind::Ellipsis) => self.dims.push(Dim::Ellipsis(span)),
            (None, _) => self.dims.push(Dim::Axes(vec![Item { kind, span: span.clone() }], span)),
        }
        Ok(())
    }

    fn check_ellipsis(&mut self, kind: Kind) -> Result<(), PatternRule> {
        if kind != Kind::Ellipsis {
            return Ok(());
        }
        if std::mem::replace(&mut self.has_ellipsis, true) {
            return Err(PatternRule::TwoEllipses);
        }
        match (self.side, &self.group) {
            (PatternSide::Left, Some(_)) => Err(PatternRule::EllipsisInParentheses),
            _ => Ok(()),
        }
    }
}

fn kind_of(word: &str) -> Result<Kind, PatternRule> {
    if word == "..." {
        return Ok(Kind::Ellipsis);
    }
    if word.contains('.') {
        return Err(PatternRule::Dots { found: word.to_owned() });
    }
    if word.bytes().all(|b| b.is_ascii_digit()) {
        let refused = || PatternRule::Number { number: word.to_owned() };
        let size = word.parse().ok().filter(|&size| size > 0);
        return size.map(Kind::Number).ok_or_else(refused);
    }
    let starts = word.starts_with(char::is_alphabetic);
    if starts && !word.ends_with('_') {
        return Ok(Kind::Name);
    }
    Err(PatternRule::Name { name: word.to_owned() })
}

/// The side without the spaces around it.
fn trimmed(text: &str, span: Span) -> Span {
    let side = &text[span.clone()];
    let start = span.start + (side.len() - side.trim_start_matches(' ').len());
    start..(start + side.trim_matches(' ').len())
}
