//! `explain`: its output, and its errors.

use std::fs;

use crate::common::{Folder, run};

#[test]
fn a_chain_is_followed_step_by_step() {
    let text = run(&["explain", "arange(24).reshape(1,2,3,4)[:,:,:,2].reshape(3,2)"]).succeeded();
    assert_eq!(
        text,
        "\
arange(24)
  shape (24) strides (1) offset 0
  contiguous
  storage: new, 24 i64
  offsets in logical order: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …
    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
  contiguous() would return it as it is

.reshape(1,2,3,4)
  shape (1, 2, 3, 4) strides (24, 12, 4, 1) offset 0
  contiguous
  storage: the same, 24 i64
  offsets in logical order: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …
    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
  contiguous() would return it as it is

[:,:,:,2]
  shape (1, 2, 3) strides (24, 12, 4) offset 2
  not contiguous: dimension 2 has stride 4, not 1
  storage: the same, 24 i64
  offsets in logical order: 2, 6, 10, 14, 18, 22
    .  .  2  .  .  .  6  .  .  . 10  .  .  . 14  .  .  . 18  .  .  . 22  .
  contiguous() would copy 48 B, path: strided_rows

.reshape(3,2)
  shape (3, 2) strides (8, 4) offset 2
  not contiguous: dimension 1 has stride 4, not 1
  storage: the same, 24 i64
  offsets in logical order: 2, 6, 10, 14, 18, 22
    .  .  2  .  .  .  6  .  .  . 10  .  .  . 14  .  .  . 18  .  .  . 22  .
  contiguous() would copy 48 B, path: strided_rows
"
    );
}

#[test]
fn a_reshape_that_no_strides_can_express_copies() {
    let text = run(&["explain", "arange(6).reshape(2, 3).t().reshape(6)"]).succeeded();
    let last = text.split("\n\n").last().unwrap();
    assert!(last.contains("storage: new, 6 i64, copied"), "{last}");
    let flat = run(&["explain", "arange(6).reshape(2, 3).T.flatten().contiguous()"]).succeeded();
    assert!(flat.contains("copied") && flat.contains("nothing is copied"), "{flat}");
}

#[test]
fn contiguous_copies_because_of_a_stride_and_not_because_of_a_view() {
    let text = run(&["explain", "arange(6).reshape(2, 3).t().contiguous()"]).succeeded();
    let last = text.split("\n\n").last().unwrap();
    let expected = "  storage: new, 6 i64, copied because dimension 1 had stride 3, not 1\n";
    assert!(last.contains(expected), "{last}");
    assert!(!text.contains("no strides can express"), "{text}");
    let reshaped = run(&["explain", "arange(6).reshape(2, 3).t().reshape(6)"]).succeeded();
    assert!(reshaped.contains("copied because no strides can express this view"), "{reshaped}");
}

#[test]
fn a_copy_says_why_and_what_avoids_it() {
    let text = run(&["explain", "arange(6).view(2, 3).t().reshape(2, 3)"]).succeeded();
    let last = text.split("\n\n").last().unwrap();
    assert_eq!(
        last,
        "\
.reshape(2, 3)
  shape (2, 3) strides (3, 1) offset 0
  contiguous
  storage: new, 6 i64, copied because no strides can express this view
  offsets in logical order: 0, 1, 2, 3, 4, 5
   0 1 2 3 4 5
  contiguous() would return it as it is
  why: size 3 of dimension 1 would span dimensions 0 and 1: dimension 0 has
  stride 1, but 6 would be needed
  without this copy:
  - keep the shape (3, 2): no copy
  - .permute(1, 0).view(2, 3): no copy; the elements come in the order of memory
"
    );
}

/// The last call, which copies, is replaced by each rewrite that is a call.
#[test]
fn what_is_named_instead_of_a_copy_copies_nothing() {
    let chains = [
        ("arange(24).view(2, 3, 4).transpose(0, 1)", ".reshape(6, 4)", 1),
        ("arange(24).view(2, 3, 4).permute(2, 0, 1).unsqueeze(3)", ".flatten()", 1),
        ("arange(24).view(4, 6).t()", ".reshape(3, 8)", 2),
        ("arange(24).view(2, 3, 4).permute(2, 0, 1)", ".contiguous()", 1),
        ("arange(24).view(2, 3, 4).transpose(1, 2)", ".reshape(2, 12)", 1),
    ];
    for (before, copy, least) in chains {
        let text = run(&["explain", &format!("{before}{copy}")]).succeeded();
        let (_, listed) = text.split_once("  without this copy:\n").expect("rewrites");
        let calls = listed.lines().filter_map(|line| line.strip_prefix("  - ."));
        let calls: Vec<_> = calls.filter_map(|line| line.split_once(": ")).collect();
        assert!(calls.len() >= least, "{before}{copy}: {listed}");
        for (call, _) in calls {
            let text = run(&["explain", &format!("{before}.{call}")]).succeeded();
            assert!(!text.contains("copied"), "{before}.{call}: {text}");
        }
    }
}

/// A broadcast matrix is copied once; of many transposed matrices each is copied by itself.
#[test]
fn a_copy_of_a_block_is_named_by_its_calls() {
    let instead = |chain: &str| run(&["explain", chain]).err;
    let batch = "zeros(3, 4).t().expand(100, 4, 3)";
    let calls = ".narrow(0, 0, 1).contiguous().expand(100, 4, 3).view(100, 12)";
    let text = instead(&format!("{batch}.view(100, 12)"));
    assert!(text.contains(&format!("- {calls}: copies 48 B")), "{text}");
    run(&["explain", &format!("{batch}{calls}")]).succeeded();
    let text = instead("zeros(8, 5, 3, 4).transpose(2, 3).view(8, 5, 12)");
    let calls =
        "- .select(1, i1).select(0, i0).reshape(12) for all i0, i1: copies 40 blocks of 48 B";
    assert!(text.contains(calls), "{text}");
}

#[test]
fn contiguous_can_be_left_out_where_the_calls_after_it_copy_less_without_it() {
    let says = |chain: &str| {
        let text = run(&["explain", chain]).succeeded();
        let line = text.lines().find(|line| line.contains("leave contiguous() out"));
        line.map(|line| line.trim().to_owned())
    };
    let left_out = |cost: &str| Some(format!("- leave contiguous() out: {cost}"));
    let transposed = "arange(24).view(2, 3, 4).transpose(0, 1).contiguous()";
    assert_eq!(says(transposed), left_out("no copy; operations of this library read any strides"));
    let back = format!("{transposed}.transpose(0, 1).reshape(6, 4)");
    assert_eq!(says(&back), left_out("no copy; the calls after it work on the view"));
    assert_eq!(says(&format!("{transposed}.view(6, 4)")), None);
    assert_eq!(says(&format!("{transposed}.reshape(6, 4)")), None);
    let twice = format!("{transposed}[:, 1].t().reshape(12)");
    assert_eq!(says(&twice), left_out("1 of 2 copies; the calls after it work, too"));
}

#[test]
fn a_refused_view_says_what_to_write_instead() {
    let run = run(&["explain", "arange(6).view(2, 3).t().view(6)"]);
    let instead = "\n  instead:\n  - keep the shape (3, 2): no copy\n  \
                   - .permute(1, 0).view(6): no copy; the elements come in the order of memory\n  \
                   - .reshape(6): copies 48 B\n";
    assert!(run.err.ends_with(instead), "{run:?}");
}

#[test]
fn a_page_is_drawn_beside_the_text() {
    let folder = Folder::new();
    let (chain, file) = ("arange(6).view(2, 3).t().contiguous()", folder.name("steps.html"));
    let text = run(&["explain", chain, "--html", &file]).succeeded();
    assert_eq!(text, run(&["explain", chain]).succeeded());
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    assert_eq!(page.matches("<section").count(), 4);
    assert!(page.contains(chain));
    assert_eq!(folder.files(), ["steps.html"]);
}

#[test]
fn a_page_that_is_there_is_replaced_only_if_asked() {
    let folder = Folder::new();
    let file = folder.file("steps.html", "mine");
    let args = ["explain", "arange(6)", "--html", &file];
    run(&args).refused("steps.html is there: give another file, or --overwrite");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    run(&[&args[..], &["--overwrite"]].concat()).succeeded();
    assert!(fs::read_to_string(&file).unwrap().contains("<svg"));
    run(&["explain", "arange(6)", "--overwrite"]).refused("--html <FILE>");
}

#[test]
fn fault_a_refused_view_is_drawn_and_a_page_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let file = folder.name("steps.html");
    let chain = "arange(6).view(2, 3).t().view(6)";
    run(&["explain", chain, "--html", &file]).failed("view size is not compatible");
    assert!(fs::read_to_string(&file).unwrap().contains("refused"));
    let in_no_folder = folder.name("no/steps.html");
    let printed = run(&["explain", chain, "--html", &in_no_folder]).failed("cannot write");
    assert_eq!(printed, "");
    run(&["explain", "arange(", "--html", &in_no_folder]).refused("expected");
}

#[test]
fn slow_strides_are_named_and_measured() {
    let text = run(&["explain", "zeros(256, 256).t()"]).succeeded();
    let (steps, measured) = text.split_once("\nmeasured on this machine\n").expect("a lint");
    for step in steps.split("\n\n") {
        assert!(step.contains("  slow: power-of-two stride: dim "), "{text}");
        assert!(step.contains("a stride of 272"), "{text}");
    }
    let line = measured.strip_prefix("  power-of-two stride: a copy with dim 1 innermost: ");
    let (own, padded) = line.and_then(|line| line.split_once(", padded ")).expect("two times");
    for time in [own, padded.trim_end()] {
        let (number, unit) = time.split_once(' ').expect("a number and a unit");
        assert!(number.parse::<f64>().is_ok_and(|n| n > 0.0), "{measured}");
        assert!(["ns", "us", "ms"].contains(&unit), "{measured}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_one_padding_avoids_is_measured_once() {
    let text = run(&["explain", "zeros(64, 8, 512)[:, 1]"]).succeeded();
    let line = "  power-of-two stride, 4 KiB aliasing: a copy with dim 0 innermost: ";
    assert_eq!(text.matches(line).count(), 1, "{text}");
    assert_eq!(text.matches("innermost").count(), 1, "{text}");
}

#[test]
fn strides_within_a_page_and_those_without_lints_are_not_measured() {
    for chain in ["arange(512).reshape(16, 32).t()[::2]", "zeros(300, 300).t()"] {
        let text = run(&["explain", chain]).succeeded();
        assert!(!text.contains("slow: ") && !text.contains("measured"), "{text}");
    }
}

#[test]
fn a_plan_is_explained_on_request() {
    let args = ["explain", "--plan", "arange(24).view(2, 3, 4).permute(2, 0, 1)"];
    let text = run(&args).succeeded();
    let (_, plan) = text.split_once("\nplan of contiguous()\n\n").expect("a plan");
    assert!(plan.starts_with("copy         24 elements of 8 bytes, 192 bytes\n"), "{plan}");
    for title in ["fused loops  ", "candidates   * ", "why          "] {
        assert!(plan.contains(&format!("\n{title}")), "{plan}");
    }
    assert!(plan.lines().all(|line| line.chars().count() <= 100), "{plan}");
}

#[test]
fn an_overlapping_view_shows_each_place_once() {
    let text = run(&["explain", "arange(5).unfold(0, 3, 1)"]).succeeded();
    assert!(text.contains("offsets in logical order: 0, 1, 2, 1, 2, 3, 2, 3, 4"), "{text}");
    assert!(text.contains("   0 1 2 3 4\n"), "{text}");
}

#[test]
fn fault_no_array_is_made_however_large() {
    let text = run(&["explain", "zeros(1000000, 1000000).t()[::2, ::-1]"]).succeeded();
    assert!(text.contains("storage of 1000000000000 elements, the view has some from"), "{text}");
    assert!(text.contains("slow: page-stride walk: ") && text.contains("not measured"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let many = run(&["explain", "arange(3).expand(1000000000000, 3)"]).succeeded();
    assert!(many.contains("   0 1 2\n"), "{many}");
}

#[test]
fn fault_a_refused_view_is_the_librarys_word_after_the_steps_before_it() {
    let cases = [
        ("arange(6).reshape(2, 3).t().view(6)", "view size is not compatible"),
        ("arange(6).reshape(4, 2)", "shape '[4, 2]' is invalid for input of size 6"),
        (
            "arange(6).as_strided((4,), (2,))",
            "beyond the end of the storage: 56 bytes needed, 48 there",
        ),
        ("arange(6)[7]", "index 7 is out of bounds"),
        ("arange(6).permute(1)", "Dimension out of range"),
        ("arange(6).expand(9223372036854775807, 6)", "size calculation overflowed"),
    ];
    for (chain, reason) in cases {
        let steps = run(&["explain", chain]).failed(reason);
        assert!(steps.starts_with("arange(6)\n"), "{chain}: {steps}");
    }
    assert_eq!(
        run(&["explain", "zeros(4294967296, 4294967296)"])
            .failed("Storage size calculation overflowed"),
        ""
    );
}

#[test]
fn fault_what_cannot_be_read_is_pointed_at() {
    let cases = [
        ("arange(3", "expected `,` or `)`\n  arange(3\n          ^"),
        ("arange(3).foo()", "unknown method `foo`\n  arange(3).foo()\n            ^^^"),
        ("zeros(2, -3)", "zeros: -3 is not a size\n  zeros(2, -3)\n       ^^^^^^^"),
        ("", "expected arange(…) or zeros(…)\n  \n  ^"),
        ("arange(3)[0", "expected `,` or `]`"),
        ("arange(3);", "expected `.` or `[`"),
        ("arange(3).t(\u{1b}[31m)", "expected a whole number"),
    ];
    for (chain, complaint) in cases {
        run(&["explain", chain]).refused(complaint);
    }
}
