//! A cursor over the text of a header. No step recurses, so deeply nested input cannot overflow the
//! stack.

use super::super::{InterchangeError, Result};

/// How much of a header an error quotes, in characters.
const QUOTED_CHARS: usize = 60;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut cursor = Self { text, at: 0 };
        cursor.advance(0);
        cursor
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.advance(token.len());
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("expected `{token}`"))) }
    }

    /// The next text in single or double quotes, without escapes.
    pub(super) fn quoted(&mut self, what: &str) -> Result<&'a str> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some(len) = quote.and_then(|quote| rest[1..].find(quote)) else {
            return Err(self.error(&format!("expected {what} in quotes")));
        };
        self.advance(len + 2);
        Ok(&rest[1..=len])
    }

    /// The next number: a size.
    pub(super) fn size(&mut self) -> Result<usize> {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = &rest[..len];
        let wrong = || match len {
            0 => self.error("this is not a size"),
            _ => self.error(&format!("{number} does not fit {} bits", usize::BITS)),
        };
        let size = number.parse().map_err(|_| wrong())?;
        self.advance(len);
        Ok(size)
    }

    /// Items separated by commas up to `close`, after the opening bracket. A trailing comma is
    /// allowed.
    pub(super) fn list(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        while !self.eat(close) {
            item(self)?;
            if !self.eat(",") && !self.rest().starts_with(close) {
                return Err(self.error(&format!("expected `,` or `{close}`")));
            }
        }
        Ok(())
    }

    /// An error here, with what follows.
    pub(super) fn error(&self, message: &str) -> InterchangeError {
        let follows: String = self.rest().chars().take(QUOTED_CHARS).collect();
        let why = format!("header: {message}, at byte {}: {follows:?}", self.at);
        InterchangeError::malformed("npy", why)
    }

    /// Skips bytes, and the blanks after them.
    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }
}
