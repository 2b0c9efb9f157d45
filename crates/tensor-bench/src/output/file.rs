//! Output files that are written completely or not at all.
//!
//! A [`Target`] is opened before the measurement, which may take minutes, so that an unwritable
//! path is an error at once. Until the result is written there is no temporary file: an interrupted
//! run leaves the folder unchanged.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{Failure, Result};

/// An output path.
///
/// A regular file is written to a temporary file in the same folder, which then replaces it: a
/// failed run leaves the old file. A device or a pipe is written to directly, because it must not
/// be replaced.
pub struct Target {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    /// A regular file, with the permissions of the one it replaces.
    File(Option<Permissions>),
    Device(File),
}

impl Target {
    /// Checks that the path can be written.
    ///
    /// # Errors
    /// A folder that does not exist or cannot be written, a path that is a folder.
    pub fn open(path: &Path) -> Result<Target> {
        open(path).map_err(|error| unwritable(path, &error))
    }

    /// Is it a device or a pipe, such as the standard output?
    pub fn is_device(&self) -> bool {
        matches!(self.sink, Sink::Device(_))
    }

    /// Calls `write` with the file and moves the file to its path if that succeeds.
    ///
    /// # Errors
    /// Those of `write`, and errors of the file system. The old file is then unchanged.
    pub fn fill(self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let Target { path, sink } = self;
        match sink {
            Sink::Device(file) => fill(&path, &file, write),
            Sink::File(permissions) => {
                let failed = |error| unwritable(&path, &error);
                let file = partial(&path, permissions).map_err(failed)?;
                fill(&path, file.as_file(), write)?;
                file.as_file().sync_all().map_err(failed)?;
                file.persist(&path).map_err(|error| failed(error.error))?;
                Ok(())
            }
        }
    }
}

/// Refuses to write over a file that is read, or that is written too.
///
/// # Errors
/// Two of the paths lead to one file.
pub fn are_different(paths: &[Option<&Path>]) -> Result<()> {
    let paths: Vec<&Path> = paths.iter().copied().flatten().collect();
    for (at, a) in paths.iter().enumerate() {
        if let Some(b) = paths[..at].iter().find(|b| is_one_file(a, b)) {
            let (a, b) = (a.display(), b.display());
            return Err(Failure::input(format!("{a} and {b} are one file: give another one")));
        }
    }
    Ok(())
}

/// Whether both paths lead to one file, whatever links there are on the way. A device may be
/// written to twice.
pub fn is_one_file(a: &Path, b: &Path) -> bool {
    let is_device = |path: &Path| fs::metadata(path).is_ok_and(|found| !found.is_file());
    let real = |path: &Path| fs::canonicalize(path).ok();
    !is_device(a) && (a == b || real(a).is_some_and(|a| real(b) == Some(a)) || is_one_inode(a, b))
}

/// Hard links are names of one file, too.
#[cfg(unix)]
fn is_one_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    inode(a).is_some_and(|a| inode(b) == Some(a))
}

#[cfg(not(unix))]
fn is_one_inode(_: &Path, _: &Path) -> bool {
    false
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::work(format!("cannot write {}: {error}", path.display()))
}

fn fill(path: &Path, file: &File, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut buffer = BufWriter::new(file);
    match write(&mut buffer).and_then(|()| Ok(buffer.flush()?)) {
        Err(Failure::Output(error)) => Err(unwritable(path, &error)),
        other => other,
    }
}

fn open(path: &Path) -> io::Result<Target> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(metadata) = &existing
        && !metadata.is_file()
    {
        let sink = Sink::Device(OpenOptions::new().write(true).open(path)?);
        return Ok(Target { path: path.to_owned(), sink });
    }
    // A symbolic link stays one: its target is replaced.
    let path = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let permissions = existing.map(|metadata| metadata.permissions());
    if permissions.is_some() {
        OpenOptions::new().write(true).open(&path)?;
    }
    // The temporary file is removed at once: only whether it can be created matters.
    partial(&path, permissions.clone())?;
    Ok(Target { path, sink: Sink::File(permissions) })
}

/// The temporary file. Its name tells its purpose, should it be left behind.
fn partial(path: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Checked first, because the error for a temporary file would name that file.
    fs::metadata(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // File names have at most 255 bytes.
    let name: String = name.chars().take(50).collect();
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{name}.partial-");
    let file = with_default_permissions(builder.prefix(&prefix)).tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// The permissions of any new file, before the umask.
#[cfg(unix)]
fn with_default_permissions<'b, 'n>(
    builder: &'b mut tempfile::Builder<'n, 'n>,
) -> &'b mut tempfile::Builder<'n, 'n> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn with_default_permissions<'b, 'n>(
    builder: &'b mut tempfile::Builder<'n, 'n>,
) -> &'b mut tempfile::Builder<'n, 'n> {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
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
        assert_eq!(names(folder.path()), ["out.npy"]);
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

    #[test]
    fn nothing_lies_in_the_folder_until_there_is_something_to_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let target = Target::open(&path).unwrap();
        assert!(names(folder.path()).is_empty());
        let meanwhile = |out: &mut dyn Write| {
            let names = names(folder.path());
            assert!(names.len() == 1 && names[0].starts_with(".out.json.partial-"), "{names:?}");
            Ok(out.write_all(b"new")?)
        };
        target.fill(meanwhile).unwrap();
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_name_may_be_as_long_as_names_can_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(255));
        Target::open(&path).unwrap().fill(|out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
