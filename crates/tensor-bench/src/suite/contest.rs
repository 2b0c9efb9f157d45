//! Who is raced for a case: our own work, the roof of its result, the naive loop, other libraries. Every result is checked once before.

use std::{cell::RefCell, hint::black_box};

use tensor_kernels::{Tensor, TensorRefMut};

use super::{
    Case, PeerTimes,
    work::{Work, spoil},
};
use crate::{
    Failure, Result,
    engine::{Contender, Race, Ticket, Timings},
    peers::{Look, Peer},
    roof::{self, Roof},
    sample::Sample,
    stats::Timing,
};

/// What the race of a case has shown.
pub(super) struct Times {
    pub(super) into: Timing,
    pub(super) fresh: Timing,
    pub(super) contiguous: Option<Timing>,
    pub(super) naive: Timing,
    /// The best, in nanoseconds.
    pub(super) roof: f64,
    pub(super) peers: Vec<PeerTimes>,
}

/// Checks and races. Everybody who writes to memory that is there has memory of their own, all of one kind.
pub(super) fn hold<T: Sample, R: Sample>(work: &Work<'_, T, R>, case: &Case) -> Result<Times> {
    work.verify()?;
    let outs = outs::<R>(case, 1 + work.kernel.peers.len())?;
    let mut guards = outs.iter().map(Tensor::write).collect::<Result<Vec<_>, _>>()?;
    let mut views =
        guards.iter_mut().map(TensorRefMut::as_view_mut).collect::<Result<Vec<_>, _>>()?;
    let slices = views.iter_mut().map(|view| view.as_slice_mut());
    let mut slices = slices.collect::<Option<Vec<_>>>().ok_or_else(scattered)?;
    let [naive, others @ ..] = slices.as_mut_slice() else { return Err(scattered()) };
    verify_naive(work, naive)?;
    for (peer, out) in work.kernel.peers.iter().zip(&mut *others) {
        verify_peer(work, peer, out).map_err(|failure| failure.at(peer.name))?;
    }
    race(work, &Roof::new(case.result_bytes(), work.setting.threads)?, naive, others)
}

fn outs<R: Sample>(case: &Case, count: usize) -> Result<Vec<Tensor<R>>> {
    (0..count).map(|_| Ok(Tensor::full(case.shape(), R::sample(0))?)).collect()
}

fn scattered() -> Failure {
    Failure::work("a result is not in one piece")
}

fn verify_naive<T: Sample, R: Sample>(work: &Work<'_, T, R>, out: &mut [R]) -> Result<()> {
    spoil(out);
    work.naive(out);
    work.check(out).map_err(|failure| failure.at("naive loop"))
}

fn verify_peer<T: Sample, R: Sample>(
    work: &Work<'_, T, R>,
    peer: &Peer<T, R>,
    out: &mut [R],
) -> Result<()> {
    spoil(out);
    let into = (peer.into)(&work.given, out).map(|mut contender| contender.once());
    if into.transpose()?.is_some() {
        work.check(out)?;
    }
    let verdict = RefCell::new(Ok(()));
    let look: Look<'_, R> = Box::new(|result| *verdict.borrow_mut() = work.check(result));
    let fresh = (peer.fresh)(&work.given, look).map(|mut contender| contender.once());
    fresh.transpose()?;
    verdict.into_inner()
}

fn race<T: Sample, R: Sample>(
    work: &Work<'_, T, R>,
    roof: &Roof,
    naive: &mut [R],
    others: &mut [&mut [R]],
) -> Result<Times> {
    let mut race = Race::new(work.setting.budget);
    let into = race.enter(Contender::new(|| work.compute(&work.operands)));
    let fresh = race.enter(Contender::new(|| work.fresh().map(drop)));
    let dense = (!work.dense.is_empty()).then(|| Contender::new(|| work.compute(&work.dense)));
    let dense = dense.map(|dense| race.enter(dense));
    let [memcpy, stream] = roof.contenders().map(|copy| race.enter(copy));
    let naive = race.enter(naive_loop(work, naive));
    let pairs = work.kernel.peers.iter().zip(others);
    let peers: Vec<_> = pairs.map(|(peer, out)| enter(&mut race, work, peer, out)).collect();
    let timings = race.run()?;
    Ok(Times {
        into: timings[into],
        fresh: timings[fresh],
        contiguous: dense.map(|dense| timings[dense]),
        naive: timings[naive],
        roof: roof::faster(timings[memcpy], timings[stream]),
        peers: peers.iter().map(|peer| peer.times(&timings)).collect(),
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
    naive.guest()
}

/// A peer in the race.
struct Entered {
    name: &'static str,
    into: Option<Ticket>,
    fresh: Option<Ticket>,
}

fn enter<'a, T: Sample, R: Sample>(
    race: &mut Race<'a>,
    work: &'a Work<'_, T, R>,
    peer: &Peer<T, R>,
    out: &'a mut [R],
) -> Entered {
    let look: Look<'_, R> = Box::new(|result| _ = black_box(result));
    let (into, fresh) = ((peer.into)(&work.given, out), (peer.fresh)(&work.given, look));
    let mut enter =
        |contender: Option<Contender<'a>>| contender.map(|contender| race.enter(contender.guest()));
    Entered { name: peer.name, into: enter(into), fresh: enter(fresh) }
}

impl Entered {
    fn times(&self, timings: &Timings) -> PeerTimes {
        let best = |ticket: Option<Ticket>| ticket.map(|ticket| timings[ticket].best_ns);
        PeerTimes {
            name: self.name.to_owned(),
            into_ns: best(self.into),
            fresh_ns: best(self.fresh),
        }
    }
}
