//! `dunlin generate`: made-up workloads and traces, into files that the other commands read.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dunlin_lab::files::{Epoch, TraceFile};
use dunlin_lab::generate::{
    AuctionWatch, Bursty, Daily, IntervalLength, Periodic, Poisson, PoissonUpdates, Rate, Span,
};

use crate::args::{chronons, duration};
use crate::failure::Failure;
use crate::inputs;

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Needs of auction watchers: profiles that want the j-th update of each of a few sources together
    #[command(name = "auctionwatch")]
    AuctionWatch(GenerateAuctionWatch),
    /// A trace of sources that change at random, with no pattern
    Poisson(GeneratePoisson),
    /// A trace of sources that change by a timetable
    Periodic(GeneratePeriodic),
    /// A trace of sources that follow people's hours
    Daily(GenerateDaily),
    /// A trace of sources of which one change brings others
    Bursty(GenerateBursty),
}

impl Generate {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.what {
            What::AuctionWatch(command) => command.run(),
            What::Poisson(command) => {
                let generator = Poisson { span: command.span.span(), rate: command.rate.rate() };
                command.span.save(&generator.generate(command.span.seed)?)
            }
            What::Periodic(command) => {
                let generator = Periodic {
                    span: command.span.span(),
                    period_seconds: command.period.get(),
                    jitter_seconds: command.jitter,
                };
                command.span.save(&generator.generate(command.span.seed)?)
            }
            What::Daily(command) => {
                let generator = Daily {
                    span: command.span.span(),
                    rate: command.rate.rate(),
                    peak_hour: command.peak_hour,
                    amplitude: command.amplitude,
                    weekend_factor: command.weekend_factor,
                };
                command.span.save(&generator.generate(command.span.seed)?)
            }
            What::Bursty(command) => {
                let generator = Bursty {
                    span: command.span.span(),
                    bursts: command.rate.rate(),
                    mean_length: command.mean_length,
                    gap_seconds: command.gap,
                };
                command.span.save(&generator.generate(command.span.seed)?)
            }
        }
    }
}

/// The parameters of the auction-watching workload; the defaults are the papers' baseline.
#[derive(Debug, Args)]
pub(crate) struct AuctionWatchArgs {
    /// Number of profiles
    #[arg(long, value_name = "M", default_value_t = 100)]
    profiles: u32,
    /// Largest number of sources that a profile watches
    #[arg(long, value_name = "K", default_value_t = 3)]
    rank: u32,
    /// Every profile watches that many, instead of a number drawn by --beta
    #[arg(long)]
    exact_rank: bool,
    /// How much profiles prefer popular sources (Zipf exponent)
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    alpha: f64,
    /// How much users prefer simple profiles (Zipf exponent)
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    beta: f64,
    /// An update is worth fetching for this many further chronons
    #[arg(long, value_name = "W", default_value_t = 10, conflicts_with = "overwrite")]
    window: u32,
    /// An update is worth fetching until the next one
    #[arg(long)]
    overwrite: bool,
}

impl AuctionWatchArgs {
    pub(crate) fn profiles(&self) -> AuctionWatch {
        let length =
            if self.overwrite { IntervalLength::Overwrite } else { IntervalLength::Window(self.window) };
        AuctionWatch {
            profiles: self.profiles,
            rank: self.rank,
            exact_rank: self.exact_rank,
            alpha: self.alpha,
            beta: self.beta,
            length,
        }
    }
}

/// The sources watched when no trace is given.
#[derive(Debug, Args)]
pub(crate) struct UpdatesArgs {
    /// Number of sources
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    sources: u32,
    /// Length of the epoch
    #[arg(long, value_name = "K", default_value = "1000", value_parser = chronons)]
    chronons: u32,
    /// Mean number of updates of a source in the epoch
    #[arg(long, default_value_t = 20.0, allow_negative_numbers = true)]
    lambda: f64,
}

impl UpdatesArgs {
    pub(crate) fn updates(&self) -> PoissonUpdates {
        PoissonUpdates { sources: self.sources, chronons: self.chronons, lambda: self.lambda }
    }
}

#[derive(Debug, Args)]
struct GenerateAuctionWatch {
    #[command(flatten)]
    profiles: AuctionWatchArgs,
    #[command(flatten)]
    updates: UpdatesArgs,
    /// Take the updates from this trace instead (with --chronon)
    #[arg(long, value_name = "FILE", requires = "chronon", conflicts_with_all = ["sources", "lambda"])]
    trace: Option<PathBuf>,
    /// Length of a chronon of the trace, for instance 60s
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "trace")]
    chronon: Option<NonZeroU32>,
    #[command(flatten)]
    out: OutArgs,
}

impl GenerateAuctionWatch {
    fn run(&self) -> Result<(), Failure> {
        let (changes, names) = match (&self.trace, self.chronon) {
            (Some(path), Some(chronon_seconds)) => {
                let trace = TraceFile::open(path)?;
                inputs::warn(&trace.warnings);
                let start = trace.default_start(chronon_seconds);
                let chronons = self.updates.chronons;
                let changes = trace.changes(Epoch { start, chronon_seconds, chronons });
                (changes, trace.sources)
            }
            _ => (self.updates.updates().generate(self.out.seed)?, self.updates.updates().names()),
        };
        let file = self.profiles.profiles().generate(&changes, &names, self.out.seed)?;
        Ok(file.save(&self.out.out)?)
    }
}

#[derive(Debug, Args)]
struct OutArgs {
    /// Seed: the same seed gives the same file
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Where to write; - is standard output, a name in .gz is compressed
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct SpanArgs {
    /// Number of sources
    #[arg(long, value_name = "N", default_value_t = 100)]
    sources: u32,
    /// Length of the trace, for instance 1d
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "7d")]
    span: NonZeroU32,
    /// Seed: the same seed gives the same file
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Where to write; - is standard output, a name in .gz is compressed
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

impl SpanArgs {
    fn span(&self) -> Span {
        Span { sources: self.sources, seconds: self.span.get() }
    }

    fn save(&self, trace: &TraceFile) -> Result<(), Failure> {
        Ok(trace.save(&self.out)?)
    }
}

#[derive(Debug, Args)]
struct RateArgs {
    /// Changes (or bursts) per source and day, on average
    #[arg(long, value_name = "RATE", default_value_t = 10.0, allow_negative_numbers = true)]
    per_day: f64,
    /// How much sources differ: standard deviation of the logarithm of their rates
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    spread: f64,
}

impl RateArgs {
    fn rate(&self) -> Rate {
        Rate { per_day: self.per_day, spread: self.spread }
    }
}

#[derive(Debug, Args)]
struct GeneratePoisson {
    #[command(flatten)]
    rate: RateArgs,
    #[command(flatten)]
    span: SpanArgs,
}

#[derive(Debug, Args)]
struct GeneratePeriodic {
    /// Time between two changes of a source
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h")]
    period: NonZeroU32,
    /// Standard deviation of each change around its time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, allow_negative_numbers = true)]
    jitter: f64,
    #[command(flatten)]
    span: SpanArgs,
}

#[derive(Debug, Args)]
struct GenerateDaily {
    #[command(flatten)]
    rate: RateArgs,
    /// Hour of the day with most changes
    #[arg(long, value_name = "HOUR", default_value_t = 14.0)]
    peak_hour: f64,
    /// How far the rate swings around its mean, 0 to 1
    #[arg(long, default_value_t = 0.9)]
    amplitude: f64,
    /// Rate on Saturdays and Sundays as a share of other days'
    #[arg(long, default_value_t = 0.4)]
    weekend_factor: f64,
    #[command(flatten)]
    span: SpanArgs,
}

#[derive(Debug, Args)]
struct GenerateBursty {
    #[command(flatten)]
    rate: RateArgs,
    /// Changes in a burst, on average
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    mean_length: f64,
    /// Seconds between two changes of a burst, on average
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    gap: f64,
    #[command(flatten)]
    span: SpanArgs,
}
