//! From flags to what a simulation needs: files opened, read and checked, warnings printed once.

use std::path::{Path, PathBuf};

use dunlin_core::{Budget, Changes, Costs};
use dunlin_lab::files::{BudgetFile, CostsFile, Epoch, Excerpt, IntervalsFile, TraceFile};
use dunlin_sched::value::ValueModel;

use crate::args::{IntervalsArgs, MOST_CHRONONS, TraceArgs, TraceSpanArgs};
use crate::failure::Failure;

/// Prints what was odd but not wrong.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// Standard input can be read once.
pub(crate) fn check_standard_input<'a>(
    paths: impl Iterator<Item = Option<&'a PathBuf>>,
) -> Result<(), Failure> {
    if paths.flatten().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::input("standard input (-) is given twice (name a file for one of them)"));
    }
    Ok(())
}

/// The budget from the flag that was given.
pub(crate) fn budget(
    constant: Option<&Budget>,
    file: Option<&Path>,
    chronons: u32,
) -> Result<Option<Budget>, Failure> {
    let Some(path) = file else { return Ok(constant.cloned()) };
    let BudgetFile { budget, warnings } = BudgetFile::open(path, chronons)?;
    warn(&warnings);
    Ok(Some(budget))
}

fn costs(path: Option<&Path>, resources: &[String]) -> Result<Costs, Failure> {
    let Some(path) = path else { return Ok(Costs::uniform()) };
    let CostsFile { costs, warnings } = CostsFile::open(path, resources)?;
    warn(&warnings);
    Ok(costs)
}

/// Says so when a probe costs more than can ever be spent at once.
pub(crate) fn warn_if_never_affordable(costs: &Costs, names: &[String], budget: &Budget, chronons: u32) {
    let most = budget.most_in_one_chronon(chronons);
    let cost_of = |i: usize| costs.of(dunlin_core::SourceIdx(u32::try_from(i).unwrap_or(u32::MAX)));
    let dear: Vec<_> = (0..names.len()).filter(|&i| cost_of(i) > most).collect();
    if let [first, others @ ..] = dear.as_slice() {
        let name = Excerpt::from(names[*first].as_str());
        let who = match others.len() {
            0 => format!("{name} costs"),
            1 => format!("{name} and another one cost"),
            n => format!("{name} and {n} others cost"),
        };
        eprintln!("warning: {who} more than the {most} that a chronon can spend: never probed");
    }
}

/// A trace as it is in its file.
pub(crate) fn trace_file(path: &Path) -> Result<TraceFile, Failure> {
    let file = TraceFile::open(path)?;
    warn(&file.warnings);
    Ok(file)
}

/// A trace with the part of it under study, in which something changes.
pub(crate) fn trace_span(args: &TraceSpanArgs) -> Result<(TraceFile, Epoch), Failure> {
    let file = trace_file(&args.trace)?;
    let start = args.start.unwrap_or_else(|| file.default_start(args.chronon));
    let default_chronons = || file.default_chronons(start, args.chronon);
    let chronons = args.chronons.unwrap_or_else(default_chronons);
    if chronons > MOST_CHRONONS {
        return Err(Failure::input(format!(
            "{}: {chronons} chronons up to the last update (expected at most {MOST_CHRONONS}; try a longer \
             --chronon, or --chronons K)",
            args.trace.display()
        )));
    }
    let epoch = Epoch { start, chronon_seconds: args.chronon, chronons };
    if file.changes(epoch).is_empty() {
        return Err(Failure::input(format!(
            "{}: no update within {chronons} chronons from second {start} (try another --start or --chronons)",
            args.trace.display()
        )));
    }
    Ok((file, epoch))
}

/// Needs, ready to be scheduled.
pub(crate) struct Intervals {
    pub(crate) file: IntervalsFile,
    pub(crate) costs: Costs,
    pub(crate) chronons: u32,
}

impl Intervals {
    pub(crate) fn read(args: &IntervalsArgs) -> Result<Self, Failure> {
        let chronons = args.chronons;
        let file = IntervalsFile::open(&args.intervals, chronons)?;
        warn(&file.warnings);
        let costs = costs(args.costs.as_deref(), &file.resources)?;
        Ok(Self { file, costs, chronons })
    }
}

/// A trace, and how its part under study is valued.
pub(crate) struct Trace {
    pub(crate) file: TraceFile,
    pub(crate) epoch: Epoch,
    pub(crate) model: ValueModel,
}

impl Trace {
    pub(crate) fn read(args: &TraceArgs) -> Result<Self, Failure> {
        let (file, epoch) = trace_span(&args.span)?;
        Ok(Self { file, epoch, model: ValueModel::new(args.life, args.urgency) })
    }

    pub(crate) fn changes(&self) -> Changes {
        self.file.changes(self.epoch)
    }

    pub(crate) fn costs(&self, path: Option<&Path>) -> Result<Costs, Failure> {
        costs(path, &self.file.sources)
    }
}
