//! Usage errors are exit code 2 with nothing on standard output. Output that cannot be written is
//! an error, unless the reader closed the pipe.

use crate::common::{FORTRAN, Folder, command, finish, run};

#[test]
fn fault_bad_arguments_are_refused() {
    let cases: &[(&[&str], &str)] = &[
        (&["frobnicate"], "frobnicate"),
        (&["--frobnicate"], "--frobnicate"),
        (&["suite"], "FILE"),
        (&["suite", "/missing/suite.json"], "cannot read /missing/suite.json"),
        (&["explain"], "CHAIN"),
        (&["convert", "in.npy"], "OUTPUT"),
        (&["report", "--threads", "0"], "0 threads"),
        (&["report", "--threads", "70000"], "70000 threads are more than the"),
        (&["report", "--threads", "-1"], "-1"),
        (&["report", "--threads", "1e30"], "1e30"),
        (&["report", "--threads", "99999999999999999999"], "99999999999999999999"),
        (&["--threads", "0"], "0 threads"),
        (&["report", "--flip", "0"], "--npy"),
        (&["report", "--npy", "/missing/a.npy"], "cannot read /missing/a.npy"),
        (&["report", "--npy", FORTRAN, "--permute", "1,x"], "--permute"),
        (&["report", "--npy", FORTRAN, "--transpose", "1"], "expected two dimensions"),
        (&["report", "--npy", FORTRAN, "--slice", "::0"], "a slice step cannot be 0"),
        (&["report", "--npy", "/"], "not a regular file"),
        (&["suite", "/"], "not a regular file"),
    ];
    for (args, reason) in cases {
        println!("{args:?}");
        run(args).refused(reason);
    }
}

#[cfg(unix)]
#[test]
fn fault_devices_are_not_read() {
    run(&["suite", "/dev/zero"]).refused("not a regular file");
    run(&["report", "--npy", "/dev/zero"]).refused("not a regular file");
}

#[test]
fn fault_thread_counts_of_a_suite_are_checked_before_anything_runs() {
    let folder = Folder::new();
    let suite = folder
        .file("s.json", r#"[{"group": "g", "id": "a", "dtype": "u8", "base": [4], "ops": []}]"#);
    for (threads, reason) in
        [("0", "0 threads"), ("1,70000", "70000 threads"), ("1,", "invalid"), ("two", "invalid")]
    {
        run(&["suite", &suite, "--json", "--quick", "--threads", threads]).refused(reason);
    }
}

#[test]
fn fault_an_unknown_simd_level_is_refused_with_the_known_ones() {
    for args in [&["report", "--quick"][..], &["explain", "arange(6).reshape(2,3).t()"]] {
        finish(command(args).env("TENSOR_SIMD", "bogus"))
            .refused("unknown SIMD level \"bogus\": expected");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    assert!(run(&["--help"]).succeeded().contains("explain"));
    assert!(run(&["--version"]).succeeded().starts_with("tensor-bench "));
}

#[test]
fn help_says_when_to_use_a_command_and_ends_with_an_example() {
    let commands = [
        "report",
        "advise",
        "calibrate",
        "suite",
        "results",
        "record",
        "compare",
        "history",
        "convert",
        "explain",
    ];
    for command in commands {
        let text = run(&[command, "--help"]).succeeded();
        assert!(text.starts_with(&format!("Use `{command}` ")), "{text}");
        let (_, example) = text.split_once("\nExample:\n").expect("an example");
        assert!(example.starts_with(&format!("  tensor-bench {command} ")), "{text}");
        assert_eq!(example.trim_end().lines().count(), 1, "{text}");
    }
    let suite = run(&["suite", "--help"]).succeeded();
    assert!(suite.contains("not a document of the command `record`"), "{suite}");
}

#[test]
fn fault_a_reader_who_stops_reading_is_no_error() {
    for args in [&["explain", "arange(6)"][..], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = command(args).stdout(writer).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!((status.status.code(), status.stderr.len()), (Some(0), 0), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fault_a_full_disk_is_an_error() {
    for args in [&["explain", "arange(6)"][..], &["--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        finish(command(args).stdout(full)).failed("cannot write the output");
    }
}
