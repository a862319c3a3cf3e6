//! `cargo xtask test`: everything a change must pass, in the order in which it is cheapest to fail.
//!
//! The plan is a value made from what is there; running it is a loop. What a machine lacks (an optional tool, reference
//! data, the way to the advisories) is never a failure, so that one with nothing but cargo and rustc can run the gate.
//! But it is never silent either: the last line names all that was left out.

mod advisories;
mod outside;

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
    /// The tests that read reference data are left out, and counted.
    WithoutReference,
    /// Known faults of what we depend on.
    Advisories,
    /// A part left out because `missing` is not installed; `install` is the command that would change that.
    Skipped { name: &'static str, missing: &'static str, install: &'static str },
}

/// What came of a step.
#[derive(Debug)]
enum Outcome {
    Passed,
    Failed(ExitCode),
    /// What was not checked, and why, for the last line.
    LeftOut(String),
}

/// Runs the gate; stops at the first failure, with its exit code.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    perform(root, &plan(tools(root), outside::is_given()))
}

/// Runs only the tests that read reference data.
pub(crate) fn run_reference(root: &Path) -> Result<ExitCode> {
    if !outside::is_given() {
        eprintln!("error: {} is not set (it names the folder of reference data)", outside::VARIABLE);
        return Ok(ExitCode::FAILURE);
    }
    perform(root, &[outside::tests(tools(root)("nextest"))])
}

/// Whether a cargo subcommand is installed.
fn tools(root: &Path) -> impl Fn(&str) -> bool {
    move |subcommand| {
        command::succeeds(Command::new(command::cargo()).args([subcommand, "--version"]).current_dir(root))
    }
}

fn perform(root: &Path, steps: &[Step]) -> Result<ExitCode> {
    let mut left_out = Vec::new();
    for step in steps {
        let outcome = match step {
            Step::Cargo { args, .. } => {
                announce(step, &format!("cargo {}", args.join(" ")));
                passed(command::run_cargo(root, args)?)
            }
            Step::Tidy => {
                announce(step, "cargo xtask tidy");
                let code = tidy::run(root)?;
                if code == ExitCode::SUCCESS { Outcome::Passed } else { Outcome::Failed(code) }
            }
            Step::WithoutReference => outside::count(root)?,
            Step::Advisories => {
                announce(step, "cargo deny check advisories");
                advisories::check(root)?
            }
            Step::Skipped { name, missing, install } => {
                announce(step, &format!("SKIPPED, {missing} is not installed (install it with `{install}`)"));
                Outcome::LeftOut(format!("{name} ({missing} is not installed)"))
            }
        };
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(code) => {
                eprintln!("\nFAILED at {}", step.name());
                return Ok(code);
            }
            Outcome::LeftOut(what) => left_out.push(what),
        }
    }
    eprintln!("\n{}", verdict(&left_out));
    Ok(ExitCode::SUCCESS)
}

fn announce(step: &Step, what: &str) {
    eprintln!("\n== {}: {what}", step.name());
}

fn passed(status: std::process::ExitStatus) -> Outcome {
    if status.success() { Outcome::Passed } else { Outcome::Failed(command::exit_code(status)) }
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::Cargo { name, .. } | Self::Skipped { name, .. } => name,
            Self::Tidy => "tidy",
            Self::WithoutReference => "reference",
            Self::Advisories => "advisories",
        }
    }
}

/// The steps for a machine on which exactly the cargo subcommands that satisfy `has` are installed.
fn plan(has: impl Fn(&str) -> bool, has_reference: bool) -> Vec<Step> {
    let optional = |tool: &str, step: Step, skipped: Step| if has(tool) { step } else { skipped };
    let has_nextest = has("nextest");
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
        if has_nextest {
            Step::Cargo { name: "tests", args: &["nextest", "run", "--workspace", "--no-fail-fast"] }
        } else {
            let args = &["test", "--workspace", "--tests", "--no-fail-fast", "--", "--skip", "reference::"];
            Step::Cargo { name: "tests", args }
        },
        if has_reference { outside::tests(has_nextest) } else { Step::WithoutReference },
        Step::Cargo { name: "doctests", args: &["test", "--workspace", "--doc"] },
    ];
    if has("deny") {
        // A build fetches what this platform needs; deny reads the licences of all platforms, and only from disk.
        steps.push(Step::Cargo { name: "fetch", args: &["fetch"] });
        steps.push(Step::Cargo {
            name: "deny",
            args: &["deny", "--offline", "check", "bans", "licenses", "sources"],
        });
        steps.push(Step::Advisories);
    } else {
        let install = "cargo install --locked cargo-deny";
        steps.push(Step::Skipped { name: "licences and advisories", missing: "cargo-deny", install });
    }
    steps
}

/// The last line of a gate that passed. It repeats what was left out, because the notes have scrolled away.
fn verdict(left_out: &[String]) -> String {
    if left_out.is_empty() { "PASSED".to_owned() } else { format!("PASSED WITHOUT {}", left_out.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(steps: &[Step]) -> Vec<String> {
        let line = |step: &Step| match step {
            Step::Cargo { args, .. } => args[0].to_owned(),
            Step::Tidy | Step::Advisories => step.name().to_owned(),
            Step::Skipped { .. } | Step::WithoutReference => format!("no {}", step.name()),
        };
        steps.iter().map(line).collect()
    }

    #[test]
    fn a_full_machine_runs_everything_cheapest_first() {
        let expected = ["fmt", "clippy", "tidy", "nextest", "nextest", "test", "fetch", "deny", "advisories"];
        assert_eq!(outline(&plan(|_| true, true)), expected);
        assert_eq!(verdict(&[]), "PASSED");
    }

    #[test]
    fn a_bare_machine_still_runs_every_test_and_says_what_it_left_out() {
        let steps = plan(|_| false, false);
        let expected =
            ["no fmt", "no clippy", "tidy", "test", "no reference", "test", "no licences and advisories"];
        assert_eq!(outline(&steps), expected);
        let left_out = ["fmt (rustfmt is not installed)".to_owned(), "3 reference tests (x)".to_owned()];
        let said = "PASSED WITHOUT fmt (rustfmt is not installed), 3 reference tests (x)";
        assert_eq!(verdict(&left_out), said);
    }

    #[test]
    fn tests_of_reference_data_run_apart_from_the_others_with_either_runner() {
        for has_nextest in [false, true] {
            let steps = plan(|tool| tool == "nextest" && has_nextest, true);
            let of_tests = |step: &Step| match step {
                Step::Cargo { name: "tests" | "reference", args } => Some(args.join(" ")),
                _ => None,
            };
            let [others, reference] =
                steps.iter().filter_map(of_tests).collect::<Vec<_>>().try_into().unwrap();
            // The runner's own settings leave them out by default.
            assert!(has_nextest || others.ends_with("-- --skip reference::"), "{others}");
            let only = if has_nextest { "--profile reference" } else { "-- reference::" };
            assert!(reference.ends_with(only), "{reference}");
        }
    }
}
