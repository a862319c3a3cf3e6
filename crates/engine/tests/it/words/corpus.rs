//! A made-up press: sources that write about subjects in words of their own, and stories that others tell again in other words. The
//! same seed gives the same texts. What a source is about and which stories are the same is known, because it was made so.

use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Subjects, and words of each.
pub(super) const N_SUBJECTS: usize = 40;
const N_OWN_WORDS: usize = 60;
/// Words that all texts use.
const N_COMMON: usize = 3_000;

/// A source with what it says now.
pub(super) struct Document {
    /// The subject that it writes about, if it has one.
    pub(super) subject: Option<usize>,
    pub(super) text: String,
}

/// An article, as some source tells it.
pub(super) struct Article {
    /// Which story it tells.
    pub(super) story: usize,
    pub(super) is_retold: bool,
    /// In which way it is told.
    pub(super) way: &'static str,
    pub(super) title: String,
    pub(super) text: String,
}

pub(super) struct Press {
    random: ChaCha8Rng,
    common: Vec<String>,
    subjects: Vec<Vec<String>>,
}

impl Press {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let common = (0..N_COMMON).map(|_| word(&mut random)).collect();
        let mut own = || -> Vec<String> { (0..N_OWN_WORDS).map(|_| word(&mut random)).collect() };
        let mut subjects: Vec<Vec<String>> = (0..N_SUBJECTS).map(|_| own()).collect();
        // Neighbouring subjects share a few words, also frequent ones.
        for subject in 1..N_SUBJECTS {
            for (to, from) in [(4, 2), (9, 7), (20, 11)] {
                subjects[subject][to] = subjects[subject - 1][from].clone();
            }
        }
        Self { random, common, subjects }
    }

    /// The words by which somebody would look for a subject: frequent ones, but not the most frequent.
    pub(super) fn keywords(&self, subject: usize, n_words: usize) -> Vec<String> {
        self.subjects[subject][1..=n_words].to_vec()
    }

    /// Small numbers are more frequent, as with words (Zipf).
    #[expect(clippy::cast_sign_loss, reason = "a power of what is at least 1 is at least 1")]
    fn rank(&mut self, n: usize) -> usize {
        let share: f64 = self.random.random();
        ((n as f64 + 1.0).powf(share) - 1.0) as usize
    }

    fn sentence(&mut self, n_words: usize, subject: Option<usize>, share: f64) -> Vec<String> {
        (0..n_words)
            .map(|_| {
                if let Some(subject) = subject.filter(|_| self.random.random::<f64>() < share) {
                    let rank = self.rank(N_OWN_WORDS);
                    self.subjects[subject][rank].clone()
                } else {
                    let rank = self.rank(N_COMMON);
                    self.common[rank].clone()
                }
            })
            .collect()
    }

    /// What a source says now: several articles, most of them about its subject, some about any other.
    pub(super) fn document(&mut self) -> Document {
        let has_subject = self.random.random::<f64>() < 0.8;
        let subject = has_subject.then(|| self.random.random_range(0..N_SUBJECTS));
        let n_articles = self.random.random_range(1..=30);
        let mut words = Vec::new();
        for _ in 0..n_articles {
            let is_own = self.random.random::<f64>() < 0.7;
            let is_other = self.random.random::<f64>() < 0.1;
            let other = is_other.then(|| self.random.random_range(0..N_SUBJECTS));
            let about = if is_own { subject.or(other) } else { other };
            let n_words = self.random.random_range(15..=120);
            words.extend(self.sentence(n_words, about, 0.2));
        }
        Document { subject, text: words.join(" ") }
    }

    /// Stories with what others make of each, in the order in which they appear. A third goes on with an earlier story, and repeats
    /// some of its text.
    pub(super) fn articles(&mut self, n_stories: usize) -> Vec<Article> {
        let mut all: Vec<(f64, Article)> = Vec::new();
        let mut texts: Vec<(usize, Vec<String>)> = Vec::new();
        for story in 0..n_stories {
            let goes_on = texts.choose(&mut self.random).cloned().filter(|_| story % 3 == 2);
            let subject = goes_on.as_ref().map(|(subject, _)| *subject);
            let subject = subject.unwrap_or_else(|| self.random.random_range(0..N_SUBJECTS));
            let n_words = self.random.random_range(8..=250);
            let mut words = self.sentence(n_words, Some(subject), 0.25);
            if let Some((_, before)) = goes_on {
                let n_kept = (before.len() / 2).min(words.len() / 2);
                words.extend_from_slice(&before[..n_kept]);
            }
            let n_title = self.random.random_range(4..=9);
            let title = self.sentence(n_title, Some(subject), 0.5);
            let appears = story as f64 + self.random.random::<f64>();
            let way = if story % 3 == 2 { "new: goes on with an earlier story" } else { "new" };
            let first =
                Article { story, is_retold: false, way, title: title.join(" "), text: words.join(" ") };
            all.push((appears, first));
            let n_retold = self.random.random_range(0..=3);
            for number in 1..=n_retold {
                let later = appears + f64::from(number) * 5.0 * self.random.random::<f64>();
                all.push((later, self.retold(story, subject, &title, &words)));
            }
            texts.push((subject, words));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().map(|(_, article)| article).collect()
    }

    /// A daily report in the same words, but for its eight figures. Another source prints each as it is.
    pub(super) fn reports(&mut self, n_days: usize) -> Vec<Article> {
        let words = self.sentence(60, Some(0), 0.3);
        let mut all = Vec::new();
        for story in 0..n_days {
            let mut text = words.clone();
            for position in 0..8 {
                text.insert(position * 8, self.random.random_range(10..10_000).to_string());
            }
            let titles = [format!("Daily report of the market number {story}"), format!("Market {story}")];
            let ways =
                ["new: a daily report with other figures", "a daily report as it is, under another title"];
            for (is_retold, (title, way)) in [false, true].into_iter().zip(titles.into_iter().zip(ways)) {
                all.push(Article { story, is_retold, way, title, text: text.join(" ") });
            }
        }
        all
    }

    fn retold(&mut self, story: usize, subject: usize, title: &[String], words: &[String]) -> Article {
        let (mut title, mut words) = (title.to_vec(), words.to_vec());
        let is_short = words.len() < 16;
        let way = match if is_short { 4 } else { self.random.random_range(0..4) } {
            0 => {
                words.splice(0..0, self.sentence(4, None, 0.0));
                words.extend(self.sentence(6, None, 0.0));
                title = self.sentence(6, Some(subject), 0.5);
                "with a credit and another title"
            }
            1 => {
                self.replace_words(&mut words, 0.08);
                title = self.sentence(6, Some(subject), 0.5);
                "with other words in 8 of 100 places"
            }
            2 => {
                let paragraph = words.len() / 6;
                let at = self.random.random_range(0..=words.len() - paragraph);
                words.drain(at..at + paragraph);
                "without a paragraph"
            }
            3 => {
                words.truncate((words.len() / 2).max(16));
                "its first half, under the same title"
            }
            _ => "short, under the same title",
        };
        Article { story, is_retold: true, way, title: title.join(" "), text: words.join(" ") }
    }

    fn replace_words(&mut self, words: &mut [String], share: f64) {
        for word in words {
            if self.random.random::<f64>() < share {
                let rank = self.rank(N_COMMON);
                word.clone_from(&self.common[rank]);
            }
        }
    }
}

fn word(random: &mut ChaCha8Rng) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "ko", "ri", "te", "mu", "sal", "nor", "vi", "da", "pel", "gu", "fra", "lo", "hin", "ce", "tro",
        "ma", "wen", "zi", "bor", "que", "sta", "ju", "ny",
    ];
    let n_syllables = random.random_range(2..=4);
    (0..n_syllables).map(|_| SYLLABLES[random.random_range(0..SYLLABLES.len())]).collect()
}
