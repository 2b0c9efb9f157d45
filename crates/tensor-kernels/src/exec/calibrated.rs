//! A machine as it was measured, kept in a file.
//!
//! The operating system does not describe two properties of a machine: the size from which
//! non-temporal stores are faster, and the work from which another thread makes it faster.
//! [`Machine::detect`] takes those of the machines it was fitted on. `tensor-bench calibrate
//! --machine` measures both here, and writes them to a file that [`Machine::calibrated`] reads. A
//! file of another CPU is refused.
//!
//! The file is text, a line for each property, which can be edited:
//!
//! ```text
//! tensor machine 1
//! cpu AuthenticAMD family 26 model 2 stepping 1
//! l1 49152
//! l2 1048576
//! stream 4194304
//! grain 131072
//! ```

use std::{
    env, fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process,
};

use tensor_core::{Error, Result};

use super::Machine;

/// The first line. The number changes when a property changes its meaning.
const FIRST_LINE: &str = "tensor machine 1";

/// Where a CPU is not described.
const UNKNOWN_CPU: &str = "unknown";

impl Machine {
    /// This machine as `tensor-bench calibrate --machine` has measured it, from the
    /// [default file](Self::calibration_file). Nothing else reads that file: where it is wanted, it
    /// is asked for.
    ///
    /// ```
    /// use tensor_kernels::{Exec, Machine, Tensor};
    ///
    /// // Measured if it has been, else as the operating system describes it.
    /// let machine = Machine::calibrated().unwrap_or_default();
    /// let exec = Exec::current()?.with_machine(machine);
    /// let x = Tensor::<f32>::zeros([64, 48])?;
    /// assert_eq!(tensor_kernels::to_vec(&exec, &x.t()?)?.len(), 64 * 48);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Calibration`] if there is no such file, or it is not one of this CPU.
    pub fn calibrated() -> Result<Self> {
        Self::read_calibration(&Self::calibration_file()?)
    }

    /// The file that [`calibrated`](Self::calibrated) reads: `tensor/machine` in the user's folder
    /// for caches, which is `$XDG_CACHE_HOME` or `~/.cache`, and `%LOCALAPPDATA%` on Windows.
    ///
    /// # Errors
    /// [`Error::Calibration`] if the environment names no such folder.
    pub fn calibration_file() -> Result<PathBuf> {
        let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let caches = match cfg!(windows) {
            true => folder("LOCALAPPDATA"),
            false => {
                folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
            }
        };
        let wanted = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_CACHE_HOME or HOME" };
        let why = || format!("{wanted} must be set to an absolute path");
        let caches = caches.ok_or_else(|| refused(Path::new("tensor/machine"), why()))?;
        Ok(caches.join("tensor").join("machine"))
    }

    /// Reads a file that [`write_calibration`](Self::write_calibration) wrote. What is not a number
    /// of bytes that was measured is as it is detected.
    ///
    /// # Errors
    /// [`Error::Calibration`] if the file cannot be read, is malformed, or is of another CPU.
    pub fn read_calibration(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|why| refused(path, why.to_string()))?;
        Self::parse(&text, &cpu()).map_err(|why| refused(path, why))
    }

    /// Writes these properties as those of this CPU, into a folder that exists. A file that is
    /// there is replaced as a whole, or not at all.
    ///
    /// # Errors
    /// [`Error::Calibration`] if the file cannot be written.
    pub fn write_calibration(&self, path: &Path) -> Result<()> {
        let refused = |why: io::Error| refused(path, why.to_string());
        // A link stays one: what it leads to is replaced. A device is written to.
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return fs::write(path, self.text(&cpu())).map_err(refused);
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".partial-{}", process::id()));
        let partial = Path::new(&partial);
        let written =
            fs::write(partial, self.text(&cpu())).and_then(|()| fs::rename(partial, path));
        written.map_err(|why| {
            // If it was not written, there is nothing to remove.
            let _ = fs::remove_file(partial);
            refused(why)
        })
    }

    fn text(&self, cpu: &str) -> String {
        let Self { l1, l2, stream, grain, .. } = self;
        format!("{FIRST_LINE}\ncpu {cpu}\nl1 {l1}\nl2 {l2}\nstream {stream}\ngrain {grain}\n")
    }

    fn parse(text: &str, cpu: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if first != FIRST_LINE {
            return Err(format!("it begins with {first:?}, not {FIRST_LINE:?}"));
        }
        let mut machine = Self { l1: 0, l2: 0, stream: 0, grain: 0, ..Self::detect() };
        let mut found_cpu = None;
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            match name {
                "cpu" => found_cpu = Some(value),
                "l1" => machine.l1 = bytes(line, value)?,
                "l2" => machine.l2 = bytes(line, value)?,
                "stream" => machine.stream = bytes(line, value)?,
                "grain" => machine.grain = bytes(line, value)?,
                _ => return Err(format!("it has an unknown line: {line:?}")),
            }
        }
        let sizes = [machine.l1, machine.l2, machine.stream, machine.grain];
        let missing = ["l1", "l2", "stream", "grain"].into_iter().zip(sizes).find(|of| of.1 == 0);
        match (found_cpu, missing) {
            (None, _) => Err("it has no line \"cpu\"".to_owned()),
            (_, Some((name, _))) => Err(format!("it has no line {name:?}")),
            (Some(found), None) if found != cpu => {
                Err(format!("it was measured on {found:?}; this is {cpu:?}"))
            }
            _ => Ok(machine),
        }
    }
}

fn bytes(line: &str, value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(bytes @ 1..) => Ok(bytes),
        _ => Err(format!("{line:?} has no number of bytes, at least 1")),
    }
}

fn refused(file: &Path, why: String) -> Error {
    Error::Calibration { file: file.display().to_string(), why }
}

/// The CPU, as far as Linux describes it: its name may be that of several generations.
pub(super) fn cpu() -> String {
    // The first core's lines: the kernel makes those of all cores, if they are read.
    let mut start = Vec::new();
    let _ = fs::File::open("/proc/cpuinfo").map(|file| file.take(4096).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().map(str::trim) == Some(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let fields = ["vendor_id", "cpu family", "model", "stepping"].map(field);
    let [Some(vendor), Some(family), Some(model), Some(stepping)] = fields else {
        return UNKNOWN_CPU.to_owned();
    };
    format!("{vendor} family {family} model {model} stepping {stepping}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let machine = Machine { stream: 123_456, grain: 7, ..Machine::detect() };
        assert_eq!(Machine::parse(&machine.text("a b"), "a b"), Ok(machine));
    }

    #[test]
    fn fault_a_malformed_calibration_is_refused_and_says_why() {
        let text = Machine::REFERENCE.text("a");
        for (text, why) in [
            (String::new(), "it begins with \"\", not \"tensor machine 1\""),
            (text.replace("cpu a\n", ""), "it has no line \"cpu\""),
            (text.replace("l2 1048576\n", ""), "it has no line \"l2\""),
            (text.replace("1048576", "0"), "\"l2 0\" has no number of bytes, at least 1"),
            (text.replace("1048576", "-4"), "\"l2 -4\" has no number of bytes, at least 1"),
            (text.replace("l2", "l3"), "it has an unknown line: \"l3 1048576\""),
            (text.replace("cpu a", "cpu b"), "it was measured on \"b\"; this is \"a\""),
        ] {
            assert_eq!(Machine::parse(&text, "a"), Err(why.to_owned()));
        }
    }

    #[test]
    fn fault_a_missing_calibration_names_its_file() {
        let path = Path::new("/nonexistent/machine");
        let error = Machine::read_calibration(path).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/machine: "), "{error}");
        let error = Machine::REFERENCE.write_calibration(path).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/machine: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_a_device_is_written_to() {
        let folder = env::temp_dir().join(format!("tensor-calibration-{}", process::id()));
        fs::create_dir(&folder).unwrap();
        let (file, link) = (folder.join("machine"), folder.join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Machine::REFERENCE.write_calibration(&link).unwrap();
        Machine::REFERENCE.write_calibration(Path::new("/dev/null")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let read = Machine::read_calibration(&file).unwrap();
        assert_eq!((read.l1, read.stream), (Machine::REFERENCE.l1, Machine::REFERENCE.stream));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing is left behind");
        fs::remove_dir_all(&folder).unwrap();
    }
}
