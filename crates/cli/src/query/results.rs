//! `dunlin query results` and `missed`: what a query captured, and what it did not.

use clap::Args;
use dunlin_engine::clock;

use super::Which;
use super::shown::{order_of, result_lines};
use crate::backend::Access;
use crate::backend::records::{MissPage, MissRecord, ResultPage};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line, print_table_left};
use crate::terminal::{Paint, one_line};

/// The most that a backend gives at a time.
const PAGE: u32 = 1_000;

#[derive(Debug, Args)]
pub(crate) struct Results {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    range: Range,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Missed {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    range: Range,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Range {
    /// Only those after this cursor; the `next` of one call is the `--after` of the following one
    #[arg(long, value_name = "CURSOR", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    after: i64,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
}

impl Range {
    /// As many rows as wanted, from pages of as many as a backend gives.
    fn pages<P>(
        &self,
        mut read: impl FnMut(i64, u32) -> Result<P, Failure>,
        parts: impl Fn(&P) -> (usize, i64),
        mut take: impl FnMut(P),
    ) -> Result<(), Failure> {
        let (mut after, mut left) = (self.after, self.limit);
        while left > 0 {
            let limit = left.min(PAGE);
            let page = read(after, limit)?;
            let (n_rows, next) = parts(&page);
            take(page);
            (after, left) = (next, left.saturating_sub(n_rows as u32));
            if n_rows < limit as usize {
                break;
            }
        }
        Ok(())
    }

    fn mention_more(&self, n_shown: usize, next: i64) {
        if n_shown == self.limit as usize {
            crate::note(&format!("there may be more: add --after {next}"));
        }
    }
}

impl Results {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, query) = self.which.open(Access::Read)?;
        let mut whole = ResultPage { results: Vec::new(), next: self.range.after };
        self.range.pages(
            |after, limit| backend.results(query.id, after, limit),
            |page| (page.results.len(), page.next),
            |page| {
                whole.next = page.next;
                whole.results.extend(page.results);
            },
        )?;
        if self.json {
            return print_json(&whole);
        }
        if whole.results.is_empty() {
            crate::note(&format!(
                "no results yet ({} missed; see `dunlin query explain {}`)",
                query.missed, query.id
            ));
        }
        let (order, paint) = (order_of(&query.text), Paint::stdout());
        for result in &whole.results {
            result_lines(&query.name, result, &order, paint).iter().try_for_each(|line| print_line(line))?;
        }
        self.range.mention_more(whole.results.len(), whole.next);
        Ok(())
    }
}

impl Missed {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, query) = self.which.open(Access::Read)?;
        let mut whole = MissPage { missed: Vec::new(), next: self.range.after };
        self.range.pages(
            |after, limit| backend.missed(query.id, after, limit),
            |page| (page.missed.len(), page.next),
            |page| {
                whole.next = page.next;
                whole.missed.extend(page.missed);
            },
        )?;
        if self.json {
            return print_json(&whole);
        }
        let now = clock::now();
        let at = |text: &str| {
            clock::parse_rfc3339(text).map_or_else(|| text.to_owned(), |at| moments::relative(at, now))
        };
        let rows = whole.missed.iter().flat_map(|miss: &MissRecord| {
            miss.parts.iter().map(move |part| {
                let began = at(&miss.began_at);
                vec![
                    miss.cursor.to_string(),
                    began,
                    at(&miss.missed_at),
                    part.name.clone(),
                    one_line(&part.message, 100),
                ]
            })
        });
        if whole.missed.is_empty() {
            return print_line("nothing was missed");
        }
        print_table_left(&["cursor", "began", "missed", "part", "why"], rows.collect())?;
        self.range.mention_more(whole.missed.len(), whole.next);
        Ok(())
    }
}
