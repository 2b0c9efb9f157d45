//! Taking times that can be compared.
//!
//! Contenders come in, one [`Timing`] each goes out. What makes the figures comparable:
//!
//! 1. a sample times as many operations as it takes to be at least 100 timer ticks long, so the clock's grain is below one percent;
//! 2. contenders run in rounds, A B C, B C A, …: what disturbs the machine for a second disturbs all of them, and none always runs on the
//!    caches that the same predecessor left behind;
//! 3. a batched sample is preceded by one operation that is not timed, so what fits a cache is in it;
//! 4. the best of many samples is kept, beside the median.

use std::time::{Duration, Instant};

use crate::{Failure, Result, stats::Timing};

/// A sample lasts at least this many ticks of the timer.
const FLOOR: u32 = 100;

/// A batch that still shows no time on the clock at this size will never show any.
const LARGEST_BATCH: u64 = 1 << 40;

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

    fn another_round(&self, done: usize, start: Instant) -> bool {
        done < self.fewest_rounds || (done < self.most_rounds && start.elapsed() < self.time)
    }
}

/// One of several ways to do the same work.
pub struct Contender<'a> {
    repeat: Box<dyn FnMut(u64) -> Result<()> + 'a>,
}

impl<'a> Contender<'a> {
    /// Wraps one operation. The loop over a batch is compiled around it, so a short operation does not pay for a call through a pointer.
    pub fn new<E: Into<Failure>>(mut operation: impl FnMut() -> Result<(), E> + 'a) -> Self {
        let repeat = move |times| (0..times).try_for_each(|_| operation()).map_err(Into::into);
        Contender { repeat: Box::new(repeat) }
    }

    fn time(&mut self, batch: u64) -> Result<Duration> {
        let start = Instant::now();
        (self.repeat)(batch)?;
        Ok(start.elapsed())
    }

    /// The batch that fills a sample. The first operation, which pages memory in, is not counted.
    fn calibrate(&mut self, sample: Duration) -> Result<u64> {
        (self.repeat)(1)?;
        let mut batch = 1;
        loop {
            let elapsed = self.time(batch)?;
            if elapsed >= sample {
                return Ok(batch);
            }
            batch = larger_batch(batch, elapsed, sample);
            if batch > LARGEST_BATCH {
                return Err(Failure::work("the clock does not advance: nothing can be timed"));
            }
        }
    }

    fn sample(&mut self, batch: u64) -> Result<f64> {
        if batch > 1 {
            (self.repeat)(1)?;
        }
        Ok(self.time(batch)?.as_nanos() as f64 / batch as f64)
    }
}

/// At least double, and a fifth more than the last try suggests, so that calibration ends after a few steps.
fn larger_batch(batch: u64, elapsed: Duration, sample: Duration) -> u64 {
    let wanted = sample.as_nanos() as u64 * batch * 6 / 5 / (elapsed.as_nanos() as u64).max(1);
    wanted.clamp(batch * 2, batch * 100)
}

/// Times the contenders against each other, in their order.
pub fn race<const N: usize>(
    budget: &Budget,
    mut contenders: [Contender<'_>; N],
) -> Result<[Timing; N]> {
    let sample = budget.sample.max(resolution() * FLOOR);
    let mut batches = [0; N];
    for (batch, contender) in batches.iter_mut().zip(&mut contenders) {
        *batch = contender.calibrate(sample)?;
    }
    let samples = rounds(budget, &mut contenders, &batches)?;
    let mut timings = samples.into_iter().zip(batches).map(|(s, batch)| Timing::of(s, batch));
    let missing = || Failure::work("no round was run");
    let mut result =
        [Timing { best_ns: 0.0, median_ns: 0.0, spread: 0.0, samples: 0, batch: 0 }; N];
    for slot in &mut result {
        *slot = timings.next().flatten().ok_or_else(missing)?;
    }
    Ok(result)
}

fn rounds<const N: usize>(
    budget: &Budget,
    contenders: &mut [Contender<'_>; N],
    batches: &[u64; N],
) -> Result<[Vec<f64>; N]> {
    let mut samples = [const { Vec::new() }; N];
    let start = Instant::now();
    let mut round = 0;
    while budget.another_round(round, start) {
        for turn in 0..N {
            let who = (round + turn) % N;
            samples[who].push(contenders[who].sample(batches[who])?);
        }
        round += 1;
    }
    Ok(samples)
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
    fn a_failing_contender_ends_the_race() {
        let failing = Contender::new(|| Err(Failure::work("broken")));
        assert_eq!(race(&BRIEF, [failing]).unwrap_err().to_string(), "broken");
    }
}
