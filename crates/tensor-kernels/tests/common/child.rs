//! Runs single tests in a process of their own, with another environment or with resource limits.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Output};

/// The environment variable that is set in child processes.
const CHILD_VARIABLE: &str = "TENSOR_TEST_CHILD";

/// Was this process started by [`again`]?
pub(crate) fn is_child() -> bool {
    env::var_os(CHILD_VARIABLE).is_some()
}

/// A command that runs a single test of this binary. In its process [`is_child`] is true.
pub(crate) fn again(test: &str) -> Command {
    let mut words = this_binary().into_iter();
    let mut command = Command::new(words.next().expect("a binary has a path"));
    command.args(words);
    prepared(command, test)
}

/// As [`again`], after a shell command that sets a limit: `ulimit -v 100000`.
pub(crate) fn again_limited(limit: &str, test: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")]);
    shell.args(this_binary());
    prepared(shell, test)
}

/// The command line that starts this binary: its path, preceded by the emulator if cargo runs tests
/// with one (`CARGO_TARGET_<TRIPLE>_RUNNER`).
fn this_binary() -> Vec<OsString> {
    let runner =
        format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_RUNNER", env::consts::ARCH.to_uppercase());
    let runner = env::var(runner).unwrap_or_default();
    let binary = env::current_exe().expect("the path of this binary").into_os_string();
    runner.split_whitespace().map(OsString::from).chain([binary]).collect()
}

fn prepared(mut command: Command, test: &str) -> Command {
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD_VARIABLE, "1");
    command
}

/// Runs the command; fails if the test failed or was not found. Returns the standard output.
pub(crate) fn printed(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("a process starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let ran = stdout.contains("1 passed");
    assert!(status.success() && ran, "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout.into_owned()
}
