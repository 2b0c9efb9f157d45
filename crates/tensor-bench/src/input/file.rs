//! Reading files that the user names.
//!
//! Only regular files are read: a device has no length to check and may have no end. Other files
//! are refused before they are opened, because opening a pipe blocks until it has a writer, and
//! Windows cannot open a folder.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

use crate::{Failure, Result, system::memory};

/// Opens a file; returns it with its length in bytes.
///
/// # Errors
/// [`Failure::Input`] for a file that cannot be opened or is not regular.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let unreadable = |error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let regular = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(Failure::input(format!("{} is not a regular file", path.display()))),
    };
    regular(fs::metadata(path).map_err(unreadable)?)?;
    let file = File::open(path).map_err(unreadable)?;
    // Checked again: the path may name another file by now.
    let len = regular(file.metadata().map_err(unreadable)?)?;
    Ok((file, len))
}

/// The whole of a text file.
///
/// # Errors
/// [`Failure::Input`] for a file that cannot be opened, is not regular or not UTF-8;
/// [`Failure::Work`] for one that does not fit into memory.
pub fn text(path: &Path) -> Result<String> {
    let (file, len) = open(path)?;
    memory::preflight(len.into()).map_err(|failure| failure.at(path.display()))?;
    io::read_to_string(file)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_with_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "four").unwrap();
        assert_eq!(open(&path).unwrap().1, 4);
        assert_eq!(text(&path).unwrap(), "four");
    }

    #[test]
    fn a_folder_is_no_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open(folder.path()).unwrap_err();
        assert!(refused.to_string().ends_with(" is not a regular file"), "{refused}");
        assert_eq!(refused.exit_code(), 2);
    }

    /// Opening the pipe would block forever.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_without_waiting_for_a_writer() {
        use std::{process::Command, sync::mpsc, thread, time::Duration};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(open(&path).map(drop)));
        let refused = receiver.recv_timeout(Duration::from_secs(10)).expect("an answer");
        assert!(refused.unwrap_err().to_string().ends_with("pipe is not a regular file"));
    }
}
