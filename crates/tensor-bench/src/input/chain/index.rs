//! Python's index tuples: `1, :, 2:8:3, None, ...`.

use tensor_kernels::{Index, Slice};

use crate::input::parse::{Cursor, ParseError};

/// Parses an index without its brackets: `0:10, ::2`.
///
/// # Errors
/// What was expected, and where.
pub fn parse_index(text: &str) -> Result<Vec<Index>, ParseError> {
    let mut cursor = Cursor::new(text);
    let mut indices = vec![index(&mut cursor)?];
    while cursor.eat(",") {
        indices.push(index(&mut cursor)?);
    }
    if cursor.at_end() { Ok(indices) } else { Err(cursor.here("expected `,`")) }
}

pub(super) fn index(cursor: &mut Cursor<'_>) -> Result<Index, ParseError> {
    if cursor.eat("...") {
        return Ok(Index::Ellipsis);
    }
    if cursor.eat("None") {
        return Ok(Index::NewAxis);
    }
    let from = cursor.position();
    let first = cursor.integer()?;
    if cursor.eat(":") {
        return slice(cursor, from, first);
    }
    first.map(Index::At).ok_or_else(|| cursor.here("expected an index"))
}

fn slice(cursor: &mut Cursor<'_>, from: usize, start: Option<isize>) -> Result<Index, ParseError> {
    let end = cursor.integer()?;
    let step = if cursor.eat(":") { cursor.integer()? } else { None };
    match step.unwrap_or(1) {
        0 => Err(cursor.error(from..cursor.position(), "a slice step cannot be 0")),
        step => Ok(Index::Slice(Slice::new(start, end, step))),
    }
}
