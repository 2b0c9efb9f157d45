//! One case: drawn from choices, run, and compared with a loop over single elements.
//!
//! What may not depend on how work is done is computed here by the plainest means: an index, the
//! sum of its products with strides, one element. Arithmetic is the language's own where it has
//! it, and otherwise the operation itself, applied to one element at the portable level.

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

/// The kinds of work, by name.
pub(crate) const KINDS: [(&str, Check); 5] = [
    ("copies", copies::check),
    ("elementwise", elementwise::check),
    ("casts_and_comparisons", casts::check),
    ("reductions", reductions::check),
    ("aliasing", aliasing::check),
];

/// What becomes of what was drawn, in words.
enum Description {
    Nothing,
    Text(String),
    /// Printed at once: the case may end the process.
    Printed,
}

/// A case that is being drawn.
pub(crate) struct Case<'b> {
    pub(crate) choices: Choices<'b>,
    description: Description,
}

impl<'b> Case<'b> {
    pub(crate) fn new(choices: Choices<'b>) -> Self {
        Self { choices, description: Description::Nothing }
    }

    /// The same, with a description.
    pub(crate) fn described(choices: Choices<'b>) -> Self {
        Self { choices, description: Description::Text(String::new()) }
    }

    /// The same, described on the standard output.
    pub(crate) fn printed(choices: Choices<'b>) -> Self {
        Self { choices, description: Description::Printed }
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

    /// Bits that depend on a number, and differ from case to case.
    fn bits(&mut self) -> impl Fn(usize) -> u64 + use<> {
        let seed = self.choices.draw(1 << 16) as u64;
        move |i| mixed((seed << 40).wrapping_add(i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// Runs the case of a kind that these choices decide.
pub(crate) fn check(kind: &str, case: &mut Case<'_>) -> Outcome {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    let (_, check) = found.ok_or_else(|| format!("no kind of work is called {kind:?}"))?;
    check(case)
}

/// Choices in a line that names them, as the environment takes it.
pub(crate) fn line(kind: &str, choices: &[u32]) -> String {
    let numbers: Vec<String> = choices.iter().map(|number| format!("{number:x}")).collect();
    format!("{kind}:{}", numbers.join("."))
}
