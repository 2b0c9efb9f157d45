//! Taking times that can be compared.
//!
//! Contenders enter a [`Race`], one [`Timing`] each comes out. What makes the figures comparable:
//!
//! 1. a sample times as many operations as it takes to be at least 100 timer ticks long, so the clock's grain is below one percent;
//! 2. contenders run in rounds, A B C, B C A, …: what disturbs the machine for a second disturbs all of them, and none always runs on the
//!    caches that the same predecessor left behind;
//! 3. a sample of a short operation is preceded by one that is not timed, so what fits a cache is in it;
//! 4. the best of many samples is kept, beside the median.
//!
//! A contender that is there only to be compared with is a guest: where one run of it takes long, it sits out most rounds, and the time is left to
//! the others.

use std::{
    ops::Index,
    time::{Duration, Instant},
};

use crate::{Failure, Result, measure::stats::Timing};

/// A sample lasts at least this many ticks of the timer.
const MIN_SAMPLE_TICKS: u32 = 100;

/// A batch that still shows no time on the clock at this size will never show any.
const MAX_BATCH: u64 = 1 << 40;

/// What takes less time than this may work in a cache, and finds it warm.
const WARM_UP_BELOW: Duration = Duration::from_millis(1);

/// A guest that has taken this many samples …
const CAPPED_SAMPLES: usize = 2;

/// … and this part of the time of the race has shown what it can do.
const CAPPED_TIME_DIVISOR: u32 = 8;

/// How much time a race may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The wished length of one sample; operations shorter than that are batched.
    pub sample: Duration,
    /// No new round starts after this much time …
    pub time: Duration,
    /// … once there were this many rounds.
    pub fewest_rounds: usize,
    /// There are never more rounds than this.
    pub most_rounds: usize,
}

impl Budget {
    /// Figures to publish.
    pub const FULL: Budget = Budget {
        sample: Duration::from_micros(200),
        time: Duration::from_millis(1500),
        fewest_rounds: 5,
        most_rounds: 400,
    };

    /// Figures for a first look.
    pub const QUICK: Budget = Budget {
        sample: Duration::from_micros(50),
        time: Duration::from_millis(150),
        fewest_rounds: 2,
        most_rounds: 50,
    };

    /// The full budget or the quick one.
    pub fn choose(quick: bool) -> Budget {
        if quick { Budget::QUICK } else { Budget::FULL }
    }

    /// The same with four times the time and twice the rounds: for what has to be known better.
    #[must_use]
    pub fn larger(self) -> Budget {
        Budget {
            time: self.time * 4,
            fewest_rounds: self.fewest_rounds * 2,
            most_rounds: self.most_rounds * 4,
            ..self
        }
    }

    fn another_round(&self, done: usize, start: Instant) -> bool {
        done < self.fewest_rounds || (done < self.most_rounds && start.elapsed() < self.time)
    }
}

/// One of several ways to do the same work.
pub struct Contender<'a> {
    repeat: Box<dyn FnMut(u64) -> Result<()> + 'a>,
    capped: bool,
}

impl<'a> Contender<'a> {
    /// Wraps one operation. The loop over a batch is compiled around it, so a short operation does not pay for a call through a pointer.
    pub fn new<E: Into<Failure>>(mut operation: impl FnMut() -> Result<(), E> + 'a) -> Self {
        let repeat = move |times| (0..times).try_for_each(|_| operation()).map_err(Into::into);
        Contender { repeat: Box::new(repeat), capped: false }
    }

    /// The same as a guest: after two samples it takes no more than an eighth of the time. It has run before, so no run is spent on warming up.
    #[must_use]
    pub fn capped(self) -> Self {
        Contender { capped: true, ..self }
    }

    /// Does the work once, for its result.
    ///
    /// # Errors
    /// The operation's.
    pub fn once(&mut self) -> Result<()> {
        (self.repeat)(1)
    }

    fn time(&mut self, batch: u64) -> Result<Duration> {
        let start = Instant::now();
        (self.repeat)(batch)?;
        Ok(start.elapsed())
    }

    /// The batch that fills a sample. The first operation, which pages memory in, is not counted.
    fn calibrate(&mut self, sample: Duration) -> Result<Batch> {
        if !self.capped {
            (self.repeat)(1)?;
        }
        let mut batch = 1;
        loop {
            let elapsed = self.time(batch)?;
            if elapsed >= sample {
                let warm_up = elapsed.as_nanos() < WARM_UP_BELOW.as_nanos() * u128::from(batch);
                return Ok(Batch { times: batch, warm_up });
            }
            batch = larger_batch(batch, elapsed, sample);
            if batch > MAX_BATCH {
                return Err(Failure::work("the clock does not advance"));
            }
        }
    }

    fn sample(&mut self, batch: Batch) -> Result<f64> {
        if batch.warm_up {
            (self.repeat)(1)?;
        }
        Ok(self.time(batch.times)?.as_nanos() as f64 / batch.times as f64)
    }
}

/// How a sample is taken.
#[derive(Clone, Copy)]
struct Batch {
    /// Operations that are timed together.
    times: u64,
    /// Is one done before that?
    warm_up: bool,
}

/// At least double, and a fifth more than the last try suggests, so that calibration ends after a few steps.
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

/// Under what the timing of a contender is found among the [`Timings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(usize);

/// What a race has shown.
#[derive(Clone, Debug)]
pub struct Timings(Vec<Timing>);

impl Index<Ticket> for Timings {
    type Output = Timing;

    fn index(&self, ticket: Ticket) -> &Timing {
        &self.0[ticket.0]
    }
}

impl<'a> Race<'a> {
    /// A race that nobody has entered yet.
    pub fn new(budget: Budget) -> Self {
        Race { budget, entrants: Vec::new() }
    }

    /// Takes a contender in. The ticket is good for the timings of this race only.
    pub fn enter(&mut self, contender: Contender<'a>) -> Ticket {
        self.entrants.push(Entrant {
            contender,
            batch: Batch { times: 1, warm_up: false },
            samples: Vec::new(),
            spent: Duration::ZERO,
        });
        Ticket(self.entrants.len() - 1)
    }

    /// Times all of them.
    ///
    /// # Errors
    /// The first failure of a contender ends the race.
    pub fn run(mut self) -> Result<Timings> {
        let sample = self.budget.sample.max(resolution() * MIN_SAMPLE_TICKS);
        for entrant in &mut self.entrants {
            entrant.batch = entrant.contender.calibrate(sample)?;
        }
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

/// The smallest step the clock was seen to make.
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
        fewest_rounds: 3,
        most_rounds: 3,
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
        let budget = Budget { fewest_rounds: 6, most_rounds: 6, ..BRIEF };
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

    #[test]
    fn a_failing_contender_ends_the_race() {
        let failing = Contender::new(|| Err(Failure::work("broken")));
        assert_eq!(race(&BRIEF, [failing]).unwrap_err().to_string(), "broken");
    }
}
