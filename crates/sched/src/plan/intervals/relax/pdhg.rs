//! A primal–dual hybrid gradient method for programs of the form max w·x, Ax ≤ b, 0 ≤ x ≤ u.
//!
//! Weights are measured in the largest of them. Steps are scaled per row and column by the sums of coefficients; averages of the iterates are taken, and
//! the method starts again from an average when that has come much closer. It knows nothing of schedules.

use super::super::program::Program;

/// A point of the iteration, and what it proves.
#[derive(Debug, Clone)]
pub(super) struct Iterate {
    pub(super) x: Vec<f64>,
    prices: Vec<f64>,
    /// Each column's worth less the prices of the rows that it is in.
    pub(super) margins: Vec<f64>,
    /// No feasible point is worth more.
    pub(super) bound: f64,
    /// How far the point is from being feasible and optimal; 0 when it is.
    error: f64,
}

/// A sparse matrix by rows.
struct Sparse {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Sparse {
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()]
            .iter()
            .map(|&column| column as usize)
            .zip(self.values[range].iter().copied())
    }

    fn times(&self, row: usize, vector: &[f64]) -> f64 {
        self.row(row).map(|(column, value)| value * vector[column]).sum()
    }

    fn transposed(&self, n_columns: usize) -> Self {
        let mut starts = vec![0; n_columns + 1];
        for &column in &self.columns {
            starts[column as usize + 1] += 1;
        }
        for column in 0..n_columns {
            starts[column + 1] += starts[column];
        }
        let mut place = starts.clone();
        let (mut columns, mut values) = (vec![0; self.columns.len()], vec![0.0; self.columns.len()]);
        for row in 0..self.starts.len() - 1 {
            for (column, value) in self.row(row) {
                columns[place[column]] = u32::try_from(row).unwrap_or(u32::MAX);
                values[place[column]] = value;
                place[column] += 1;
            }
        }
        Self { starts, columns, values }
    }
}

/// The method and where it stands.
pub(super) struct Pdhg<'a> {
    program: &'a Program,
    /// The largest weight, and all of them in its terms.
    unit: f64,
    weights: Vec<f64>,
    rows: Sparse,
    by_column: Sparse,
    limits: Vec<f64>,
    x_steps: Vec<f64>,
    price_steps: Vec<f64>,
    /// How much longer the steps in prices are than those in x.
    balance: f64,
    x: Vec<f64>,
    prices: Vec<f64>,
    extrapolated: Vec<f64>,
    x_sum: Vec<f64>,
    price_sum: Vec<f64>,
    since_restart: u32,
    iterations: u32,
    restarted_at: (Vec<f64>, Vec<f64>),
    error_at_restart: f64,
    last_error: f64,
    candidates: Vec<Iterate>,
}

impl<'a> Pdhg<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let n_columns = program.weights().len();
        let mut rows = Sparse { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in program.rows() {
            rows.columns.extend_from_slice(row.columns);
            rows.values.extend_from_slice(row.coefficients);
            rows.starts.push(rows.columns.len());
        }
        let by_column = rows.transposed(n_columns);
        let steps = |matrix: &Sparse| -> Vec<f64> {
            let total = |row| matrix.row(row).map(|(_, value)| value.abs()).sum::<f64>();
            (0..matrix.starts.len() - 1).map(|row| 1.0 / total(row).max(1e-12)).collect()
        };
        let n_rows = program.n_rows();
        let unit = program.weights().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Self {
            program,
            unit,
            weights: program.weights().iter().map(|weight| weight / unit).collect(),
            limits: program.rows().map(|row| row.at_most).collect(),
            x_steps: steps(&by_column),
            price_steps: steps(&rows),
            rows,
            by_column,
            balance: 1.0,
            x: vec![0.0; n_columns],
            prices: vec![0.0; n_rows],
            extrapolated: vec![0.0; n_columns],
            x_sum: vec![0.0; n_columns],
            price_sum: vec![0.0; n_rows],
            since_restart: 0,
            iterations: 0,
            restarted_at: (vec![0.0; n_columns], vec![0.0; n_rows]),
            error_at_restart: f64::INFINITY,
            last_error: f64::INFINITY,
            candidates: Vec::new(),
        }
    }

    pub(super) const fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Takes so many steps, and checks where they lead.
    pub(super) fn advance(&mut self, steps: u32) {
        for _ in 0..steps {
            self.step();
        }
        self.iterations += steps;
        let share = 1.0 / f64::from(self.since_restart);
        let average = |sum: &[f64]| sum.iter().map(|value| value * share).collect::<Vec<_>>();
        self.candidates = vec![
            self.examine(average(&self.x_sum), average(&self.price_sum)),
            self.examine(self.x.clone(), self.prices.clone()),
        ];
    }

    /// The average since the last restart, and the present point.
    pub(super) fn candidates(&self) -> &[Iterate] {
        &self.candidates
    }

    fn step(&mut self) {
        let (weights, most) = (&self.weights, self.program.most());
        for (column, x) in self.x.iter_mut().enumerate() {
            let margin = weights[column] - self.by_column.times(column, &self.prices);
            let next = (*x + margin * self.x_steps[column] / self.balance).clamp(0.0, most[column]);
            self.extrapolated[column] = 2.0 * next - *x;
            self.x_sum[column] += next;
            *x = next;
        }
        for (row, price) in self.prices.iter_mut().enumerate() {
            let excess = self.rows.times(row, &self.extrapolated) - self.limits[row];
            *price = (*price + excess * self.price_steps[row] * self.balance).max(0.0);
            self.price_sum[row] += *price;
        }
        self.since_restart += 1;
    }

    fn examine(&self, x: Vec<f64>, prices: Vec<f64>) -> Iterate {
        let (weights, most) = (&self.weights, self.program.most());
        let mut margins: Vec<f64> =
            (0..x.len()).map(|column| weights[column] - self.by_column.times(column, &prices)).collect();
        let paid: f64 = prices.iter().zip(&self.limits).map(|(price, limit)| price * limit).sum();
        let bound = paid + margins.iter().zip(most).map(|(margin, most)| margin.max(0.0) * most).sum::<f64>();
        let worth: f64 = x.iter().zip(weights).map(|(x, weight)| x * weight).sum();
        let excess = |row: usize| (self.rows.times(row, &x) - self.limits[row]).max(0.0);
        let infeasible = (0..prices.len()).map(|row| excess(row).powi(2)).sum::<f64>().sqrt();
        let scale = self.limits.iter().map(|limit| limit * limit).sum::<f64>().sqrt();
        let error = (bound - worth).abs() / (1.0 + bound.abs() + worth.abs()) + infeasible / (1.0 + scale);
        margins.iter_mut().for_each(|margin| *margin *= self.unit);
        Iterate { x, prices, margins, bound: bound * self.unit, error }
    }

    /// Starts again from the better candidate when it has come far enough.
    pub(super) fn restart_if_due(&mut self) {
        let Some(best) = self.candidates.iter().min_by(|a, b| a.error.total_cmp(&b.error)).cloned() else {
            return;
        };
        let has_come_far = best.error <= 0.2 * self.error_at_restart;
        let has_stalled = best.error <= 0.8 * self.error_at_restart && best.error > self.last_error;
        let is_long = f64::from(self.since_restart) >= 0.36 * f64::from(self.iterations);
        self.last_error = best.error;
        if !(has_come_far || has_stalled || is_long) {
            return;
        }
        let distance = |a: &[f64], b: &[f64], steps: &[f64]| {
            a.iter().zip(b).zip(steps).map(|((a, b), step)| (a - b).powi(2) / step).sum::<f64>().sqrt()
        };
        let x_moved = distance(&best.x, &self.restarted_at.0, &self.x_steps);
        let prices_moved = distance(&best.prices, &self.restarted_at.1, &self.price_steps);
        if x_moved > 1e-10 && prices_moved > 1e-10 {
            self.balance = (prices_moved / x_moved * self.balance).sqrt();
        }
        self.x.copy_from_slice(&best.x);
        self.prices.copy_from_slice(&best.prices);
        self.x_sum.fill(0.0);
        self.price_sum.fill(0.0);
        self.since_restart = 0;
        self.error_at_restart = best.error;
        self.last_error = best.error;
        self.restarted_at = (best.x, best.prices);
    }
}
