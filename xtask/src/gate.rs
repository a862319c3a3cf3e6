//! `cargo xtask test`: everything a change must pass, in the order in which it is cheapest to fail.
//!
//! The plan is a value made from what is installed; running it is a loop. A missing optional tool is never a
//! failure, so that a machine with nothing but cargo and rustc can run the gate, but it is never silent either.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::{command, tidy};

/// One part of the gate.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A cargo command.
    Cargo { name: &'static str, args: &'static [&'static str] },
    /// The house rules, checked in this process.
    Tidy,
    /// A part left out because `missing` is not installed; `install` is the command that would change that.
    Skipped { name: &'static str, missing: &'static str, install: &'static str },
}

/// Runs the gate; stops at the first failure, with its exit code.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let steps = plan(|subcommand| {
        command::succeeds(Command::new(command::cargo()).args([subcommand, "--version"]).current_dir(root))
    });
    for step in &steps {
        match step {
            Step::Cargo { name, args } => {
                eprintln!("\n== {name}: cargo {}", args.join(" "));
                let status = command::run_cargo(root, args)?;
                if !status.success() {
                    eprintln!("\nFAILED at {name}");
                    return Ok(command::exit_code(status));
                }
            }
            Step::Tidy => {
                eprintln!("\n== tidy: cargo xtask tidy");
                let code = tidy::run(root)?;
                if code != ExitCode::SUCCESS {
                    eprintln!("\nFAILED at tidy");
                    return Ok(code);
                }
            }
            Step::Skipped { name, missing, install } => {
                eprintln!("\n== {name}: SKIPPED, {missing} is not installed (install it with `{install}`)");
            }
        }
    }
    eprintln!("\n{}", verdict(&steps));
    Ok(ExitCode::SUCCESS)
}

/// The steps for a machine on which exactly the cargo subcommands that satisfy `has` are installed.
fn plan(has: impl Fn(&str) -> bool) -> Vec<Step> {
    let optional = |tool: &str, step: Step, skipped: Step| if has(tool) { step } else { skipped };
    let mut steps = vec![
        optional(
            "fmt",
            Step::Cargo { name: "fmt", args: &["fmt", "--all", "--check"] },
            Step::Skipped { name: "fmt", missing: "rustfmt", install: "rustup component add rustfmt" },
        ),
        optional(
            "clippy",
            Step::Cargo {
                name: "clippy",
                args: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
            },
            Step::Skipped { name: "clippy", missing: "clippy", install: "rustup component add clippy" },
        ),
        Step::Tidy,
        // Not a skip: without nextest the same tests run, only slower.
        optional(
            "nextest",
            Step::Cargo { name: "tests", args: &["nextest", "run", "--workspace", "--no-fail-fast"] },
            Step::Cargo { name: "tests", args: &["test", "--workspace", "--tests", "--no-fail-fast"] },
        ),
        Step::Cargo { name: "doctests", args: &["test", "--workspace", "--doc"] },
    ];
    if has("deny") {
        // A build fetches what this platform needs; deny reads the licences of all platforms, and only from disk.
        steps.push(Step::Cargo { name: "fetch", args: &["fetch"] });
        steps.push(Step::Cargo {
            name: "deny",
            args: &["deny", "--offline", "check", "bans", "licenses", "sources"],
        });
    } else {
        let install = "cargo install --locked cargo-deny";
        steps.push(Step::Skipped { name: "deny", missing: "cargo-deny", install });
    }
    steps
}

/// The last line of a gate that passed. It repeats what was skipped, because the notes have scrolled away.
fn verdict(steps: &[Step]) -> String {
    let skipped: Vec<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Skipped { name, .. } => Some(*name),
            Step::Cargo { .. } | Step::Tidy => None,
        })
        .collect();
    if skipped.is_empty() {
        "PASSED".to_owned()
    } else {
        format!("PASSED WITHOUT {}: not installed, see the notes above", skipped.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(steps: &[Step]) -> Vec<String> {
        let line = |step: &Step| match step {
            Step::Cargo { args, .. } => args[0].to_owned(),
            Step::Tidy => "tidy".to_owned(),
            Step::Skipped { name, .. } => format!("no {name}"),
        };
        steps.iter().map(line).collect()
    }

    #[test]
    fn a_full_machine_runs_everything_cheapest_first() {
        let steps = plan(|_| true);
        assert_eq!(outline(&steps), ["fmt", "clippy", "tidy", "nextest", "test", "fetch", "deny"]);
        assert_eq!(verdict(&steps), "PASSED");
    }

    #[test]
    fn a_bare_machine_still_runs_every_test_and_says_what_it_left_out() {
        let steps = plan(|_| false);
        assert_eq!(outline(&steps), ["no fmt", "no clippy", "tidy", "test", "test", "no deny"]);
        assert_eq!(verdict(&steps), "PASSED WITHOUT fmt, clippy, deny: not installed, see the notes above");
    }
}
