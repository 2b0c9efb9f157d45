//! The steps of a chain as an HTML page: one file without scripts that loads nothing.
//!
//! Each step has two pictures: its elements by index (`grid`), and its storage in the order of
//! memory (`strip`). A colour stands for a place in the storage, from its first element to its
//! last, so that a contiguous tensor runs through the colours once, in reading order. Arrows are
//! strides. All that a picture says is in its description, too. The page is XML, so that tests can
//! parse it strictly; its style is that of the report, with `style.css` after it.

mod grid;
mod strip;
mod svg;

#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use tensor_kernels::{Exec, Layout};

use super::{Explanation, Refusal, Rewrite, Step, StorageOrigin};
use crate::{
    Result,
    output::render::{bytes, join, tuple},
    report::html::{META, STYLE},
};
use grid::Grid;
use strip::Strip;
use svg::Scale;

const OWN_STYLE: &str = include_str!("style.css");

/// How many offsets are listed along a dimension.
const MAX_LISTED_STEPS: usize = 4;

/// The whole page. The same chain gives the same page on the same machine.
///
/// # Errors
/// None for layouts whose dense size does not overflow.
pub fn page(chain: &str, explanation: &Explanation, exec: &Exec) -> Result<String> {
    let steps = explanation.steps.iter().enumerate();
    let steps = steps.map(|(at, step)| section(at, step, exec)).collect::<Result<Vec<_>>>()?;
    let title = "What each call does to the elements";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (PreEscaped(META))
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(OWN_STYLE)) }
            }
            body {
                header { h1 { (title) } p.chain { code { (chain) } } (summary(explanation)) }
                main.steps {
                    @for step in &steps { (step) }
                    @if let Some(refusal) = &explanation.refusal {
                        (refused(explanation.steps.len(), refusal))
                    }
                }
                footer { p { "Written by " code { "tensor-bench explain" } "." } }
            }
        }
    };
    // The chain is the user's; control characters are invalid in XML.
    Ok(markup.into_string().replace(|c: char| c.is_control() && c != '\n', "?"))
}

fn summary(explanation: &Explanation) -> Markup {
    let (count, size) = explanation.copies();
    let calls = explanation.steps.len() - 1 + usize::from(explanation.refusal.is_some());
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let copies = match count {
        0 => "nothing is copied".to_owned(),
        1 => format!("one copies, {}", bytes(size)),
        _ => format!("{count} copy, {} in all", bytes(size)),
    };
    html! {
        p { (calls) " call" (s(calls)) " on a new tensor; " (copies) "." }
        p.legend {
            "A colour is a place in the storage: "
            span.ramp aria-hidden="true" {}
            " from its first element to its last. A number is an element's offset. An arrow is a \
             stride: the step from an index of a dimension to the next."
        }
    }
}

fn section(at: usize, step: &Step, exec: &Exec) -> Result<Markup> {
    let (state, layout) = (&step.state, &step.state.layout);
    let (grid, strip) = (Grid::of(layout), Strip::of(layout, state.storage_len));
    let scale = Scale::of(&grid.drawn()?, state.storage_len);
    let lints = state.lints();
    Ok(html! {
        section.step id={ "step-" (at) } {
            h2 { code { (step.call) } " " (badge(state.origin)) }
            div.pictures {
                (picture("By index", &grid.note(), &grid.drawing(at, &step.call, scale)))
                (picture("In memory", &strip.note(), &strip.drawing(at, &step.call, scale)))
            }
            dl {
                dt { "layout" }
                dd {
                    "shape " (tuple(layout.shape())) " strides " (tuple(layout.strides()))
                    " offset " (layout.offset()) "; " (state.contiguity())
                }
                @if layout.ndim() > 0 { dt { "steps" } dd { (strides(layout)) } }
                dt { "storage" } dd { (state.storage()) }
                @if let Some(reason) = &step.reason { dt { "why" } dd { (reason) } }
                dt { "copy" } dd { (state.copy(exec)?) }
                @for lint in &lints { dt { "slow" } dd { (lint) } }
            }
            @if state.origin.is_copy() { (rewrites("Without this copy", &step.rewrites)) }
            details { summary { "Numbers" } p { (state.order()) } (dims(step)) }
        }
    })
}

/// What a call does, in a word.
fn badge(origin: StorageOrigin) -> Markup {
    let (class, text) = match origin {
        StorageOrigin::New => ("new", "new tensor"),
        StorageOrigin::Shared => ("view", "view"),
        StorageOrigin::AlreadyContiguous => ("view", "as it is"),
        StorageOrigin::Reshaped | StorageOrigin::Packed { .. } => ("copy", "copy"),
    };
    html! { span class={ "badge " (class) } { (text) } }
}

fn picture(title: &str, note: &str, drawing: &Markup) -> Markup {
    html! { figure { figcaption { h3 { (title) } p { (note) } } (drawing) } }
}

/// The strides in the colours of their arrows.
fn strides(layout: &Layout) -> Markup {
    let strides = layout.strides().iter().enumerate();
    html! {
        @for (dim, &stride) in strides {
            span class={ "stride dim-" (dim % svg::COLOURS) } {
                "dim " (dim) ": " (svg::signed(stride))
            }
            " "
        }
    }
}

fn rewrites(title: &str, rewrites: &[Rewrite]) -> Markup {
    html! {
        @if !rewrites.is_empty() {
            div.rewrites {
                h3 { (title) }
                ul {
                    @for Rewrite { calls, cost } in rewrites {
                        li { code { (calls) } ": " (cost) }
                    }
                }
            }
        }
    }
}

fn refused(at: usize, refusal: &Refusal) -> Markup {
    html! {
        section.step.refused id={ "step-" (at) } {
            h2 { code { (refusal.call) } " " span class="badge copy" { "refused" } }
            p { (refusal.error) }
            (rewrites("Instead", &refusal.rewrites))
        }
    }
}

/// Sizes, strides and the first offsets along each dimension.
fn dims(step: &Step) -> Markup {
    let layout = &step.state.layout;
    let sizes = layout.shape().iter().zip(layout.strides());
    html! {
        @if layout.ndim() > 0 {
            table {
                caption { "The dimensions of " (step.call) }
                thead { tr { @for head in ["dimension", "size", "stride", "offsets along it"] {
                    th scope="col" { (head) }
                } } }
                tbody { @for (dim, (&size, &stride)) in sizes.enumerate() {
                    tr {
                        th scope="row" class={ "dim-" (dim % svg::COLOURS) } { (dim) }
                        td { (size) } td { (stride) } td { (along(layout.offset(), size, stride)) }
                    }
                } }
            }
        }
    }
}

fn along(offset: usize, size: usize, stride: isize) -> String {
    let listed = (0..size.min(MAX_LISTED_STEPS)).map(|i| offset as isize + i as isize * stride);
    join(listed, " → ") + if size > MAX_LISTED_STEPS { " → …" } else { "" }
}
