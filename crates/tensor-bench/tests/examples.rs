//! The examples that use the program: `examples/layouts.*`.

#![cfg(unix)]

mod common;

use std::process::Command;

use common::finish;

#[test]
fn the_script_finds_the_layout_that_became_worse_and_accepts_it() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/layouts.sh");
    let mut bash = Command::new("bash");
    bash.arg(script).env("TENSOR_BENCH", env!("CARGO_BIN_EXE_tensor-bench"));
    let run = finish(bash.env_remove("TENSOR_SIMD"));
    assert_eq!(run.code, Some(0), "{run:?}");
    let steps: Vec<&str> = run.out.split("\n== ").skip(1).collect();
    assert_eq!(steps.len(), 4, "{run:?}");
    assert!(steps[0].contains("All results are right: 4 cases"), "{run:?}");
    for case in ["images_to_planes", "windows", "weights", "bias"] {
        assert!(steps[1].contains(&format!("\n{case}")), "{run:?}");
    }
    let found =
        steps[2].contains("REGRESSION  model/weights\n            path memcpy -> transpose");
    assert!(found && steps[2].ends_with("exit code 1\n"), "{run:?}");
    assert!(steps[3].contains("accepted    model/weights\n"), "{run:?}");
    assert!(steps[3].ends_with("exit code 0\n"), "{run:?}");
}

/// `layouts_recipe.rs` runs that one.
#[test]
fn the_workflow_is_that_of_the_documentation() {
    let workflow = include_str!("../../../examples/layouts.yml");
    let page = include_str!("../../../docs/tracking.md");
    assert!(page.contains(&format!("```yaml\n{workflow}```")), "{workflow}");
}
