//! The `dunlin` command. The only crate that prints, reads its arguments and picks exit codes.
//!
//! Exit codes: 0 done; 1 ran, but the answer is "no" (a budget was broken, a check failed); 2 bad input or usage; 3 the
//! environment failed (disk, permissions, network). A reader that closes the pipe early is no failure.
#![expect(clippy::print_stderr, reason = "this is the crate that talks to people")]

mod args;
mod backend;
mod bound;
mod completions;
mod config;
mod data_dir;
mod detect;
mod doctor;
mod failure;
mod generate;
mod guarantee;
mod headline;
mod inputs;
mod lists;
mod log;
mod moments;
mod output;
mod plan;
mod query;
mod score;
mod serve;
mod simulate;
mod terminal;
mod testbed;
mod trying;
mod upkeep;
mod watching;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::watching::edit::Action;
use crate::watching::{
    add, budget, changes, diff, edit, explain, export, import, journal, show, sources, tail, token,
};

/// The service hands what it reads from thread to thread, which this one is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Turns web sources that can only be pulled into push streams, under a probe budget.
#[derive(Debug, Parser)]
#[command(name = "dunlin", version, about, max_term_width = 100, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service: watch sources, keep what changes, serve the API
    Serve(serve::Serve),
    /// Watch an address from now on
    Add(add::Add),
    /// Look at an address once: what would be watched there, what may be wrong with it, and what else could be watched
    Try(trying::Try),
    /// Watch many addresses, from a list or OPML
    Import(import::Import),
    /// List what is watched, and its health
    Sources(sources::Sources),
    /// Change how a source is read or what it is worth
    Edit(edit::Edit),
    /// Leave sources alone for now
    Pause(edit::Several),
    /// Watch paused sources again
    Resume(edit::Several),
    /// Forget sources and everything captured from them
    Remove(edit::Several),
    /// Probe sources ahead of others, as soon as their hosts allow
    Probe(edit::Several),
    /// List what changed, by cursor
    Changes(changes::Changes),
    /// Show changes as they are caught
    Tail(tail::Tail),
    /// Show the content of a source, in one version or the newest
    Show(show::Show),
    /// Compare two versions word by word
    Diff(diff::Diff),
    /// Show versions of a document to the detection of the service, and say what would have been reported
    Detect(detect::Detect),
    /// Say what is expected of a source, when it is probed next, and why then
    Explain(explain::Explain),
    /// Show the probe budget and how it is spent, or set it
    Budget(budget::Budget),
    /// List why each probe was made
    Decisions(journal::Decisions),
    /// Take all recorded decisions again, and say whether they come out the same
    Replay(journal::Replay),
    /// Write sources or changes for other programs
    Export(export::Export),
    /// Make, list and revoke tokens for the API
    #[command(subcommand)]
    Token(token::Token),
    /// Check the configuration of the service
    #[command(subcommand)]
    Config(config::check::ConfigCommand),
    /// Check that everything is as it should be, and say what to try where it is not
    Doctor(doctor::Doctor),
    /// Check, copy, thin out or compact the database
    #[command(subcommand)]
    Store(upkeep::StoreCommand),
    /// Continuous queries: needs across sources, written as texts; `simulate queries` runs them on a trace
    #[command(subcommand)]
    Query(query::QueryCommand),
    /// Run scheduling policies on needs, on queries, on a trace, or on made-up workloads
    #[command(subcommand)]
    Simulate(simulate::Simulate),
    /// Score a schedule from any source; a broken budget is exit code 1
    #[command(subcommand)]
    Score(score::Score),
    /// Plan beforehand when to probe, and measure the plan
    #[command(subcommand)]
    Plan(plan::Plan),
    /// Bound what any schedule can capture, with everything known beforehand
    #[command(subcommand)]
    Bound(bound::Bound),
    /// Make up a workload or a trace
    Generate(generate::Generate),
    /// Serve a trace as a real web site, to try monitors on
    Testbed(testbed::Testbed),
    /// Write completions for a shell
    Completions(completions::Completions),
}

impl Command {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Serve(command) => command.run(),
            Self::Add(command) => command.run(),
            Self::Try(command) => command.run(),
            Self::Import(command) => command.run(),
            Self::Sources(command) => command.run(),
            Self::Edit(command) => command.run(),
            Self::Pause(command) => command.run(Action::Pause),
            Self::Resume(command) => command.run(Action::Resume),
            Self::Remove(command) => command.run(Action::Remove),
            Self::Probe(command) => command.run(Action::Probe),
            Self::Changes(command) => command.run(),
            Self::Tail(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Diff(command) => command.run(),
            Self::Detect(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Budget(command) => command.run(),
            Self::Decisions(command) => command.run(),
            Self::Replay(command) => command.run(),
            Self::Export(command) => command.run(),
            Self::Token(command) => command.run(),
            Self::Config(command) => command.run(),
            Self::Doctor(command) => command.run(),
            Self::Store(command) => command.run(),
            Self::Query(command) => command.run(),
            Self::Simulate(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Plan(command) => command.run(),
            Self::Bound(command) => command.run(),
            Self::Generate(command) => command.run(),
            Self::Testbed(command) => command.run(),
            Self::Completions(command) => command.run::<Cli>(),
        }
    }
}

/// Prints a note for people on standard error, so that the answer can be piped.
fn note(text: &str) {
    eprintln!("{}", terminal::harmless(text));
}

/// The same, in a tone.
fn note_in(tone: terminal::Tone, text: &str) {
    eprintln!("{}", terminal::Paint::stderr().paint(tone, &terminal::harmless(text)));
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command.run() {
        Ok(()) | Err(Failure::ClosedPipe | Failure::Enough) => ExitCode::SUCCESS,
        Err(failure) => {
            // It may quote a site or a server.
            eprintln!("error: {}", terminal::harmless(&failure.to_string()));
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    /// What is between two backticks and begins with the name of this program.
    fn commands_in(text: &str) -> Vec<String> {
        let lines = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        lines.filter(|quoted| quoted.starts_with("dunlin ")).map(str::to_owned).collect()
    }

    /// A value for each placeholder.
    fn filled_in(word: &str) -> &str {
        match word {
            "N/min" => "5/min",
            "URL" => "https://news.example/",
            word if word.starts_with('{') || word.chars().all(|c| c.is_ascii_uppercase()) => "1",
            word => word,
        }
    }

    fn read(directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.extend(
                    commands_in(&text).into_iter().map(|command| (path.display().to_string(), command)),
                );
            }
        }
    }

    #[test]
    fn every_command_that_a_message_names_exists() {
        let mut found = Vec::new();
        for name in ["cli", "server", "engine", "store", "net"] {
            read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../{name}/src")), &mut found);
        }
        assert!(found.len() > 30, "{found:?}");
        for (file, command) in found {
            let words: Vec<&str> = command.split_whitespace().map(filled_in).collect();
            let kind = Cli::command().try_get_matches_from(words).err().map(|error| error.kind());
            // A command that is only named may be written without its arguments.
            let is_there = matches!(
                kind,
                None | Some(
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::DisplayHelp
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                )
            );
            assert!(is_there, "{file}: `{command}`: {kind:?}");
        }
    }
}
