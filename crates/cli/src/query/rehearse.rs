//! `dunlin query test`: what a query would have captured of what is stored.

use std::path::PathBuf;

use clap::Args;
use dunlin_lab::files::open_query_text;
use serde::Deserialize;
use serde_json::Value;

use super::refusal;
use super::shown::{order_of, result_lines, watches_for_words};
use crate::backend::records::ResultRecord;
use crate::backend::{Access, ReachArgs};
use crate::failure::Failure;
use crate::output::{print_json, print_line};
use crate::terminal::Paint;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// One query; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Test {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = open_query_text(&self.file)?;
        let backend = self.reach.open(Access::Read)?;
        let tried = backend.test_query(&text)?.map_err(|refused| refusal(&self.file, &text, &refused))?;
        if self.json {
            return print_json(&tried);
        }
        let (Some(from), Some(until)) = (tried["from"].as_str(), tried["until"].as_str()) else {
            return print_line("nothing is stored of what it reads (watch its sources, or add it and wait)");
        };
        let unknown: Vec<&str> =
            tried["unknown"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !unknown.is_empty() {
            crate::note(&format!("nothing is stored of what these parts read: {}", unknown.join(", ")));
        }
        let (order, paint) = (order_of(&text), Paint::stdout());
        for (number, result) in (1..).zip(tried["results"].as_array().into_iter().flatten()) {
            let mut result = result.clone();
            result["cursor"] = Value::from(number);
            if let Ok(result) = ResultRecord::deserialize(result) {
                result_lines("would be told", &result, &order, paint)
                    .iter()
                    .try_for_each(|line| print_line(line))?;
            }
        }
        if tried["instances"] == 0 && watches_for_words(&text) {
            print_line(&format!(
                "from {from} to {until}: {} new items would be told, and {} not, which WHERE or a story told before rules out",
                tried["complete"], tried["not_told"]
            ))?;
        } else {
            print_line(&format!(
                "{} instances from {from} to {until}: {} complete, {} not told, {} missed",
                tried["instances"], tried["complete"], tried["not_told"], tried["missed"]
            ))?;
        }
        if tried["is_cut"] == true {
            crate::note("there was more history than is looked at");
        }
        Ok(())
    }
}
