//! Files that the user names. Only regular ones are read: a device has no length to check and may have no end.

use std::{fs::File, io, path::Path};

use crate::{Failure, Result};

/// A file to read and the number of bytes in it.
///
/// # Errors
/// [`Failure::Input`] for what cannot be opened or is not a regular file.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let unreadable = |error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(Failure::input(format!("{} is not a regular file", path.display()))),
    }
}

/// The whole of a text file.
///
/// # Errors
/// [`Failure::Input`] for what cannot be opened, is not a regular file or not text.
pub fn text(path: &Path) -> Result<String> {
    let (file, _) = open(path)?;
    io::read_to_string(file)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))
}
