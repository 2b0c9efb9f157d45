//! Files: opened only if they are regular, mapped on request.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
    sync::Arc,
};

use memmap2::Mmap;

use super::Result;

/// Opens a file; returns it with its length in bytes.
///
/// Others than regular files are refused before they are opened: a device has no length to check,
/// and opening a pipe waits for a writer.
pub(super) fn open(path: &Path) -> Result<(File, u64)> {
    let regular = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    };
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    // Checked again: the path may name another file by now.
    let len = regular(file.metadata()?)?;
    Ok((file, len))
}

/// A map of the whole file.
///
/// # Safety
/// The file is not changed, by this program or another one, while the map lives.
pub(super) unsafe fn map(path: &Path) -> Result<Arc<Mmap>> {
    let (file, _) = open(path)?;
    // SAFETY: the caller guarantees that nobody changes the file.
    Ok(Arc::new(unsafe { Mmap::map(&file) }?))
}
