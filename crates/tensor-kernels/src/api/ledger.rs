//! The copy ledger: which copies a program makes, where, and why.
//!
//! Whether an operation copies depends on the strides of its input, so a change far away can make
//! `reshape` or `contiguous` copy where they did not. A [`CopyLedger`] lists the copies that were
//! made while a closure ran; [`forbid_copies`] turns the first one into an error.
//!
//! Recorded are the copies of a tensor's elements into new memory: `contiguous`, `reshape`,
//! `flattened`, `deep_clone`, `repeat` and the functions like them, and operands that are copied
//! because they overlap the result ([`Exec::copying_first`]); also copies into new vectors, by
//! `to_vec` of tensors and views and, where the memory cannot be handed over, `into_vec`.
//!
//! Not recorded are results that are computed or put together of others (`cast` of a dtype to
//! itself, too; `cat`, `pad`, `gather` and the functions like them), scratch in which an operation
//! or a reduction packs what it reads, copies into memory of the caller (`copy_into`, `fill`), and
//! vectors of bytes. What a reduction or an operation packs is told by `explain_reduction` and
//! `explain_elementwise`.
//!
//! While no scope is open, an operation that copies reads one atomic integer for it. Without the
//! feature `ledger` it does not: that build has no scopes, and nothing is looked at. With it and no
//! scope, a `contiguous` of 32 by 32 transposed floats takes 4 more instructions than without it, a
//! `to_vec` 3, of some 800 beside those of the allocator (`scripts/ledger_cost.sh`).

use std::{
    fmt,
    panic::Location,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

use tensor_core::{Error, Layout, Result};

use super::copy_reason::CopyReason;
use crate::{exec::Exec, plan::PlannedCopy};

/// The open scopes. The integer is their number, so that it can be read without the lock.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static SCOPES: Mutex<Vec<Arc<Scope>>> = Mutex::new(Vec::new());

/// Is a scope open? If not, nothing else is looked at.
#[inline]
fn is_open() -> bool {
    OPEN.load(Ordering::Relaxed) != 0
}

/// Records the copy of a tensor's or view's elements into a vector, by `op`.
///
/// # Errors
/// [`Error::CopyForbidden`] in a scope that forbids it.
#[inline]
#[track_caller]
pub(crate) fn record_vector(op: &'static str, width: usize, from: &Layout) -> Result<()> {
    match is_open() {
        false => Ok(()),
        true => record_vector_in_scopes(Location::caller(), op, width, from),
    }
}

#[cold]
fn record_vector_in_scopes(
    location: &'static Location<'static>,
    op: &'static str,
    width: usize,
    from: &Layout,
) -> Result<()> {
    let purpose = Purpose::of_vector(op, from);
    purpose.record_contiguous_in_scopes(location, Exec::current()?, width, from)
}

/// Runs a closure and lists the copies that all threads made meanwhile.
///
/// Outside of such closures an operation that copies reads one integer for the ledger: under 1 % of
/// the instructions of a `contiguous` of 1024 floats. Without the feature `ledger`, which is on by
/// default, not even that.
///
/// ```
/// use tensor_kernels::{Tensor, TensorExt, count_copies};
///
/// let x = Tensor::arange(0.0f32, 12.0, 1.0)?.view([3, 4])?;
/// let (flat, copies) = count_copies(|| x.t()?.reshape([12]));
/// assert!(flat?.copied());
/// assert_eq!((copies.count(), copies.bytes()), (1, 48));
/// println!("{copies}"); // where, and why
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
pub fn count_copies<R>(f: impl FnOnce() -> R) -> (R, CopyLedger) {
    CopyScope::AllThreads.count(f)
}

/// Runs a closure in which every copy, on any thread, is refused with
/// [`Error::CopyForbidden`](tensor_core::Error).
///
/// It is meant for tests and for debugging: it refuses the copies of unrelated threads, too. See
/// [`CopyScope::ThisThread`].
///
/// ```
/// use tensor_kernels::{Error, Tensor, TensorExt, forbid_copies};
///
/// let x = Tensor::arange(0.0f32, 12.0, 1.0)?.view([3, 4])?;
/// forbid_copies(|| x.reshape(&[2, 6]))?; // a view
/// let refused = forbid_copies(|| x.t()?.reshape([12])).unwrap_err();
/// assert!(matches!(refused, Error::CopyForbidden { op: "reshape", bytes: 48, .. }));
/// # Ok::<(), Error>(())
/// ```
pub fn forbid_copies<R>(f: impl FnOnce() -> R) -> R {
    CopyScope::AllThreads.forbid(f)
}

/// The threads whose copies are counted or forbidden.
///
/// The copies of an operation belong to the thread that called it, also where other threads help
/// with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyScope {
    /// All threads of the process.
    AllThreads,
    /// The thread that opens the scope.
    ThisThread,
}

impl CopyScope {
    /// Runs a closure and lists the copies made meanwhile. Scopes may be nested; a copy is listed
    /// in each.
    pub fn count<R>(self, f: impl FnOnce() -> R) -> (R, CopyLedger) {
        let open = self.open(false);
        let result = f();
        let entries = std::mem::take(&mut *lock(&open.0.entries));
        (result, CopyLedger { entries })
    }

    /// Runs a closure in which copies are refused with [`Error::CopyForbidden`].
    pub fn forbid<R>(self, f: impl FnOnce() -> R) -> R {
        let _open = self.open(true);
        f()
    }

    fn open(self, forbidden: bool) -> OpenScope {
        let thread = match self {
            Self::AllThreads => None,
            Self::ThisThread => Some(thread::current().id()),
        };
        let scope = Arc::new(Scope { thread, forbidden, entries: Mutex::default() });
        lock(&SCOPES).push(Arc::clone(&scope));
        OPEN.fetch_add(1, Ordering::SeqCst);
        OpenScope(scope)
    }
}

struct Scope {
    /// The only thread whose copies count; `None` for all.
    thread: Option<ThreadId>,
    forbidden: bool,
    entries: Mutex<Vec<CopyEntry>>,
}

/// Closes the scope when it is dropped, also when the closure panics.
struct OpenScope(Arc<Scope>);

impl Drop for OpenScope {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::SeqCst);
        lock(&SCOPES).retain(|scope| !Arc::ptr_eq(scope, &self.0));
    }
}

/// Nothing panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The copies that were made while a closure ran, see [`count_copies`]. It prints as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyLedger {
    entries: Vec<CopyEntry>,
}

impl CopyLedger {
    /// The number of copies.
    pub fn count(&self) -> usize {
        self.entries.iter().map(|entry| entry.count).sum()
    }

    /// The bytes copied.
    pub fn bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.bytes).fold(0, usize::saturating_add)
    }

    /// The copies by call site, operation, reason, path and thread, in the order in which each
    /// occurred first.
    pub fn entries(&self) -> &[CopyEntry] {
        &self.entries
    }
}

/// Copies of one kind, made at one place by one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyEntry {
    /// The operation.
    pub op: &'static str,
    /// Why it copied.
    pub reason: CopyReason,
    /// The call of the operation.
    pub location: &'static Location<'static>,
    /// The path of the copy, see [`CopyPlan::path`](crate::CopyPlan::path).
    pub path: &'static str,
    /// The thread that called the operation.
    pub thread: ThreadId,
    /// The number of copies.
    pub count: usize,
    /// The bytes copied in all of them.
    pub bytes: usize,
}

impl fmt::Display for CopyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, reason, location, path, count, bytes, .. } = self;
        let times = if *count == 1 { String::new() } else { format!("{count} times ") };
        write!(f, "{times}{op} at {location}: {bytes} bytes by {path}\n    because {reason}")
    }
}

impl fmt::Display for CopyLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.count(), self.bytes()) {
            (0, _) => return f.write_str("no copies"),
            (1, bytes) => write!(f, "1 copy of {bytes} bytes")?,
            (count, bytes) => write!(f, "{count} copies of {bytes} bytes in all")?,
        }
        self.entries.iter().try_for_each(|entry| write!(f, "\n  {entry}"))
    }
}

/// A copy that is about to be made, for the ledger.
#[derive(Clone, Copy)]
pub(crate) struct Purpose {
    op: &'static str,
    /// `None`: the input is not contiguous. Where is looked up only if a scope is open.
    reason: Option<CopyReason>,
}

impl Purpose {
    pub(crate) fn new(op: &'static str, reason: CopyReason) -> Self {
        Self { op, reason: Some(reason) }
    }

    /// Of an operation that always copies.
    pub(crate) fn requested(op: &'static str) -> Self {
        Self::new(op, CopyReason::Requested)
    }

    /// Of an operation that copies what is not contiguous.
    pub(crate) fn contiguous(op: &'static str) -> Self {
        Self { op, reason: None }
    }

    /// Of an operation on a tensor whose elements become a vector: `into_vec` copies where it must,
    /// others always.
    fn of_vector(op: &'static str, from: &Layout) -> Self {
        match (op, from.contiguity_break()) {
            ("into_vec", None) => Self::new(op, CopyReason::NotOwned),
            ("into_vec", Some(_)) => Self::contiguous(op),
            _ => Self::requested(op),
        }
    }

    /// Records a copy to contiguous memory in the open scopes. The layout of the result is made
    /// only for them: a reference to the one that is used later would cost a copy of it.
    ///
    /// # Errors
    /// [`Error::CopyForbidden`] in a scope that forbids it.
    #[inline]
    #[track_caller]
    pub(crate) fn record_contiguous(self, exec: &Exec, width: usize, from: &Layout) -> Result<()> {
        match is_open() {
            false => Ok(()),
            true => self.record_contiguous_in_scopes(Location::caller(), exec, width, from),
        }
    }

    #[cold]
    fn record_contiguous_in_scopes(
        self,
        location: &'static Location<'static>,
        exec: &Exec,
        width: usize,
        from: &Layout,
    ) -> Result<()> {
        self.record_in_scopes(location, exec, width, [from, &Layout::contiguous(from.shape())?])
    }

    /// Records the copy in the open scopes.
    ///
    /// # Errors
    /// [`Error::CopyForbidden`] in a scope that forbids it.
    #[inline]
    #[track_caller]
    pub(crate) fn record(
        self,
        exec: &Exec,
        width: usize,
        from: &Layout,
        to: &Layout,
    ) -> Result<()> {
        self.record_at(Location::caller(), exec, width, [from, to])
    }

    /// As [`record`](Self::record), for an operation that was called at another place.
    #[inline]
    pub(crate) fn record_at(
        self,
        location: &'static Location<'static>,
        exec: &Exec,
        width: usize,
        layouts: [&Layout; 2],
    ) -> Result<()> {
        match is_open() {
            false => Ok(()),
            true => self.record_in_scopes(location, exec, width, layouts),
        }
    }

    #[cold]
    fn record_in_scopes(
        self,
        location: &'static Location<'static>,
        exec: &Exec,
        width: usize,
        [from, to]: [&Layout; 2],
    ) -> Result<()> {
        let thread = thread::current().id();
        let scopes: Vec<Arc<Scope>> = lock(&SCOPES)
            .iter()
            .filter(|scope| scope.thread.is_none_or(|only| only == thread))
            .cloned()
            .collect();
        if scopes.is_empty() {
            return Ok(());
        }
        let op = self.op;
        let reason = self.reason.unwrap_or_else(|| not_contiguous(from));
        let bytes = from.numel().saturating_mul(width);
        let path = PlannedCopy::new(from, to, width, &exec.machine).work().path;
        if scopes.iter().any(|scope| scope.forbidden) {
            let (why, location) = (reason.to_string(), location.to_string());
            return Err(Error::CopyForbidden { op, bytes, path, why, location });
        }
        let entry = CopyEntry { op, reason, location, path, thread, count: 1, bytes };
        scopes.iter().for_each(|scope| add(&mut lock(&scope.entries), &entry));
        Ok(())
    }
}

/// Why a contiguous result of a layout is a copy.
fn not_contiguous(layout: &Layout) -> CopyReason {
    match layout.contiguity_break() {
        None => CopyReason::Requested,
        Some(dim) => CopyReason::NotContiguous { dim },
    }
}

/// Adds a copy to the entry of its kind, or as a new one.
fn add(entries: &mut Vec<CopyEntry>, copy: &CopyEntry) {
    let kind =
        |entry: &CopyEntry| (entry.op, entry.reason, entry.location, entry.path, entry.thread);
    match entries.iter_mut().find(|entry| kind(entry) == kind(copy)) {
        Some(entry) => {
            entry.count += copy.count;
            entry.bytes = entry.bytes.saturating_add(copy.bytes);
        }
        None => entries.push(copy.clone()),
    }
}
