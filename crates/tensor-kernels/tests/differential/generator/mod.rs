//! One case: drawn from choices, run, and compared with a loop over single elements.
//!
//! The reference is as simple as possible: for each index the sum of its products with the strides,
//! and one element at that offset. The arithmetic is Rust's; for operations that Rust does not have
//! it is the operation itself, applied to one element at the scalar level.

mod aliasing;
mod casts;
mod check;
mod choices;
mod copies;
mod elementwise;
mod layouts;
mod memory;
mod operations;
mod reductions;
mod setting;
mod values;

use std::fmt::Display;

pub(crate) use choices::Choices;
use choices::mixed;
use setting::Setting;

/// Why a case failed.
pub(crate) type Outcome = Result<(), String>;

/// Draws a case and runs it.
pub(crate) type Check = fn(&mut Case<'_>) -> Outcome;

/// The kinds of cases, by name.
pub(crate) const KINDS: [(&str, Check); 5] = [
    ("copies", copies::check),
    ("elementwise", elementwise::check),
    ("casts_and_comparisons", casts::check),
    ("reductions", reductions::check),
    ("aliasing", aliasing::check),
];

/// Whether a description of the case is made, and where it goes.
enum Description {
    Nothing,
    Text(String),
    /// Printed immediately, as the case may abort the process.
    Printed,
}

/// A case that is being drawn.
pub(crate) struct Case<'b> {
    pub(crate) choices: Choices<'b>,
    /// The layout that was drawn last.
    last: Option<layouts::Strided>,
    description: Description,
}

impl<'b> Case<'b> {
    pub(crate) fn new(choices: Choices<'b>) -> Self {
        Self { choices, last: None, description: Description::Nothing }
    }

    /// As [`new`](Self::new), with a description.
    pub(crate) fn described(choices: Choices<'b>) -> Self {
        Self { choices, last: None, description: Description::Text(String::new()) }
    }

    /// As [`new`](Self::new), with a description on the standard output.
    pub(crate) fn printed(choices: Choices<'b>) -> Self {
        Self { choices, last: None, description: Description::Printed }
    }

    pub(crate) fn description(&self) -> &str {
        match &self.description {
            Description::Text(text) => text,
            Description::Nothing | Description::Printed => "",
        }
    }

    /// Adds a line to the description.
    fn note(&mut self, name: &str, what: impl Display) {
        match &mut self.description {
            Description::Nothing => {}
            Description::Text(text) => text.push_str(&format!("  {name}: {what}\n")),
            Description::Printed => println!("  {name}: {what}"),
        }
    }

    fn setting(&mut self) -> Setting {
        let setting = Setting::draw(&mut self.choices);
        self.note("run at", setting);
        setting
    }

    /// A function from numbers to pseudo-random bits, different for each case.
    fn bits(&mut self) -> impl Fn(usize) -> u64 + use<> {
        let seed = self.choices.draw(1 << 16) as u64;
        move |i| mixed((seed << 40).wrapping_add(i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// Runs a case of a kind.
pub(crate) fn check(kind: &str, case: &mut Case<'_>) -> Outcome {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    let (_, check) = found.ok_or_else(|| format!("no kind of work is called {kind:?}"))?;
    check(case)
}

/// The kind and the choices as a line for `TENSOR_DIFFERENTIAL_CASE`.
pub(crate) fn line(kind: &str, choices: &[u32]) -> String {
    let numbers: Vec<String> = choices.iter().map(|number| format!("{number:x}")).collect();
    format!("{kind}:{}", numbers.join("."))
}
