//! Tests that need a process of their own: another environment, or limits that the other tests
//! would not survive.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Output};

/// Set in processes that a test started.
const ROLE: &str = "TENSOR_TEST_CHILD";

/// Is this the process that [`again`] started?
pub(crate) fn is_child() -> bool {
    env::var_os(ROLE).is_some()
}

/// A command that runs one test of this binary by itself. In it, [`is_child`] holds.
pub(crate) fn again(test: &str) -> Command {
    let mut words = this_binary().into_iter();
    let mut command = Command::new(words.next().expect("a binary has a path"));
    command.args(words);
    prepared(command, test)
}

/// The same under a limit that a shell sets first, as `ulimit -v 100000`.
pub(crate) fn again_limited(limit: &str, test: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")]);
    shell.args(this_binary());
    prepared(shell, test)
}

/// How to start this binary: by its path, or, where an emulator runs it, which the system cannot do
/// by itself, by the emulator that cargo was told of, `CARGO_TARGET_<TRIPLE>_RUNNER`.
fn this_binary() -> Vec<OsString> {
    let runner =
        format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_RUNNER", env::consts::ARCH.to_uppercase());
    let runner = env::var(runner).unwrap_or_default();
    let binary = env::current_exe().expect("the path of this binary").into_os_string();
    runner.split_whitespace().map(OsString::from).chain([binary]).collect()
}

fn prepared(mut command: Command, test: &str) -> Command {
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ROLE, "1");
    command
}

/// Runs it, fails if the test did (or was not found), and gives what it printed.
pub(crate) fn printed(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("a process starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let ran = stdout.contains("1 passed");
    assert!(status.success() && ran, "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout.into_owned()
}
