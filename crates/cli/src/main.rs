//! The `dunlin` command. The only crate that prints, reads its arguments and picks exit codes.
//!
//! Exit codes: 0 done; 1 ran, but the answer is "no" (a budget was broken); 2 bad input or usage; 3 the
//! environment failed (disk, permissions). A reader that closes the pipe early is no failure.
#![expect(clippy::print_stderr, reason = "this is the crate that talks to people")]

mod args;
mod failure;
mod generate;
mod inputs;
mod output;
mod score;
mod simulate;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Turns web sources that can only be pulled into push streams, under a probe budget.
#[derive(Debug, Parser)]
#[command(name = "dunlin", version, about, max_term_width = 100, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scheduling policies on needs, on a trace, or on made-up workloads
    #[command(subcommand)]
    Simulate(simulate::Simulate),
    /// Score a schedule, whoever made it; a broken budget is exit code 1
    #[command(subcommand)]
    Score(score::Score),
    /// Make up a workload or a trace
    Generate(generate::Generate),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Simulate(command) => command.run(),
        Command::Score(command) => command.run(),
        Command::Generate(command) => command.run(),
    };
    match done {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}
