//! Timing of operations that are compared with each other.
//!
//! Contenders enter a [`Race`], which gives a [`Timing`] for each. What makes the figures
//! comparable:
//!
//! 1. a sample times a batch of operations that takes at least 100 timer ticks, so the error of the
//!    clock is below one percent;
//! 2. contenders run in rounds, A B C, B C A, …: a disturbance of the machine affects all of them,
//!    and no contender always runs after the same other one;
//! 3. a sample of a short operation is preceded by operations that are not timed, so its data is in
//!    the cache. One short contender is enough for all: otherwise a time with cold caches would be
//!    compared with one with warm caches;
//! 4. the best of many samples is kept, beside the median.
//!
//! A contender that is only compared with, such as the naive loop, is capped: once it has used an
//! eighth of the time, it skips further rounds.

use std::{
    ops::Index,
    time::{Duration, Instant},
};

use crate::{Failure, Result, measure::stats::Timing};

/// A sample lasts at least this many ticks of the timer.
const MIN_SAMPLE_TICKS: u32 = 100;

/// If a batch of this size takes no time, the clock does not advance.
const MAX_BATCH: u64 = 1 << 40;

/// The operations that precede a sample. One does not bring all data into a third-level cache: on
/// Zen 5 with 32 MiB of it, a copy of 9 MB that follows other work takes 417 µs after one of them,
/// 267 after two, 220 after three, and 234 after five. The plain copies beside it were warmer, as
/// two of them share their memory: they took 206, 171, 149 and 145 µs.
const WARM_UP_OPERATIONS: u64 = 3;

/// If an operation takes less time than this, each sample of every contender is preceded by others
/// that warm the cache.
const WARM_UP_BELOW: Duration = Duration::from_millis(1);

/// Operations that take longer gain little from warm caches, and are never preceded by others.
const NO_WARM_UP_FROM: Duration = Duration::from_millis(20);

/// A capped contender takes at least this many samples …
const CAPPED_SAMPLES: usize = 2;

/// … and then no more than this fraction of the time of the race.
const CAPPED_TIME_DIVISOR: u32 = 8;

/// The time and the rounds of a race.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The length of a sample; shorter operations are batched.
    pub sample: Duration,
    /// No round starts after this much time …
    pub time: Duration,
    /// … unless there were fewer rounds than this.
    pub min_rounds: usize,
    /// The largest number of rounds.
    pub max_rounds: usize,
}

impl Budget {
    /// For figures to publish.
    pub const FULL: Budget = Budget {
        sample: Duration::from_micros(200),
        time: Duration::from_millis(1500),
        min_rounds: 5,
        max_rounds: 400,
    };

    /// For `--quick`: fast, less exact.
    pub const QUICK: Budget = Budget {
        sample: Duration::from_micros(50),
        time: Duration::from_millis(150),
        min_rounds: 2,
        max_rounds: 50,
    };

    /// The quick budget or the full one.
    pub fn choose(quick: bool) -> Budget {
        if quick { Budget::QUICK } else { Budget::FULL }
    }

    /// Four times the time and twice the minimum of rounds, for a second measurement.
    #[must_use]
    pub fn larger(self) -> Budget {
        Budget {
            time: self.time * 4,
            min_rounds: self.min_rounds * 2,
            max_rounds: self.max_rounds * 4,
            ..self
        }
    }

    fn another_round(&self, done: usize, start: Instant) -> bool {
        done < self.min_rounds || (done < self.max_rounds && start.elapsed() < self.time)
    }
}

/// One operation that takes part in a race.
pub struct Contender<'a> {
    repeat: Box<dyn FnMut(u64) -> Result<()> + 'a>,
    capped: bool,
}

impl<'a> Contender<'a> {
    /// Wraps an operation. The loop over a batch is inside the boxed closure, so that a short
    /// operation is not called through a pointer.
    pub fn new<E: Into<Failure>>(mut operation: impl FnMut() -> Result<(), E> + 'a) -> Self {
        Contender::batches(move |times| {
            (0..times).try_for_each(|_| operation()).map_err(Into::into)
        })
    }

    /// Wraps an operation that prepares something before each batch. It is given the size of the
    /// batch, and prepares within the time.
    pub fn batches(repeat: impl FnMut(u64) -> Result<()> + 'a) -> Self {
        Contender { repeat: Box::new(repeat), capped: false }
    }

    /// This contender, capped: after two samples it takes no more than an eighth of the time. Its
    /// results have been checked before, so the first, untimed run is skipped.
    #[must_use]
    pub fn capped(self) -> Self {
        Contender { capped: true, ..self }
    }

    /// Runs the operation once, untimed.
    ///
    /// # Errors
    /// That of the operation.
    pub fn once(&mut self) -> Result<()> {
        (self.repeat)(1)
    }

    fn time(&mut self, batch: u64) -> Result<Duration> {
        let start = Instant::now();
        (self.repeat)(batch)?;
        Ok(start.elapsed())
    }

    /// Finds the batch that fills a sample. The first operation, which maps pages of memory, is not
    /// timed.
    fn calibrate(&mut self, sample: Duration) -> Result<Batch> {
        if !self.capped {
            (self.repeat)(1)?;
        }
        let mut batch = 1;
        loop {
            let elapsed = self.time(batch)?;
            if elapsed >= sample {
                let operation = elapsed.div_f64(batch as f64);
                return Ok(Batch { times: batch, operation, warm_up: false });
            }
            batch = larger_batch(batch, elapsed, sample);
            if batch > MAX_BATCH {
                return Err(Failure::work("the clock does not advance"));
            }
        }
    }

    fn sample(&mut self, batch: Batch) -> Result<f64> {
        if batch.warm_up {
            (self.repeat)(WARM_UP_OPERATIONS)?;
        }
        Ok(self.time(batch.times)?.as_nanos() as f64 / batch.times as f64)
    }
}

/// How many operations a sample has.
#[derive(Clone, Copy)]
struct Batch {
    /// Operations that are timed together.
    times: u64,
    /// About how long one takes.
    operation: Duration,
    /// Whether untimed operations precede them.
    warm_up: bool,
}

/// Decides which contenders of a race are warmed up before each sample.
fn warm_up(batches: Vec<&mut Batch>) {
    let any_short = batches.iter().any(|batch| batch.operation < WARM_UP_BELOW);
    for batch in batches {
        batch.warm_up = any_short && batch.operation < NO_WARM_UP_FROM;
    }
}

/// At least twice the last batch, and a fifth more than the last time suggests, so that calibration
/// ends after a few steps.
fn larger_batch(batch: u64, elapsed: Duration, sample: Duration) -> u64 {
    let wanted = sample.as_nanos() as u64 * batch * 6 / 5 / (elapsed.as_nanos() as u64).max(1);
    wanted.clamp(batch * 2, batch * 100)
}

/// Contenders that are timed against each other.
pub struct Race<'a> {
    budget: Budget,
    entrants: Vec<Entrant<'a>>,
}

struct Entrant<'a> {
    contender: Contender<'a>,
    batch: Batch,
    samples: Vec<f64>,
    spent: Duration,
}

/// The index of a contender in [`Timings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(usize);

/// The timings of all contenders of a race.
#[derive(Clone, Debug)]
pub struct Timings(Vec<Timing>);

impl Index<Ticket> for Timings {
    type Output = Timing;

    fn index(&self, ticket: Ticket) -> &Timing {
        &self.0[ticket.0]
    }
}

impl<'a> Race<'a> {
    /// A race without contenders.
    pub fn new(budget: Budget) -> Self {
        Race { budget, entrants: Vec::new() }
    }

    /// Adds a contender. The ticket is valid for the timings of this race only.
    pub fn enter(&mut self, contender: Contender<'a>) -> Ticket {
        self.entrants.push(Entrant {
            contender,
            batch: Batch { times: 1, operation: Duration::ZERO, warm_up: false },
            samples: Vec::new(),
            spent: Duration::ZERO,
        });
        Ticket(self.entrants.len() - 1)
    }

    /// Times all contenders.
    ///
    /// # Errors
    /// The first failure of a contender ends the race.
    pub fn run(mut self) -> Result<Timings> {
        let sample = self.budget.sample.max(resolution() * MIN_SAMPLE_TICKS);
        for entrant in &mut self.entrants {
            entrant.batch = entrant.contender.calibrate(sample)?;
        }
        warm_up(self.entrants.iter_mut().map(|entrant| &mut entrant.batch).collect());
        let (start, mut round) = (Instant::now(), 0);
        while self.budget.another_round(round, start) {
            self.round(round)?;
            round += 1;
        }
        let missing = || Failure::work("no round was run");
        let timings = self.entrants.into_iter().map(|e| Timing::of(e.samples, e.batch.times));
        Ok(Timings(timings.collect::<Option<_>>().ok_or_else(missing)?))
    }

    fn round(&mut self, round: usize) -> Result<()> {
        let count = self.entrants.len();
        for position in 0..count {
            let entrant = &mut self.entrants[(round + position) % count];
            if !entrant.skips_round(&self.budget) {
                entrant.sample()?;
            }
        }
        Ok(())
    }
}

impl Entrant<'_> {
    fn skips_round(&self, budget: &Budget) -> bool {
        self.contender.capped
            && self.samples.len() >= CAPPED_SAMPLES
            && self.spent >= budget.time / CAPPED_TIME_DIVISOR
    }

    fn sample(&mut self) -> Result<()> {
        let start = Instant::now();
        self.samples.push(self.contender.sample(self.batch)?);
        self.spent += start.elapsed();
        Ok(())
    }
}

/// Times the contenders against each other, in their order.
///
/// # Errors
/// The first failure of a contender ends the race.
pub fn race<const N: usize>(
    budget: &Budget,
    contenders: [Contender<'_>; N],
) -> Result<[Timing; N]> {
    let mut race = Race::new(*budget);
    let tickets = contenders.map(|contender| race.enter(contender));
    let timings = race.run()?;
    Ok(tickets.map(|ticket| timings[ticket]))
}

/// The smallest step of the clock, from 32 samples.
fn resolution() -> Duration {
    let step = || {
        let start = Instant::now();
        loop {
            let elapsed = start.elapsed();
            if !elapsed.is_zero() {
                return elapsed;
            }
        }
    };
    (0..32).map(|_| step()).min().unwrap_or(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const BRIEF: Budget = Budget {
        sample: Duration::from_micros(1),
        time: Duration::ZERO,
        min_rounds: 3,
        max_rounds: 3,
    };

    fn sleeper(ms: u64) -> Contender<'static> {
        Contender::new(move || {
            std::thread::sleep(Duration::from_millis(ms));
            Ok::<_, Failure>(())
        })
    }

    #[test]
    fn a_longer_operation_has_a_longer_time() {
        let [short, long] = race(&BRIEF, [sleeper(1), sleeper(4)]).unwrap();
        assert!(short.best_ns >= 1e6 && long.best_ns >= 4e6, "{short:?} {long:?}");
        assert_eq!((short.samples, short.batch), (3, 1));
    }

    #[test]
    fn a_short_operation_is_batched_to_a_hundred_ticks() {
        let nothing = Contender::new(|| std::hint::black_box(Ok::<_, Failure>(())));
        let [timing] = race(&BRIEF, [nothing]).unwrap();
        assert!(timing.batch > 1, "{timing:?}");
    }

    #[test]
    fn contenders_take_turns_and_the_first_one_changes() {
        let log = RefCell::new(String::new());
        let contender = |name: char| {
            let log = &log;
            Contender::new(move || {
                log.borrow_mut().push(name);
                std::thread::sleep(Duration::from_millis(1));
                Ok::<_, Failure>(())
            })
        };
        race(&BRIEF, [contender('a'), contender('b')]).unwrap();
        assert_eq!(log.into_inner(), "aabb".to_owned() + "ab" + "ba" + "ab");
    }

    #[test]
    fn a_slow_capped_contender_runs_three_times_and_a_fast_one_as_often_as_the_others() {
        let budget = Budget { min_rounds: 6, max_rounds: 6, ..BRIEF };
        for (part_of_time, times) in [(Duration::ZERO, 3), (Duration::from_secs(8), 7)] {
            let mut runs = 0;
            let capped = Contender::new(|| {
                runs += 1;
                std::thread::sleep(Duration::from_millis(1));
                Ok::<_, Failure>(())
            });
            let mut race = Race::new(Budget { time: part_of_time, ..budget });
            let (own, other) = (race.enter(sleeper(1)), race.enter(capped.capped()));
            let timings = race.run().unwrap();
            assert_eq!((timings[own].samples, timings[other].samples), (6, times - 1));
            assert_eq!(runs, times);
        }
    }

    /// For operations of these milliseconds: is each warmed up?
    fn warmed_up<const N: usize>(ms: [f64; N]) -> [bool; N] {
        let mut batches = ms.map(|ms| Batch {
            times: 1,
            operation: Duration::from_secs_f64(ms / 1e3),
            warm_up: false,
        });
        warm_up(batches.iter_mut().collect());
        batches.map(|batch| batch.warm_up)
    }

    #[test]
    fn one_short_contender_is_enough_to_warm_up_all_but_the_longest() {
        assert_eq!(warmed_up([0.2, 3.0, 19.0, 25.0]), [true, true, true, false]);
        assert_eq!(warmed_up([1.1, 3.0]), [false, false]);
    }

    #[test]
    fn a_contender_is_warmed_up_before_each_sample() {
        let mut runs = 0;
        let mut contender = Contender::new(|| {
            runs += 1;
            Ok::<_, Failure>(())
        });
        for warm_up in [false, true] {
            contender.sample(Batch { times: 4, operation: Duration::ZERO, warm_up }).unwrap();
        }
        drop(contender);
        assert_eq!(runs, 4 + (3 + 4));
    }

    #[test]
    fn a_contender_that_prepares_something_does_so_once_a_sample() {
        let log = RefCell::new(Vec::new());
        let mut contender = Contender::batches(|times| {
            log.borrow_mut().push(times);
            Ok(())
        });
        contender.sample(Batch { times: 4, operation: Duration::ZERO, warm_up: true }).unwrap();
        assert_eq!(*log.borrow(), [3, 4]);
    }

    #[test]
    fn a_failing_contender_ends_the_race() {
        let failing = Contender::new(|| Err(Failure::work("broken")));
        assert_eq!(race(&BRIEF, [failing]).unwrap_err().to_string(), "broken");
    }
}
