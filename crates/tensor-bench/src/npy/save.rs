//! Writing: a header, the elements in C order, and a file that is whole or not there.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use tensor_kernels::DType;

use super::header::descr_of;
use crate::{Failure, Result};

/// The data of a file starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// Writes an array whose elements are given as bytes in C order.
///
/// # Errors
/// [`Failure::Work`] for an element type that NumPy has no name for, [`Failure::Output`] from the writer.
pub fn write(out: &mut dyn Write, dtype: DType, shape: &[usize], data: &[u8]) -> Result<()> {
    let descr =
        descr_of(dtype).ok_or_else(|| Failure::work(format!(".npy has no name for {dtype}")))?;
    out.write_all(&header(&descr, shape))?;
    out.write_all(data)?;
    Ok(())
}

/// Version 1 where its 16-bit length suffices, else version 2.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let before = if dictionary.len() + ALIGNMENT < usize::from(u16::MAX) { 10 } else { 12 };
    let total = (before + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = total - before;
    let mut bytes = b"\x93NUMPY".to_vec();
    match before {
        10 => bytes.extend([1, 0].into_iter().chain((length as u16).to_le_bytes())),
        _ => bytes.extend([2, 0].into_iter().chain((length as u32).to_le_bytes())),
    }
    bytes.extend(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Where a file is to be written.
///
/// A regular file is written beside its place and moved there when it is whole: a run that fails leaves what was there. A device or a pipe is
/// written to as it is, for it must not be replaced.
pub struct Target {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    File(NamedTempFile),
    Device(File),
}

impl Target {
    /// Opens the place for writing, before any work is done for it.
    ///
    /// # Errors
    /// A folder that does not exist or cannot be written, a path that is a folder.
    pub fn open(path: &Path) -> Result<Target> {
        let refused = |error| Failure::work(format!("cannot write {}: {error}", path.display()));
        let (path, sink) = open(path).map_err(refused)?;
        Ok(Target { path, sink })
    }

    /// Hands the file to `write` and puts it into its place if that succeeds.
    ///
    /// # Errors
    /// What `write` returns, and errors of the file system. In both cases the place is as it was.
    pub fn fill(mut self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let failed = |path: &Path, error: io::Error| {
            Failure::work(format!("cannot write {}: {error}", path.display()))
        };
        let file = match &mut self.sink {
            Sink::File(file) => file.as_file_mut(),
            Sink::Device(file) => file,
        };
        let mut buffer = BufWriter::new(file);
        match write(&mut buffer).and_then(|()| Ok(buffer.flush()?)) {
            Err(Failure::Output(error)) => return Err(failed(&self.path, error)),
            other => other?,
        }
        drop(buffer);
        match self.sink {
            Sink::Device(_) => Ok(()),
            Sink::File(file) => {
                file.as_file().sync_all().map_err(|error| failed(&self.path, error))?;
                file.persist(&self.path).map_err(|error| failed(&self.path, error.error))?;
                Ok(())
            }
        }
    }
}

fn open(path: &Path) -> io::Result<(PathBuf, Sink)> {
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(metadata) = &existing
        && !metadata.is_file()
    {
        return Ok((path.to_owned(), Sink::Device(OpenOptions::new().write(true).open(path)?)));
    }
    // A link stays a link: its target is replaced.
    let path = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Asked first because the error of a temporary file names a file nobody has heard of.
    fs::metadata(folder)?;
    let file = temporary(folder)?;
    if let Some(metadata) = existing {
        OpenOptions::new().write(true).open(&path)?;
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok((path, Sink::File(file)))
}

#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    // What any new file gets: the umask takes its share of this.
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys_to_the_byte() {
        let header = header("<f4", &[3, 4]);
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(&header[10..], format!("{text:<117}\n").as_bytes());
    }

    #[test]
    fn shapes_are_written_as_tuples() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&header("|u1", shape)).into_owned();
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'shape': (7,), }"));
        assert!(text(&[7, 8]).contains("'shape': (7, 8), }"));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        let result = Target::open(&path).unwrap().fill(|out| {
            out.write_all(b"half")?;
            Err(Failure::work("broken"))
        });
        assert_eq!(result.unwrap_err().to_string(), "broken");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_appears_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        Target::open(&path).unwrap().fill(|out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(Target::open(&folder.path().join("no/out.npy")).is_err());
        assert!(Target::open(folder.path()).is_err());
    }
}
