//! The budget file: one number per line, one line per chronon. A first line that says `budget` is a header.

use std::io::Read;
use std::path::Path;

use dunlin_core::Budget;

use super::open::open;
use super::records::Records;
use super::{Excerpt, Problem};
use crate::Error;

/// A budget for each chronon of an epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetFile {
    /// The grants.
    pub budget: Budget,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

impl BudgetFile {
    /// Reads budgets from a path, or from standard input for `-`.
    pub fn open(path: &Path, chronons: u32) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string(), chronons)
    }

    /// Reads the budgets of an epoch of `chronons`, plain or gzip, from `input`, called `file` in messages.
    /// Lines beyond the epoch are checked, left out, and reported in one warning.
    pub fn read(input: impl Read, file: &str, chronons: u32) -> Result<Self, Error> {
        let mut records = Records::new(input, file)?;
        let mut grants = Vec::new();
        let mut n_lines = 0;
        let mut first = true;
        while records.advance()? {
            let (line, found) = (records.line(), records.record().len());
            if found != 1 {
                return Err(records.bad_line(line, Problem::NotOneValue { found }));
            }
            let text = records.record()[0].trim();
            if std::mem::take(&mut first) && text == "budget" {
                continue;
            }
            let Ok(grant) = text.parse::<f64>() else {
                let value = Excerpt::from(text);
                return Err(records.bad_line(line, Problem::NotANumber { column: "budget", value }));
            };
            if !grant.is_finite() || grant < 0.0 {
                return Err(records.bad_line(line, dunlin_core::Error::BadBudget(grant)));
            }
            n_lines += 1;
            if grants.len() < chronons as usize {
                grants.push(grant);
            }
        }
        if grants.len() < chronons as usize {
            let problem = Problem::TooFewBudgets { found: grants.len(), expected: chronons };
            return Err(records.bad_line(records.line(), problem));
        }
        let extra = n_lines - grants.len();
        let warnings = (extra > 0)
            .then(|| format!("{file}: ignored {extra} budgets after chronon {chronons}"))
            .into_iter()
            .collect();
        Ok(Self { budget: Budget::per_chronon(grants)?, warnings })
    }
}
