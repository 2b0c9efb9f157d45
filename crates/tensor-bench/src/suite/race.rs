//! The race of a case: this library, plain copies, the naive loop, other libraries. Every result is
//! checked once before.

use std::{cell::RefCell, hint::black_box};

use tensor_kernels::{Layout, SimdLevel, Tensor, TensorRefMut};

use super::{
    Case, Op, PeerTimes,
    work::{AnyWork, Work, fill_with_wrong_values},
};
use crate::{
    Failure, Result,
    cases::sample::Sample,
    measure::{
        bound::{bound_ns, with_bound},
        copy_bandwidth::{self, PlainCopy},
        engine::{Contender, Race, Ticket, Timings},
        peers::{Look, Peer},
        setting::Setting,
        stats::Timing,
    },
};

/// The times of a case.
pub(super) struct Times {
    pub(super) preallocated: Timing,
    pub(super) allocating: Timing,
    /// The best time on contiguous operands, in nanoseconds.
    pub(super) contiguous: Option<f64>,
    pub(super) naive: Timing,
    /// The best time, in nanoseconds.
    pub(super) plain_copy: f64,
    /// The bound, in nanoseconds.
    pub(super) bound: Option<f64>,
    pub(super) peers: Vec<PeerTimes>,
}

/// Checks and races. Each contender with a preallocated result has memory of its own, allocated in
/// the same way.
pub(super) fn check_and_race<T: Sample, R: Sample>(
    work: &Work<'_, T, R>,
    case: &Case,
) -> Result<Times> {
    let mut times = None;
    with_results_verified(work, case, &mut |naive, others| {
        let plain_copy = PlainCopy::new(case.full_bytes(), work.setting.threads)?;
        let racers = racers(work, naive, others);
        if !work.kernel.bounded {
            times = Some(race(work.setting, &plain_copy, racers, None)?);
            return Ok(());
        }
        let mut racers = Some(racers);
        with_passes(work.setting.exec.simd(), &moved(work, case), Vec::new(), &mut |passes| {
            let racers = racers.take().ok_or_else(not_contiguous)?;
            times = Some(race(work.setting, &plain_copy, racers, Some(passes))?);
            Ok(())
        })
    })?;
    times.ok_or_else(not_contiguous)
}

/// An input that is loaded in another order than its result is stored in: all its elements, its
/// layout and the bytes of an element.
type Source<'a> = (&'a [u8], &'a Layout, usize);

/// The input of a copy; the inputs of an operation that are neither contiguous nor one element.
fn moved<'a, T: Sample, R: Sample>(work: &'a Work<'_, T, R>, case: &Case) -> Vec<Source<'a>> {
    let is_one = |layout: &Layout| {
        layout.shape().iter().zip(layout.strides()).all(|(&size, &step)| size == 1 || step == 0)
    };
    let is_moved = |layout: &Layout| !layout.is_contiguous() && !is_one(layout);
    let inputs = work.given.iter().filter(|input| case.op == Op::Copy || is_moved(input.layout()));
    inputs
        .map(|input| (bytemuck::cast_slice(input.elements()), input.layout(), size_of::<T>()))
        .collect()
}

/// The passes of an input.
type Passes<'a> = Vec<Contender<'a>>;

/// Finds the passes of each input, and calls `act` with them, and with those `found` before.
fn with_passes(
    level: SimdLevel,
    sources: &[Source<'_>],
    found: Vec<Passes<'_>>,
    act: &mut dyn FnMut(Vec<Passes<'_>>) -> Result<()>,
) -> Result<()> {
    let Some((&source, others)) = sources.split_first() else { return act(found) };
    with_bound(level, source, |bound| {
        let mut found: Vec<Passes<'_>> = found;
        found.push(bound.contenders().collect());
        with_passes(level, others, found, act)
    })
}

/// Receives the results of the naive loop and of the other libraries.
type WithResults<'f, R> = &'f mut dyn FnMut(&mut [R], &mut [&mut [R]]) -> Result<()>;

/// Checks the results of all contenders, then calls `act` with their memory.
pub(super) fn with_results_verified<T: Sample, R: Sample>(
    work: &Work<'_, T, R>,
    case: &Case,
    act: WithResults<'_, R>,
) -> Result<()> {
    work.verify()?;
    with_results(case, 1 + work.kernel.peers.len(), &mut |results| {
        let [naive, others @ ..] = results else { return Err(not_contiguous()) };
        verify_naive(work, naive)?;
        for (peer, out) in work.kernel.peers.iter().zip(&mut *others) {
            verify_peer(work, peer, out).map_err(|failure| failure.at(peer.name))?;
        }
        act(naive, others)
    })
}

/// Allocates `count` row-major results of a case.
fn with_results<R: Sample>(
    case: &Case,
    count: usize,
    act: &mut dyn FnMut(&mut [&mut [R]]) -> Result<()>,
) -> Result<()> {
    let outs = (0..count).map(|_| Ok(Tensor::full(case.shape(), R::sample(0))?));
    let outs = outs.collect::<Result<Vec<_>>>()?;
    let mut guards = outs.iter().map(Tensor::write).collect::<Result<Vec<_>, _>>()?;
    let mut views =
        guards.iter_mut().map(TensorRefMut::as_view_mut).collect::<Result<Vec<_>, _>>()?;
    let slices = views.iter_mut().map(|view| view.as_slice_mut());
    act(&mut slices.collect::<Option<Vec<_>>>().ok_or_else(not_contiguous)?)
}

fn not_contiguous() -> Failure {
    Failure::work("a result is not in one piece")
}

fn verify_naive<T: Sample, R: Sample>(work: &Work<'_, T, R>, out: &mut [R]) -> Result<()> {
    fill_with_wrong_values(out);
    work.naive(out);
    work.check_naive(out).map_err(|failure| failure.at("naive loop"))
}

fn verify_peer<T: Sample, R: Sample>(
    work: &Work<'_, T, R>,
    peer: &Peer<T, R>,
    out: &mut [R],
) -> Result<()> {
    fill_with_wrong_values(out);
    let preallocated = (peer.preallocated)(&work.given, out).map(|mut contender| contender.once());
    if preallocated.transpose()?.is_some() {
        work.check(out)?;
    }
    let verdict = RefCell::new(Ok(()));
    let look: Look<'_, R> = Box::new(|result| *verdict.borrow_mut() = work.check(result));
    let allocating = (peer.allocating)(&work.given, look).map(|mut contender| contender.once());
    allocating.transpose()?;
    verdict.into_inner()
}

/// All contenders of a case, in the order of their first round.
struct Racers<'a> {
    preallocated: Contender<'a>,
    allocating: Contender<'a>,
    contiguous: Vec<Contender<'a>>,
    naive: Contender<'a>,
    peers: Vec<PeerRacers<'a>>,
}

/// The contenders of another library.
struct PeerRacers<'a> {
    name: &'static str,
    preallocated: Option<Contender<'a>>,
    allocating: Option<Contender<'a>>,
}

fn racers<'a, T: Sample, R: Sample>(
    work: &'a Work<'_, T, R>,
    naive: &'a mut [R],
    others: &'a mut [&mut [R]],
) -> Racers<'a> {
    let peers = work.kernel.peers.iter().zip(others);
    Racers {
        preallocated: Contender::new(|| work.compute(&work.operands)),
        allocating: Contender::new(|| work.allocating().map(drop)),
        contiguous: work
            .dense
            .iter()
            .map(|dense| Contender::new(|| work.compute_dense(dense)))
            .collect(),
        naive: naive_loop(work, naive),
        peers: peers.map(|(peer, out)| peer_racers(work, peer, out)).collect(),
    }
}

fn peer_racers<'a, T: Sample, R: Sample>(
    work: &'a Work<'_, T, R>,
    peer: &Peer<T, R>,
    out: &'a mut [R],
) -> PeerRacers<'a> {
    let look: Look<'_, R> = Box::new(|result| _ = black_box(result));
    PeerRacers {
        name: peer.name,
        preallocated: (peer.preallocated)(&work.given, out).map(Contender::capped),
        allocating: (peer.allocating)(&work.given, look).map(Contender::capped),
    }
}

fn race<'a>(
    setting: &Setting,
    plain_copy: &PlainCopy,
    racers: Racers<'a>,
    passes: Option<Vec<Passes<'a>>>,
) -> Result<Times> {
    let mut memory = plain_copy.open()?;
    let mut plain = memory.views()?;
    let mut race = Race::new(setting.budget);
    let (preallocated, allocating) =
        (race.enter(racers.preallocated), race.enter(racers.allocating));
    let contiguous: Vec<_> =
        racers.contiguous.into_iter().map(|contiguous| race.enter(contiguous)).collect();
    let [memcpy, stream] = plain.contenders()?.map(|copy| race.enter(copy));
    let passes = passes.map(|inputs| {
        let mut of_input = |passes: Passes<'a>| -> Vec<Ticket> {
            passes.into_iter().map(|pass| race.enter(pass)).collect()
        };
        inputs.into_iter().map(&mut of_input).collect::<Vec<_>>()
    });
    let naive = race.enter(racers.naive);
    let peers: Vec<_> = racers.peers.into_iter().map(|peer| enter(&mut race, peer)).collect();
    let timings = race.run()?;
    let best = |ticket: &Ticket| timings[*ticket].best_ns;
    let plain_copy = copy_bandwidth::faster(timings[memcpy], timings[stream]);
    let peers: Vec<_> = peers.iter().map(|peer| peer.times(&timings)).collect();
    let works = peers.iter().filter_map(|peer| peer.preallocated_ns);
    let works = works.chain([best(&preallocated), best(&naive)]);
    let contiguous = contiguous.iter().map(|&ticket| timings[ticket].best_ns).reduce(f64::min);
    let fastest = |passes: Vec<Ticket>| passes.iter().map(best).fold(f64::INFINITY, f64::min);
    Ok(Times {
        preallocated: timings[preallocated],
        allocating: timings[allocating],
        contiguous,
        naive: timings[naive],
        plain_copy,
        bound: passes.map(|inputs| {
            bound_ns(inputs.into_iter().map(fastest), contiguous.unwrap_or(plain_copy), works)
        }),
        peers,
    })
}

fn naive_loop<'a, T: Sample, R: Sample>(
    work: &'a Work<'_, T, R>,
    out: &'a mut [R],
) -> Contender<'a> {
    let naive = Contender::new(move || {
        work.naive(out);
        black_box(&*out);
        Ok::<_, Failure>(())
    });
    naive.capped()
}

/// The tickets of another library.
struct Entered {
    name: &'static str,
    preallocated: Option<Ticket>,
    allocating: Option<Ticket>,
}

fn enter<'a>(race: &mut Race<'a>, peer: PeerRacers<'a>) -> Entered {
    let mut enter = |contender: Option<_>| contender.map(|contender| race.enter(contender));
    Entered {
        name: peer.name,
        preallocated: enter(peer.preallocated),
        allocating: enter(peer.allocating),
    }
}

impl Entered {
    fn times(&self, timings: &Timings) -> PeerTimes {
        let best = |ticket: Option<Ticket>| ticket.map(|ticket| timings[ticket].best_ns);
        PeerTimes {
            name: self.name.to_owned(),
            preallocated_ns: best(self.preallocated),
            allocating_ns: best(self.allocating),
        }
    }
}
