//! Runs the program and checks what it did.

#![allow(dead_code, reason = "each test binary uses its share")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// Exit code and output of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensor-bench"));
    command.args(args).stdin(Stdio::null()).env_remove("TENSOR_SIMD");
    command
}

pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

pub(crate) fn run(args: &[&str]) -> Run {
    finish(&mut command(args))
}

impl Run {
    /// Exit code 0 and nothing on standard error.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// Exit code 2, a reason on standard error, nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(self, reason: &str) {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.err.contains(reason), "expected {reason:?} in {self:?}");
    }

    /// Exit code 1 and a reason on standard error.
    #[track_caller]
    pub(crate) fn failed(self, reason: &str) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.err.contains(reason), "expected {reason:?} in {self:?}");
        self.out
    }
}

/// A temporary folder with files.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("a file is written");
        self.name(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("a UTF-8 path").to_owned()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is readable");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// An `.npy` file of version 1.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    npy_with_header(
        &format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"),
        data,
    )
}

pub(crate) fn npy_with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// The header's dictionary and the data of an `.npy` file of version 1.
pub(crate) fn split_npy(path: impl AsRef<Path>) -> (String, Vec<u8>) {
    let bytes = fs::read(path).expect("the file is there");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(end % 64, 0, "the data is aligned");
    (String::from_utf8(bytes[10..end].to_vec()).unwrap().trim().to_owned(), bytes[end..].to_vec())
}

/// The array in Fortran order of the repository: f32, 64 x 48.
pub(crate) const FORTRAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/fortran_64x48_f32.npy");
/// The photograph: u8, 512 x 512 x 3.
pub(crate) const PHOTOGRAPH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/data/astronaut_hwc_u8.npy");
