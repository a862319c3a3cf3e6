//! `dunlin testbed`: a trace as a real web site, to try monitors on. The site itself is the test bed's.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dunlin_testbed::{Options, Plan, Repeat, Speed, World};

use crate::failure::Failure;
use crate::inputs;
use crate::note;
use crate::serve::stopping::Stop;

#[derive(Debug, Args)]
pub(crate) struct Testbed {
    /// Real updates: source,time in seconds; - is standard input [default: a made-up week of two dozen sources]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How many seconds of the trace pass in one second
    #[arg(long, value_name = "X", default_value_t = 60.0, allow_negative_numbers = true)]
    speed: f64,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The second of the trace at which the site starts [default: that of the first update]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<i64>,
    /// Start again after the last update
    #[arg(long)]
    repeat: bool,
    /// How many of the latest updates a feed holds
    #[arg(long, value_name = "N", default_value_t = 10)]
    items: usize,
    /// Bytes of text on each page that never change
    #[arg(long, value_name = "BYTES", default_value_t = 2_000)]
    filler: usize,
    /// Seconds that robots.txt asks crawlers to leave between requests
    #[arg(long, value_name = "SECONDS")]
    crawl_delay: Option<u32>,
    /// A source that misbehaves from the start; see docs/testbed.md. May be given several times
    #[arg(long, value_name = "SOURCE=FAULT")]
    fault: Vec<dunlin_testbed::SourceFault>,
    /// Seed of made-up text
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
}

impl Testbed {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let options = Options { plan: self.plan()?, listen: self.listen };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Environment(format!("cannot start: {error}")))?;
        runtime.block_on(async {
            let stop = Stop::listen(Duration::ZERO, None)?;
            let n_sources = options.plan.trace.sources.len();
            let running = dunlin_testbed::Testbed::start(options).await?;
            note(&format!("{n_sources} sources at {}", running.url("/")));
            note(&format!("what changed when: {}", running.url("/_truth")));
            note(&format!(
                "to watch them:     dunlin import --data DIR <(curl -s {})",
                running.url("/sources.opml")
            ));
            note("Ctrl-C stops it.");
            stop.asked().await;
            running.stop().await;
            Ok(())
        })
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let plan = match &self.trace {
            Some(file) => Plan::of(inputs::trace_file(file)?),
            None => World::demo(self.seed).into_plan(),
        };
        let repeat = if self.repeat { Repeat::Always } else { plan.repeat };
        Ok(Plan {
            speed: Speed::new(self.speed)?,
            from: self.from.or(plan.from),
            repeat,
            items: self.items,
            filler: self.filler,
            crawl_delay: self.crawl_delay,
            faults: self.fault.clone(),
            seed: self.seed,
            ..plan
        })
    }
}
