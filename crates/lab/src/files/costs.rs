//! The costs file, `resource,cost`: what a probe costs where it does not cost 1.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use dunlin_core::Costs;

use super::open::open;
use super::table::{Layout, Table};
use super::{Excerpt, Problem, names};
use crate::Error;

static LAYOUT: Layout = Layout { required: &["resource", "cost"], optional: &[] };
const RESOURCE: usize = 0;
const COST: usize = 1;

/// Costs of known resources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostsFile {
    /// The costs, by index into the resources given.
    pub costs: Costs,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

impl CostsFile {
    /// Reads costs from a path, or from standard input for `-`.
    pub fn open(path: &Path, resources: &[String]) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string(), resources)
    }

    /// Reads costs of `resources`, plain or gzip, from `input`, called `file` in messages. Costs of other
    /// resources are checked, left out, and reported in one warning.
    pub fn read(input: impl Read, file: &str, resources: &[String]) -> Result<Self, Error> {
        let mut table = Table::new(input, file, &LAYOUT)?;
        let index = names::index(resources);
        let mut costs = vec![1.0; resources.len()];
        let mut lines: HashMap<String, u64> = HashMap::new();
        let mut unknown: Option<(u64, Excerpt)> = None;
        let mut n_unknown = 0;
        while let Some(row) = table.next_row()? {
            let resource = row.id(RESOURCE)?;
            let cost = row.number(COST)?;
            if !cost.is_finite() || cost <= 0.0 {
                return Err(row.bad(dunlin_core::Error::BadCost(cost)));
            }
            if let Some(earlier_line) = lines.insert(resource.to_owned(), row.line) {
                let key = format!("resource {}", Excerpt::from(resource));
                return Err(row.bad(Problem::Repeated { key, earlier_line }));
            }
            if let Some(&idx) = index.get(resource) {
                costs[idx as usize] = cost;
            } else {
                unknown.get_or_insert_with(|| (row.line, resource.into()));
                n_unknown += 1;
            }
        }
        let mut warnings = table.into_warnings();
        if let Some((line, first)) = unknown {
            warnings.push(format!(
                "{file}:{line}: ignored costs of {n_unknown} unknown resources, first {first}"
            ));
        }
        Ok(Self { costs: Costs::per_source(costs)?, warnings })
    }
}
