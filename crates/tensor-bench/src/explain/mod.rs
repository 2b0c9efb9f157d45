//! What a chain of calls does, step by step: the layout after each call, whether it copied and why,
//! and what to write instead.
//!
//! [`Explanation::of`] follows the chain over layouts alone, so that it may describe more memory
//! than the machine has. `text` prints a step, [`html`] draws all of them as a page.

pub mod html;
mod rewrite;
mod state;
mod text;

pub use rewrite::Rewrite;
pub use state::{State, StorageOrigin};
pub(crate) use text::paragraph;

use tensor_kernels::Error;

use crate::{
    Result,
    input::chain::{Chain, Link},
};

/// The steps of a chain.
pub struct Explanation {
    /// The source and each call up to the one that is refused, if any.
    pub steps: Vec<Step>,
    /// The call that is refused.
    pub refusal: Option<Refusal>,
}

/// A call and the tensor that it gives.
pub struct Step {
    /// The call, as it was written.
    pub call: String,
    /// The tensor.
    pub state: State,
    /// Why a reshape copies: the dimensions that it would join.
    pub reason: Option<String>,
    /// What to write in place of a call that copies.
    pub rewrites: Vec<Rewrite>,
}

/// A call that is an error.
pub struct Refusal {
    /// The call, as it was written.
    pub call: String,
    /// The reason.
    pub error: Error,
    /// What to write instead.
    pub rewrites: Vec<Rewrite>,
}

impl Explanation {
    /// Follows a chain.
    ///
    /// # Errors
    /// A source that is too large to have a layout.
    pub fn of(chain: &Chain) -> Result<Explanation> {
        let state = State::start(chain)?;
        let source = Step { call: chain.text.clone(), state, reason: None, rewrites: Vec::new() };
        let mut explanation = Explanation { steps: vec![source], refusal: None };
        for at in 0..chain.links.len() {
            if explanation.refusal.is_none() {
                explanation.follow(&chain.links[at..]);
            }
        }
        Ok(explanation)
    }

    /// Takes the first of these calls. The others say what is needed of its result.
    fn follow(&mut self, links: &[Link]) {
        let (Some(before), Some(link)) = (self.steps.last(), links.first()) else { return };
        match before.state.step(&link.step) {
            Ok(state) => {
                let step = after(&before.state, state, links);
                self.steps.push(step);
            }
            Err(error) => self.refusal = Some(refusal(&before.state, link, error)),
        }
    }

    /// The copies that the steps make, and their bytes.
    pub fn copies(&self) -> (usize, u128) {
        let copies = self.steps.iter().filter(|step| step.state.origin.is_copy());
        copies.fold((0, 0), |(count, bytes), step| (count + 1, bytes + step.state.bytes()))
    }
}

/// The step that a call makes, from the tensor before it to the one after it.
fn after(before: &State, state: State, links: &[Link]) -> Step {
    let link = &links[0];
    let (reason, rewrites) = match state.origin.is_copy() {
        true => (rewrite::reason(before, &link.step), rewrite::of(before, links)),
        false => (None, Vec::new()),
    };
    Step { call: link.text.clone(), state, reason, rewrites }
}

fn refusal(state: &State, link: &Link, error: Error) -> Refusal {
    let rewrites = rewrite::of_refusal(state, &link.step);
    Refusal { call: link.text.clone(), error, rewrites }
}
