//! The rates of a machine, stored in a file for [`predict`](Calibration::predict).
//!
//! A calibration belongs to a machine, a version of this program and a number of threads;
//! [`Calibration::check_for`] refuses any other and says what differs. Another commit of the same
//! version gives a note ([`Calibration::other_commit`]). The default file is in the cache folder of
//! the user ([`default_path`]).

use std::path::PathBuf;

use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};

use super::kind::ViewKind;
use crate::{
    Failure, Result, output::document, system::machine::MachineInfo, track::build::COMMIT,
};

/// The value of the field `form`.
pub const FORM: &str = "tensor-bench calibration";

/// Changes when a field or a probe changes its meaning.
pub const SCHEMA: u32 = 2;

const KIND: document::DocumentKind = document::DocumentKind {
    name: "calibration",
    form: Some(FORM),
    schema: SCHEMA,
    command: "calibrate",
};

/// The rates of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// [`FORM`].
    pub form: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The machine, and the version of this program.
    pub machine: MachineInfo,
    /// The commit that the program was built from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The number of threads.
    pub threads: usize,
    /// One for each kind of view, element width and size.
    pub rates: Vec<ProbeTimes>,
    /// One for each operation and element type.
    pub speeds: Vec<Speed>,
}

/// Times of the probe of a kind of view at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeTimes {
    /// The kind.
    pub kind: ViewKind,
    /// The bytes of an element.
    pub width: usize,
    /// The bytes of the result.
    pub bytes: u64,
    /// The view as the only operand: negation.
    pub unary: Use,
    /// The view and a contiguous operand: addition.
    pub binary: Use,
    /// The exponential of the view, if floats of that width exist: an expensive operation.
    pub exp_ns: Option<f64>,
    /// `contiguous()` of the view.
    pub copy_ns: f64,
}

/// The times of one use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// Of the view.
    pub strided_ns: f64,
    /// Of a contiguous array of the same shape.
    pub contiguous_ns: f64,
}

/// The time of an operation per element, on contiguous arrays in the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// The operation.
    pub op: String,
    /// The element type.
    pub dtype: String,
    /// Nanoseconds.
    pub each_ns: f64,
}

impl Calibration {
    /// Rates of this build and the given machine.
    pub fn new(
        machine: MachineInfo,
        threads: usize,
        rates: Vec<ProbeTimes>,
        speeds: Vec<Speed>,
    ) -> Calibration {
        let commit = COMMIT.map(str::to_owned);
        let form = FORM.to_owned();
        Calibration { form, schema: SCHEMA, machine, commit, threads, rates, speeds }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`Failure::Input`] for another document or schema, or a truncated one.
    pub fn read(text: &str) -> Result<Calibration> {
        KIND.read::<Calibration>(text)?.check()
    }

    /// Checks that all times are positive.
    fn check(self) -> Result<Calibration> {
        let uses = self.rates.iter().flat_map(|rate| [rate.unary, rate.binary]);
        let uses = uses.flat_map(|used| [used.strided_ns, used.contiguous_ns]);
        let others = self.rates.iter().flat_map(|rate| [Some(rate.copy_ns), rate.exp_ns]).flatten();
        let speeds = self.speeds.iter().map(|speed| speed.each_ns);
        match uses.chain(others).chain(speeds).all(|ns| ns > 0.0) {
            true => Ok(self),
            false => Err(Failure::input("a calibration with a time of zero")),
        }
    }

    /// Checks that this is a calibration of this machine, version and number of threads.
    ///
    /// # Errors
    /// [`Failure::Input`] with the first difference.
    pub fn check_for(&self, machine: &MachineInfo, threads: usize) -> Result<()> {
        let of = |card: &MachineInfo| {
            let cpu = card.cpu.clone().unwrap_or_else(|| "an unknown CPU".to_owned());
            format!("{cpu}, {} cores, {}, {}", card.cores, card.simd, card.system)
        };
        let differs = |what: &str, theirs: &str, ours: &str| {
            Err(Failure::input(format!("{what} {theirs}; this is {ours}")))
        };
        let theirs = &self.machine;
        if theirs.identity.zip(machine.identity).is_some_and(|(theirs, ours)| theirs != ours) {
            let (theirs, ours) = (theirs.processor(), machine.processor());
            return differs("made on another machine:", &theirs, &ours);
        }
        if of(theirs) != of(machine) {
            return differs("made on another machine:", &of(theirs), &of(machine));
        }
        if theirs.caches != machine.caches {
            let [_, theirs] = theirs.lines();
            let [_, ours] = machine.lines();
            return differs("made on a machine with other caches:", &theirs, &ours);
        }
        if theirs.version != machine.version {
            return differs("made by version", &theirs.version, &machine.version);
        }
        if self.threads != threads {
            let why = format!("made for {} threads, not for {threads}", self.threads);
            return Err(Failure::input(why));
        }
        Ok(())
    }

    /// A note if it was made by a build of another commit than `ours`. Unknown commits give no
    /// note.
    pub fn other_commit(&self, ours: Option<&str>) -> Option<String> {
        let (theirs, ours) = (self.commit.as_deref()?, ours?);
        let again = "run `calibrate` again";
        (theirs != ours).then(|| {
            format!("made by a build of commit {theirs}, this is a build of {ours}; {again}")
        })
    }
}

/// The default file for a number of threads, in the cache folder of the user: `$XDG_CACHE_HOME` or
/// `~/.cache` on Linux.
///
/// # Errors
/// [`Failure::Work`] if the system has no home folder.
pub fn default_path(threads: usize) -> Result<PathBuf> {
    let folders = etcetera::choose_base_strategy().map_err(|error| {
        Failure::work(format!("no folder for a calibration: {error}; give one with --calibration"))
    })?;
    Ok(folders.cache_dir().join("tensor-bench").join(format!("calibration-{threads}-threads.json")))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::system::machine::Identity;

    /// Rates of one kind of view: elements of 4 bytes, transposed, in two sizes.
    pub(in crate::advise) fn calibration() -> Calibration {
        let machine = MachineInfo { cpu: Some("some CPU".to_owned()), ..MachineInfo::read(&"v4") };
        let rate = |bytes, strided_ns, contiguous_ns, copy_ns| ProbeTimes {
            kind: ViewKind::Transposed,
            width: 4,
            bytes,
            unary: Use { strided_ns, contiguous_ns },
            exp_ns: Some(3.0 * strided_ns),
            binary: Use { strided_ns: 2.0 * strided_ns, contiguous_ns: 1.5 * contiguous_ns },
            copy_ns,
        };
        let speed =
            |op: &str, each| Speed { op: op.to_owned(), dtype: "f32".to_owned(), each_ns: each };
        Calibration::new(
            machine,
            1,
            vec![rate(4096, 400.0, 100.0, 600.0), rate(409_600, 90_000.0, 30_000.0, 60_000.0)],
            vec![
                speed("copy", 0.01),
                speed("cast", 0.01),
                speed("neg", 0.01),
                speed("add", 0.02),
                speed("mul_add", 0.02),
                speed("sqrt", 0.505),
                speed("exp", 1.0),
            ],
        )
    }

    fn refusal(text: &str) -> String {
        let error = Calibration::read(text).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let text = serde_json::to_string(&calibration()).unwrap();
        assert_eq!(Calibration::read(&text).unwrap(), calibration());
    }

    #[test]
    fn what_is_no_calibration_is_refused_with_the_reason() {
        let text = serde_json::to_string(&calibration()).unwrap();
        let cases = [
            (String::new(), "not a whole calibration"),
            (text[..text.len() / 2].to_owned(), "not a whole calibration"),
            ("{}".to_owned(), "it was not written by `tensor-bench calibrate`"),
            (
                text.replace("\"schema\":2", "\"schema\":9"),
                "of schema 9; this program reads schema 2",
            ),
            (
                text.replace("transposed", "bent"),
                "a calibration with a mistake: unknown variant `bent`",
            ),
            (text.replace("\"each_ns\":1.0", "\"each_ns\":0.0"), "a time of zero"),
        ];
        for (text, reason) in cases {
            let refusal = refusal(&text);
            assert!(refusal.contains(reason), "{refusal}");
        }
    }

    #[test]
    fn a_calibration_of_something_else_is_refused_with_the_difference() {
        let mut own = calibration();
        own.machine.identity = Some(Identity { family: 1, model: 1, stepping: 1 });
        let here = own.machine.clone();
        assert!(own.check_for(&here, 1).is_ok());
        let machine = |change: fn(&mut MachineInfo)| {
            let mut card = here.clone();
            change(&mut card);
            card
        };
        let cases = [
            (
                machine(|card| card.cpu = Some("other CPU".to_owned())),
                1,
                "another machine: some CPU",
            ),
            (machine(|card| card.simd = "v3".to_owned()), 1, "another machine"),
            (
                machine(|card| {
                    card.identity = Some(Identity { family: 1, model: 2, stepping: 3 });
                }),
                1,
                "; this is some CPU (family 1 model 2 stepping 3)",
            ),
            (machine(|card| card.caches.clear()), 1, "other caches"),
            (machine(|card| card.version = "9.9.9".to_owned()), 1, "; this is 9.9.9"),
            (here.clone(), 2, "for 1 threads, not for 2"),
        ];
        for (machine, threads, reason) in cases {
            let refused = own.check_for(&machine, threads).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
        let other = Calibration { commit: Some("a".to_owned()), ..own.clone() };
        assert!(other.check_for(&here, 1).is_ok());
        let note = other.other_commit(Some("b")).unwrap();
        assert!(note.starts_with("made by a build of commit a, this is a build of b;"));
        assert_eq!((other.other_commit(Some("a")), other.other_commit(None)), (None, None));
        assert_eq!(Calibration { commit: None, ..other }.other_commit(Some("b")), None);
        // The kernel release has no influence on rates.
        assert!(own.check_for(&machine(|card| card.kernel = None), 1).is_ok());
    }
}
