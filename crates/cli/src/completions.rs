//! `dunlin completions`: what a shell needs to complete commands and flags.

use clap::{Args, Command, CommandFactory};
use clap_complete::{Shell, generate};

use crate::failure::Failure;
use crate::output::print_bytes;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run<C: CommandFactory>(&self) -> Result<(), Failure> {
        let mut command: Command = C::command();
        let mut script = Vec::new();
        generate(self.shell, &mut command, "dunlin", &mut script);
        print_bytes(&script)
    }
}
