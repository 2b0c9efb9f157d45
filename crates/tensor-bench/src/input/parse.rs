//! A cursor over a text, and the error that points into the text.
//!
//! The chains of `explain` and the indices of `--slice` are parsed with the same steps: skip
//! blanks, take a token, a number, a name or a list. No step recurses, so deeply nested input
//! cannot overflow the stack.

use std::{fmt, ops::Range};

/// A range of a text, in bytes.
pub type Span = Range<usize>;

/// The longest quote of an error, in characters.
const MAX_QUOTED_CHARS: usize = 76;

/// What could not be parsed, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    text: String,
    span: Span,
    message: String,
}

impl ParseError {
    /// What was expected or is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the text that the message is about.
    pub fn span(&self) -> Span {
        self.span.clone()
    }
}

impl fmt::Display for ParseError {
    /// The message, the text, and carets under the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |range: Span| self.text.get(range).map_or(0, |part| part.chars().count());
        let before = count(0..self.span.start);
        let skipped = before.saturating_sub(MAX_QUOTED_CHARS / 2);
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let quoted: String =
            self.text.chars().map(printable).skip(skipped).take(MAX_QUOTED_CHARS).collect();
        let indent = before - skipped;
        let carets = count(self.span.clone()).clamp(1, MAX_QUOTED_CHARS - indent);
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {quoted}")?;
        write!(f, "  {}{}", " ".repeat(indent), "^".repeat(carets))
    }
}

impl std::error::Error for ParseError {}

pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut cursor = Cursor { text, at: 0 };
        cursor.skip_blanks();
        cursor
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The text from `start` to here, without blanks around it.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text[start..self.at].trim()
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.advance(token.len());
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.here(format!("expected `{token}`"))) }
    }

    /// The next name; empty if there is none.
    pub(crate) fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.advance(end);
        &rest[..end]
    }

    /// The next integer; `None` if there is none.
    pub(crate) fn integer(&mut self) -> Result<Option<isize>, ParseError> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Ok(None);
        }
        let number = &rest[..rest.len() - digits.len() + length];
        let span = self.at..self.at + number.len();
        let value = number
            .parse()
            .map_err(|_| self.error(span, format!("{number} does not fit 64 bits")))?;
        self.advance(number.len());
        Ok(Some(value))
    }

    /// Items separated by commas up to `close`, after the opening bracket. A trailing comma is
    /// allowed.
    pub(crate) fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") && !self.rest().starts_with(close) {
                return Err(self.here(format!("expected `,` or `{close}`")));
            }
        }
        Ok(items)
    }

    pub(crate) fn here(&self, message: impl Into<String>) -> ParseError {
        self.error(self.at..self.at, message)
    }

    pub(crate) fn error(&self, span: Span, message: impl Into<String>) -> ParseError {
        ParseError { text: self.text.to_owned(), span, message: message.into() }
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.skip_blanks();
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }
}
