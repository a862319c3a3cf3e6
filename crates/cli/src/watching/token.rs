//! `dunlin token`: who may use the API.

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::backend::records::TokenRecord;
use crate::backend::{Access, ReachArgs};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line, print_table_left};
use dunlin_engine::clock;

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token and print it; it is not shown again
    Create(Named),
    /// List the tokens there are, without their secrets
    List(List),
    /// Make a token worthless from now on
    Revoke(Named),
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// What it is for: letters, digits, dots and hyphens
    name: String,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    tokens: Vec<TokenRecord>,
}

impl Token {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Create(Named { name, reach }) => {
                let token = reach.open(Access::Write)?.create_token(name)?;
                crate::note("keep it safe: it is not shown again");
                print_line(&token)
            }
            Self::Revoke(Named { name, reach }) => {
                reach.open(Access::Write)?.revoke_token(name)?;
                print_line(&format!("token {name}: revoked"))
            }
            Self::List(List { reach, json }) => {
                let tokens = reach.open(Access::Read)?.tokens()?;
                if *json {
                    return print_json(&Report { tokens });
                }
                let now = clock::now();
                let row = |token: TokenRecord| {
                    let made = clock::parse_rfc3339(&token.created_at);
                    vec![token.name, made.map_or(token.created_at, |made| moments::relative(made, now))]
                };
                print_table_left(&["name", "made"], tokens.into_iter().map(row).collect())
            }
        }
    }
}
