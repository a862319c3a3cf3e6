//! Zipf's law over the first n numbers: the i-th is drawn with probability proportional to 1/i^s.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The law, ready to draw from. Numbers are counted from 0.
pub(super) struct Zipf {
    /// Mass of each number and all before it.
    cumulative: Vec<f64>,
}

impl Zipf {
    /// The law with this exponent (0 is uniform) over `n` numbers, at least 1.
    pub(super) fn new(exponent: f64, n: u32) -> Self {
        let mut total = 0.0;
        let mass = |number| f64::from(number).powf(-exponent);
        let cumulative = (1..=n).map(|number| {
            total += mass(number);
            total
        });
        Self { cumulative: cumulative.collect() }
    }

    /// `count` different numbers, in the order drawn: each is drawn by the law from those that are left.
    /// `count` must not exceed the number of numbers.
    pub(super) fn draw_distinct(&self, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let mut drawn = Vec::with_capacity(count);
        let mut ascending: Vec<usize> = Vec::with_capacity(count);
        while drawn.len() < count {
            let taken: f64 = ascending.iter().map(|&number| self.mass(number)).sum();
            let left = (self.before(self.cumulative.len()) - taken).max(0.0);
            let mut point = rng.random::<f64>() * left;
            // The numbers taken are gaps in the line of masses: step over those that lie before the point.
            for &number in &ascending {
                if self.before(number) <= point {
                    point += self.mass(number);
                }
            }
            let number = self.cumulative.partition_point(|&up_to| up_to <= point);
            let number = self.free_near(number, &ascending);
            drawn.push(number);
            ascending.insert(ascending.partition_point(|&other| other < number), number);
        }
        drawn
    }

    fn before(&self, number: usize) -> f64 {
        if number == 0 { 0.0 } else { self.cumulative[number - 1] }
    }

    fn mass(&self, number: usize) -> f64 {
        self.before(number + 1) - self.before(number)
    }

    /// The number itself; or, when rounding has led to one that is taken or to the end, a free neighbour.
    fn free_near(&self, number: usize, taken: &[usize]) -> usize {
        let free = |number: &usize| taken.binary_search(number).is_err();
        let above = (number..self.cumulative.len()).find(free);
        above.or_else(|| (0..self.cumulative.len()).rev().find(free)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Purpose, stream};

    fn shares(law: &Zipf, n: usize) -> Vec<f64> {
        let mut rng = stream(7, Purpose::Profiles, 0);
        let mut shares = vec![0.0; n];
        for _ in 0..20_000 {
            shares[law.draw_distinct(1, &mut rng)[0]] += 1.0 / 20_000.0;
        }
        shares
    }

    #[test]
    fn shares_follow_the_law() {
        for share in shares(&Zipf::new(0.0, 4), 4) {
            assert!((share - 0.25).abs() < 0.01, "{share}");
        }
        // 1, 1/2, 1/3 and their sum 11/6.
        for (share, expected) in shares(&Zipf::new(1.0, 3), 3).iter().zip([6.0, 3.0, 2.0]) {
            assert!((share - expected / 11.0).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn second_draws_follow_the_law_of_what_is_left() {
        let law = Zipf::new(1.0, 3);
        let mut rng = stream(8, Purpose::Profiles, 0);
        let pairs: Vec<_> = (0..20_000).map(|_| law.draw_distinct(2, &mut rng)).collect();
        let share = |pair: [usize; 2]| pairs.iter().filter(|other| **other == pair).count() as f64 / 20_000.0;
        // First 0 with 6/11, then 1 with 3/5; first 2 with 2/11, then 0 with 6/9.
        assert!((share([0, 1]) - 18.0 / 55.0).abs() < 0.01);
        assert!((share([2, 0]) - 12.0 / 99.0).abs() < 0.01);
    }

    #[test]
    fn all_numbers_can_be_drawn_even_those_of_no_weight() {
        for exponent in [0.0, 1.0, 2.0, 10.0] {
            let mut drawn = Zipf::new(exponent, 300).draw_distinct(300, &mut stream(1, Purpose::Profiles, 0));
            drawn.sort_unstable();
            assert!(drawn.into_iter().eq(0..300));
        }
    }
}
