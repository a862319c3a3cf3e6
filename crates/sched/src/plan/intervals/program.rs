//! The integer program of a grid: its optimum is the best schedule, its linear relaxation a bound on all.
//!
//! One column per covered pair (probed or not), one per CEI (captured or not), and auxiliary ones where
//! several CEIs share a span or a CEI needs only some of its spans. Every row says that a sum is at most a
//! number, and every column lies between 0 and a finite bound, so that any prices of the rows give a valid
//! bound. Only the pairs have to be whole: given those, whatever captures most is whole by itself.

use std::collections::BTreeMap;
use std::ops::Range;

use super::capacity::Capacity;
use super::grid::{BlockSpan, Grid, Pair};
use super::pairs::Pairs;

/// One row: coefficients of columns, and what their sum may not exceed.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Columns of the coefficients.
    pub columns: &'a [u32],
    /// The coefficients.
    pub coefficients: &'a [f64],
    /// The limit.
    pub at_most: f64,
}

/// Maximise `weights · x` subject to the rows and to 0 ≤ x ≤ `most`.
#[derive(Debug, Clone)]
pub struct Program {
    weights: Vec<f64>,
    most: Vec<f64>,
    columns: Vec<u32>,
    coefficients: Vec<f64>,
    row_starts: Vec<usize>,
    limits: Vec<f64>,
    pairs: Vec<Pair>,
    pub(super) ceis: Range<usize>,
    /// Rows that say what pairs may cost.
    budget_rows: Range<usize>,
    /// For each chronon whose fractions can be saved, the row of what is spent and the row of what is saved.
    savings: Vec<(usize, usize)>,
}

impl Program {
    /// The program of a grid.
    pub fn new(grid: &Grid) -> Self {
        let pairs = Pairs::new(grid);
        let mut program = Self {
            weights: Vec::new(),
            most: Vec::new(),
            columns: Vec::new(),
            coefficients: Vec::new(),
            row_starts: vec![0],
            limits: Vec::new(),
            pairs: pairs.iter().collect(),
            ceis: 0..0,
            budget_rows: 0..0,
            savings: Vec::new(),
        };
        for pair in pairs.iter() {
            program.column(0.0, if grid.allows(pair.source, pair.block) { 1.0 } else { 0.0 });
        }
        program.ceis = pairs.len()..pairs.len() + grid.ceis.len();
        for cei in &grid.ceis {
            program.column(cei.weight, 1.0);
        }
        program.link_wants(grid, &pairs);
        program.limit_spending(grid, &pairs);
        program
    }

    /// A CEI is captured only if its spans are.
    fn link_wants(&mut self, grid: &Grid, pairs: &Pairs) {
        let mut users: BTreeMap<BlockSpan, (u32, Option<u32>)> = BTreeMap::new();
        for span in &grid.spans {
            users.entry(*span).or_default().0 += 1;
        }
        for (i, cei) in grid.ceis.iter().enumerate() {
            let captured = u32::try_from(self.ceis.start + i).unwrap_or(u32::MAX);
            let spans = grid.spans_of(i);
            if cei.need as usize == spans.len() {
                for span in spans {
                    self.link(captured, span, &mut users, pairs);
                }
                continue;
            }
            // Which spans count for the CEI. None counts for more than the whole CEI does: without that
            // row, the relaxation would be weaker.
            let counted: Vec<u32> = spans.iter().map(|_| self.column(0.0, 1.0)).collect();
            for (&counts, span) in counted.iter().zip(spans) {
                self.link(counts, span, &mut users, pairs);
                self.row(&[counts, captured], &[1.0, -1.0], 0.0);
            }
            let (mut columns, mut coefficients) = (counted.clone(), vec![-1.0; counted.len()]);
            columns.push(captured);
            coefficients.push(f64::from(cei.need));
            self.row(&columns, &coefficients, 0.0);
        }
    }

    /// `column` is at most what is probed under the span; through one auxiliary column if others ask too.
    fn link(
        &mut self,
        column: u32,
        span: &BlockSpan,
        users: &mut BTreeMap<BlockSpan, (u32, Option<u32>)>,
        pairs: &Pairs,
    ) {
        let Some((n_users, shared)) = users.get_mut(span) else { return };
        if *n_users == 1 || span.len() == 1 {
            return self.at_most_probed(column, pairs.under(span));
        }
        let is_new = shared.is_none();
        let shared = *shared.get_or_insert_with(|| self.column(0.0, 1.0));
        if is_new {
            self.at_most_probed(shared, pairs.under(span));
        }
        self.row(&[column, shared], &[1.0, -1.0], 0.0);
    }

    fn at_most_probed(&mut self, column: u32, pairs: Range<usize>) {
        let (mut columns, mut coefficients) = (vec![column], vec![1.0]);
        columns.extend(pairs.map(|pair| u32::try_from(pair).unwrap_or(u32::MAX)));
        coefficients.resize(columns.len(), -1.0);
        self.row(&columns, &coefficients, 0.0);
    }

    /// What each block may spend. Where fractions are saved, a column says how much is taken from the
    /// savings in a chronon and another how much is left of them; keeping less than one could is allowed,
    /// and never helps.
    fn limit_spending(&mut self, grid: &Grid, pairs: &Pairs) {
        let first = self.limits.len();
        let mut saved_before = None;
        for block in 0..u32::try_from(grid.n_blocks()).unwrap_or(u32::MAX) {
            let (mut columns, mut costs) = (Vec::new(), Vec::new());
            for pair in pairs.in_block(block) {
                columns.push(u32::try_from(pair).unwrap_or(u32::MAX));
                costs.push(grid.cost(pairs.get(pair).source));
            }
            match &grid.capacity {
                Capacity::Whole(grants) => {
                    let grant = grants[block as usize];
                    if costs.iter().sum::<f64>() > grant {
                        self.row(&columns, &costs, grant);
                    }
                }
                Capacity::Saving(grants) => {
                    let grant = grants[block as usize];
                    let (taken, saved) = (self.column(0.0, grant.most), self.column(0.0, 1.0));
                    if !columns.is_empty() {
                        self.row(&columns, &costs, grant.most);
                    }
                    columns.push(taken);
                    costs.push(-1.0);
                    self.row(&columns, &costs, grant.whole);
                    match saved_before {
                        None => self.row(&[taken, saved], &[1.0, 1.0], grant.part),
                        Some(before) => self.row(&[taken, saved, before], &[1.0, 1.0, -1.0], grant.part),
                    }
                    self.savings.push((self.limits.len() - 2, self.limits.len() - 1));
                    saved_before = Some(saved);
                }
            }
        }
        self.budget_rows = first..self.limits.len();
    }

    fn column(&mut self, weight: f64, most: f64) -> u32 {
        self.weights.push(weight);
        self.most.push(most);
        u32::try_from(self.weights.len() - 1).unwrap_or(u32::MAX)
    }

    fn row(&mut self, columns: &[u32], coefficients: &[f64], at_most: f64) {
        self.columns.extend_from_slice(columns);
        self.coefficients.extend_from_slice(coefficients);
        self.row_starts.push(self.columns.len());
        self.limits.push(at_most);
    }

    /// The columns of a plan that probes these pairs, which must keep to the budget: all that they capture.
    pub fn values(&self, probed: &[Pair]) -> Vec<f64> {
        let mut values = self.most.clone();
        values[..self.pairs.len()].fill(0.0);
        let place = |pair: &Pair| {
            self.pairs.binary_search_by_key(&(pair.source, pair.block), |p| (p.source, p.block))
        };
        for at in probed.iter().filter_map(|pair| place(pair).ok()) {
            values[at] = 1.0;
        }
        self.lower_to_links(&mut values);
        self.settle_savings(&mut values);
        values
    }

    /// Lowers columns to what the rows before the budget's allow, until all of those hold.
    fn lower_to_links(&self, values: &mut [f64]) {
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for row in (0..self.budget_rows.start).map(|row| self.row_at(row)) {
                let terms = || row.columns.iter().zip(row.coefficients);
                let allowed =
                    -terms().filter(|(_, c)| **c < 0.0).map(|(x, c)| c * values[*x as usize]).sum::<f64>();
                for (&column, &coefficient) in terms().filter(|(_, c)| **c > 0.0) {
                    let most = (allowed / coefficient).floor();
                    if values[column as usize] > most {
                        values[column as usize] = most;
                        has_changed = true;
                    }
                }
            }
        }
    }

    /// Takes from savings what the pairs need, as the meter does.
    fn settle_savings(&self, values: &mut [f64]) {
        for &(spending, saving) in &self.savings {
            let row = self.row_at(spending);
            let (&taken, rest) = row.columns.split_last().unwrap_or((&0, &[]));
            let spent: f64 = rest.iter().zip(row.coefficients).map(|(&x, c)| values[x as usize] * c).sum();
            values[taken as usize] = (spent - row.at_most).max(0.0);
            let row = self.row_at(saving);
            let before = row.columns.get(2).map_or(0.0, |&before| values[before as usize]);
            values[row.columns[1] as usize] = (before + row.at_most - values[taken as usize]).clamp(0.0, 1.0);
        }
    }

    /// The pairs that a solution probes.
    pub fn probed(&self, values: &[f64]) -> Vec<Pair> {
        self.pairs.iter().zip(values).filter(|(_, value)| **value > 0.5).map(|(pair, _)| *pair).collect()
    }

    /// What each column is worth.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The largest value of each column; the smallest is 0.
    pub fn most(&self) -> &[f64] {
        &self.most
    }

    /// Whether a column has to be whole. Wants are by themselves, once the pairs are; saying so helps a solver.
    pub fn is_whole(&self, column: usize) -> bool {
        column < self.ceis.end
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.limits.len()
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_at(&self, row: usize) -> Row<'_> {
        let range = self.row_starts[row]..self.row_starts[row + 1];
        Row {
            columns: &self.columns[range.clone()],
            coefficients: &self.coefficients[range],
            at_most: self.limits[row],
        }
    }

    /// Every row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.n_rows()).map(|row| self.row_at(row))
    }
}
