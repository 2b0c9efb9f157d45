//! Files that the user names. Only regular ones are read: a device has no length to check and may have no end.
//!
//! What is no regular file is refused before it is opened: Windows opens no folder, and a pipe is open only when somebody writes to it.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

use crate::{Failure, Result, system::memory};

/// A file to read and the number of bytes in it.
///
/// # Errors
/// [`Failure::Input`] for what cannot be opened or is not a regular file.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let unreadable = |error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let regular = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(Failure::input(format!("{} is not a regular file", path.display()))),
    };
    regular(fs::metadata(path).map_err(unreadable)?)?;
    let file = File::open(path).map_err(unreadable)?;
    // Asked again of what was opened: another file may have taken the name.
    let len = regular(file.metadata().map_err(unreadable)?)?;
    Ok((file, len))
}

/// The whole of a text file.
///
/// # Errors
/// [`Failure::Input`] for what cannot be opened, is not a regular file or not text; [`Failure::Work`] for more than memory holds.
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

    /// To open it would be to wait for a writer, who never comes.
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
