//! PyTorch in a process of its own, which does one piece of work for each line that it is sent.

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/torch_baseline.py");

/// A running script, or nothing if `PYTHON` is not set.
pub struct Torch(Option<Process>);

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Torch {
    pub fn start(batch: [usize; 3]) -> Result<Self, Box<dyn Error>> {
        let Some(python) = env::var_os("PYTHON") else { return Ok(Self(None)) };
        let mut child = Command::new(python)
            .arg(SCRIPT)
            .args(batch.map(|size| size.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().ok_or("no pipe to Python")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from Python")?);
        Ok(Self(Some(Process { child, requests, answers })))
    }

    /// The seconds that PyTorch took for one run; infinity without PyTorch.
    pub fn time(&mut self, work: &str) -> f64 {
        let answer = self.0.as_mut().map(|process| process.ask(work));
        answer.map_or(f64::INFINITY, |answer| answer.expect("an answer of PyTorch"))
    }

    /// Compares our results with those of PyTorch: all planes to within rounding, and all pixels.
    pub fn check(&mut self, planes: &[f32], pixels: &[u8]) -> Result<(), Box<dyn Error>> {
        let Some(process) = &mut self.0 else { return Ok(()) };
        let ours = checksum(planes.iter().map(|&x| f64::from(x)));
        let theirs = process.ask("checksum load")?;
        assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "planes: {ours}, PyTorch {theirs}");
        let ours = checksum(pixels.iter().map(|&x| f64::from(x)));
        let theirs = process.ask("checksum store")?;
        assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "pixels: {ours}, PyTorch {theirs}");
        Ok(())
    }
}

/// A sum that depends on the order of the values.
fn checksum(values: impl Iterator<Item = f64>) -> f64 {
    values.enumerate().map(|(index, value)| (index % 1009) as f64 * value).sum()
}

impl Process {
    fn ask(&mut self, work: &str) -> Result<f64, Box<dyn Error>> {
        writeln!(self.requests, "{work}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer.trim().parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The script may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
