//! `advise` and `calibrate`: predictions from known rates, the deterministic part of measured
//! answers, errors.

use crate::common::{Folder, command, finish, run};
use serde_json::Value;
use tensor_bench::{
    advise::{
        Calibration,
        calibration::{ProbeTimes, Speed, Use},
        kind::ViewKind,
    },
    measure::setting,
    system::machine::MachineInfo,
    track::build::COMMIT,
};
use tensor_kernels::{Exec, SimdLevel};

/// A calibration of this machine for one thread: a transposed 32 x 32 array of floats takes 400 ns
/// a use, 100 as a contiguous copy, 600 to copy.
fn calibration() -> Calibration {
    let machine = MachineInfo::read(&setting::exec().unwrap().simd());
    let (width, bytes) = (4, 4096);
    let unary = Use { strided_ns: 400.0, contiguous_ns: 100.0 };
    let rate = ProbeTimes {
        kind: ViewKind::Transposed,
        width,
        bytes,
        unary,
        binary: unary,
        exp_ns: None,
        copy_ns: 600.0,
    };
    let (op, dtype) = ("neg".to_owned(), "f32".to_owned());
    let exp = Speed { op: "exp".to_owned(), dtype: "f32".to_owned(), each_ns: 1.0 };
    let speed = Speed { op, dtype, each_ns: 0.01 };
    Calibration::new(machine, 1, vec![rate], vec![speed, exp])
}

fn text(calibration: &Calibration) -> String {
    serde_json::to_string(calibration).unwrap()
}

const TRANSPOSED: [&str; 9] =
    ["advise", "--shape", "32,32", "--permute", "1,0", "--op", "neg", "--threads", "1"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TRANSPOSED.iter().chain(more).copied().collect()
}

#[test]
fn an_answer_is_worked_out_from_the_calibration() {
    let folder = Folder::new();
    let file = folder.file("c.json", text(&calibration()));
    for (uses, choice, kept, copied) in
        [("1", "keep", 400.0, 700.0), ("2", "copy_once", 800.0, 800.0)]
    {
        let args = with(&["--calibration", &file, "--uses", uses, "--json"]);
        let answer: Value = serde_json::from_str(&run(&args).succeeded()).unwrap();
        assert_eq!((&answer["choice"], &answer["source"]), (&choice.into(), &"predicted".into()));
        let costs = ["strided_ns", "contiguous_ns", "copy_ns", "kept_ns", "copied_ns"];
        let costs = costs.map(|cost| answer[cost].as_f64().unwrap().round());
        assert_eq!(costs, [400.0, 100.0, 600.0, kept, copied]);
        assert_eq!(
            (&answer["break_even_uses"], &answer["kind"]),
            (&2.into(), &"transposed".into())
        );
        assert_eq!((&answer["path"], &answer["contiguous"]), (&"transposed".into(), &false.into()));
    }
}

#[test]
fn the_plan_of_one_use_is_explained_on_request() {
    let folder = Folder::new();
    let file = folder.file("c.json", text(&calibration()));
    let plan = |args: &[&str]| {
        let text = run(args).succeeded();
        let (_, plan) = text.split_once("\nplan of one use of the view\n\n").expect("a plan");
        assert!(plan.lines().all(|line| line.chars().count() <= 100), "{plan}");
        plan.to_owned()
    };
    let neg = plan(&with(&["--calibration", &file, "--plan"]));
    assert!(neg.starts_with("elementwise  1024 elements of [4, 4] bytes"), "{neg}");
    let view = ["advise", "--shape", "64,64", "--permute", "1,0", "--threads", "1", "--plan"];
    let of = |more: &[&str]| plan(&[&view[..], more].concat());
    let add = of(&["--op", "add"]);
    assert!(add.starts_with("elementwise  4096 elements of [4, 4, 4] bytes"), "{add}");
    let in_registers = "computed in the registers of the transposing copy";
    let is_scalar = Exec::current().expect("a level").simd() == SimdLevel::Scalar;
    assert_eq!(add.contains(in_registers), !is_scalar, "{add}");
    let exp = of(&["--op", "exp"]);
    assert!(!exp.contains(in_registers) && exp.contains("transposed into scratch"), "{exp}");
    let sum = of(&["--op", "sum", "--dims", "1"]);
    assert!(sum.starts_with("reduction"), "{sum}");
    let copy = of(&["--op", "copy"]);
    assert!(copy.starts_with("copy         4096 elements of 4 bytes"), "{copy}");
    run(&with(&["--calibration", &file, "--plan", "--json"])).refused("--json");
}

#[test]
fn the_text_says_what_to_do_and_why() {
    let folder = Folder::new();
    let file = folder.file("c.json", text(&calibration()));
    let text = run(&with(&["--calibration", &file, "--uses", "3"])).succeeded();
    let expected = "\
neg over a view of f32, shape (32, 32) strides (1, 32), path transposed; 1 thread, predicted

copy once with contiguous(): break-even at 2 uses

                 copy  each use  3 uses
view as it is       -    400 ns  1.2 us
copy once      600 ns    100 ns  900 ns
";
    assert_eq!(text, expected);
}

#[test]
fn every_operation_of_the_library_is_advised_on() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("copy", &["--op", "copy"], "copy over a view of f32, shape (40, 30) strides (1, 40),"),
        ("cast", &["--op", "cast", "--dtype", "u8"], "cast to f32 over a view of u8,"),
        ("cast", &["--op", "cast", "--to", "f16"], "cast to f16 over a view of f32,"),
        ("sum", &["--op", "sum"], "sum of dimensions (0, 1) over a view of f32,"),
        ("sum", &["--op", "sum", "--dims", "-1"], "sum of dimensions (1) over a view of f32,"),
        ("argmax", &["--op", "argmax", "--dims", "0"], "argmax of dimensions (0) over a view"),
        ("exp", &["--op", "exp", "--dtype", "u8"], "exp over a view of u8,"),
    ];
    for (op, more, head) in cases {
        let view = ["advise", "--shape", "30,40", "--permute", "1,0", "--threads", "1"];
        let args = [&view[..], more].concat();
        let text = run(&args).succeeded();
        assert!(text.starts_with(head), "{op}: {text}");
        let answer = run(&[&args[..], &["--json"]].concat()).succeeded();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["op"], *op);
        for cost in ["strided_ns", "contiguous_ns", "copy_ns"] {
            assert!(answer[cost].as_f64().unwrap() > 0.0, "{answer}");
        }
    }
}

#[test]
fn a_calibration_of_another_commit_is_used_with_a_note() {
    let folder = Folder::new();
    let other = Calibration { commit: Some("abc".to_owned()), ..calibration() };
    let file = folder.file("c.json", text(&other));
    let answer = run(&with(&["--calibration", &file]));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let note = COMMIT.map(|ours| {
        format!(
            "note: {file}: made by a build of commit abc, this is a build of {ours}; \
         run `calibrate` again\n"
        )
    });
    assert_eq!(answer.err, note.unwrap_or_default());
}

/// Windows has another cache folder.
#[cfg(unix)]
#[test]
fn the_usual_place_is_in_the_folder_for_caches() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("tensor-bench")).unwrap();
    folder.file("tensor-bench/calibration-1-threads.json", text(&calibration()));
    let args = with(&["--predict"]);
    let answer = finish(command(&args).env("XDG_CACHE_HOME", folder.path(""))).succeeded();
    assert!(answer.contains("predicted"), "{answer}");
}

#[test]
fn fault_a_calibration_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = Folder::new();
    let (own, whole) = (calibration(), text(&calibration()));
    let other = |change: fn(&mut Calibration)| {
        let mut other = own.clone();
        change(&mut other);
        text(&other)
    };
    let cases = [
        (whole[..whole.len() / 2].to_owned(), "not a whole calibration"),
        ("[]".to_owned(), "not a calibration"),
        (other(|c| c.machine.cpu = Some("an abacus".to_owned())), "another machine: an abacus"),
        (other(|c| c.machine.version = "0.0.1".to_owned()), "made by version 0.0.1"),
        (other(|c| c.threads = 7), "for 7 threads, not for 1"),
        (other(|c| c.rates.clear()), "no rate for views of kind Transposed"),
        (other(|c| c.speeds.clear()), "no speed for neg on elements of dtype f32"),
    ];
    for (text, reason) in cases {
        let file = folder.file("c.json", text);
        run(&with(&["--calibration", &file])).refused(reason);
    }
    run(&with(&["--calibration", "/missing/c.json"])).refused("cannot read /missing/c.json");
}

/// The default file may be replaced, but an unwritable one is an error before anything is measured.
#[cfg(unix)]
#[test]
fn fault_a_place_that_cannot_be_written_is_an_error_with_a_way_out() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("tensor-bench/calibration-1-threads.json")).unwrap();
    let args = with(&["--predict"]);
    let ended = finish(command(&args).env("XDG_CACHE_HOME", folder.path("")));
    assert!(ended.err.contains("calibrating, about a minute: "), "{ended:?}");
    assert!(ended.err.contains("not a regular file"), "{ended:?}");
    assert!(ended.err.contains("--measure needs no calibration"), "{ended:?}");
    assert_eq!(ended.failed("cannot write"), "");
    run(&["calibrate", "--out", "/missing/c.json"]).failed("cannot write /missing/c.json");
    let check = ["calibrate", "--check", "--calibration", "/missing/c.json"];
    run(&check).refused("cannot read /missing/c.json");
}

#[test]
fn measuring_finds_costs_and_weighs_them() {
    let answer = run(&with(&["--measure", "--uses", "5", "--json"])).succeeded();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let cost = |name: &str| answer[name].as_f64().unwrap();
    assert!(["strided_ns", "contiguous_ns", "copy_ns"].into_iter().all(|name| cost(name) > 0.0));
    assert_eq!(cost("kept_ns"), 5.0 * cost("strided_ns"));
    assert_eq!(cost("copied_ns"), cost("copy_ns") + 5.0 * cost("contiguous_ns"));
    let copy = answer["break_even_uses"].as_u64().is_some_and(|fewest| fewest <= 5);
    assert_eq!(answer["choice"], if copy { "copy_once" } else { "keep" });
    assert_eq!(answer["source"], "measured");
}

#[test]
fn nothing_is_copied_of_what_is_contiguous() {
    let args = ["advise", "--shape", "1,64", "--permute", "1,0", "--op", "neg", "--threads", "1"];
    let text = run(&args).succeeded();
    assert!(text.contains("already contiguous: there is nothing to copy"), "{text}");
}

#[test]
fn fault_questions_without_an_answer_are_refused() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "--shape"),
        (&["--shape", "4,x"], "--shape"),
        (&["--shape", "-4"], "--shape"),
        (&["--shape", "0,3"], "shape [0, 3] has no elements"),
        (&["--shape", "4294967296,4294967296"], "size"),
        (&["--shape", "4,4", "--permute", "0,0"], "permute"),
        (&["--shape", "4,4", "--slice", "::0"], "a slice step cannot be 0"),
        (&["--shape", "4,4", "--op", "frobnicate"], "expected one of copy, add"),
        (&["--shape", "4,4", "--op", "add", "--dims", "0"], "add takes no dims"),
        (&["--shape", "4,4", "--op", "sum", "--dims", "0,-2"], "dimension 0 twice"),
        (&["--shape", "4,4", "--op", "sum", "--to", "f64"], "sum has no choice of a result type"),
        (&["--shape", "4,4", "--dtype", "u8", "--op", "cast", "--to", "u8"], "one of the two must"),
        (&["--shape", "4,4", "--op", "sum", "--predict"], "sum is not predicted"),
        (&["--shape", "4,4", "--dtype", "f31"], "f31"),
        (&["--shape", "4,4", "--op", "sqrt", "--dtype", "i16"], "sqrt of i16 is not measured"),
        (&["--shape", "4,4", "--op", "sqrt", "--dtype", "bool"], "sqrt is not defined"),
        (&["--shape", "4,4", "--uses", "0"], "0 uses"),
        (&["--shape", "4,4", "--uses", "-1"], "-1"),
        (&["--shape", "4,4", "--threads", "0"], "0 threads"),
        (&["--shape", "4,4", "--measure", "--predict"], "cannot be used with"),
    ];
    for (args, reason) in cases {
        println!("{args:?}");
        run(&[&["advise"], *args].concat()).refused(reason);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fault_more_than_memory_holds_is_not_begun() {
    run(&["advise", "--shape", "1048576,1048576", "--permute", "1,0"]).failed("of memory");
}
