//! The race of a case: this library, plain copies, the naive loop, other libraries. Every result is
//! checked once before.

use std::{cell::RefCell, hint::black_box};

use tensor_kernels::{Tensor, TensorRefMut};

use super::{
    Case, PeerTimes,
    work::{AnyWork, Work, fill_with_wrong_values},
};
use crate::{
    Failure, Result,
    cases::sample::Sample,
    measure::{
        bound::{Bound, bound_ns, with_bound},
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
    /// The bound of a copy, in nanoseconds.
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
        let race = |bound: Option<&Bound<'_>>| race(work.setting, &plain_copy, racers, bound);
        times = Some(match work.given.as_slice() {
            [from] if work.kernel.bounded => {
                let source = (bytemuck::cast_slice(from.elements()), from.layout(), size_of::<T>());
                with_bound(work.setting.exec.simd(), source, |bound| race(Some(bound)))?
            }
            _ => race(None)?,
        });
        Ok(())
    })?;
    times.ok_or_else(not_contiguous)
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

fn race(
    setting: &Setting,
    plain_copy: &PlainCopy,
    racers: Racers<'_>,
    bound: Option<&Bound<'_>>,
) -> Result<Times> {
    let mut memory = plain_copy.open()?;
    let mut plain = memory.views()?;
    let mut race = Race::new(setting.budget);
    let (preallocated, allocating) =
        (race.enter(racers.preallocated), race.enter(racers.allocating));
    let contiguous: Vec<_> =
        racers.contiguous.into_iter().map(|contiguous| race.enter(contiguous)).collect();
    let [memcpy, stream] = plain.contenders()?.map(|copy| race.enter(copy));
    let passes = bound.map(|bound| bound.contenders().map(|pass| race.enter(pass)));
    let passes = passes.map(Iterator::collect::<Vec<_>>);
    let naive = race.enter(racers.naive);
    let peers: Vec<_> = racers.peers.into_iter().map(|peer| enter(&mut race, peer)).collect();
    let timings = race.run()?;
    let best = |ticket: &Ticket| timings[*ticket].best_ns;
    let plain_copy = copy_bandwidth::faster(timings[memcpy], timings[stream]);
    let peers: Vec<_> = peers.iter().map(|peer| peer.times(&timings)).collect();
    let copies = peers.iter().filter_map(|peer| peer.preallocated_ns);
    let copies = copies.chain([best(&preallocated), best(&naive)]);
    Ok(Times {
        preallocated: timings[preallocated],
        allocating: timings[allocating],
        contiguous: contiguous.iter().map(|&ticket| timings[ticket].best_ns).reduce(f64::min),
        naive: timings[naive],
        plain_copy,
        bound: passes.map(|passes| bound_ns(passes.iter().map(best), plain_copy, copies)),
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
