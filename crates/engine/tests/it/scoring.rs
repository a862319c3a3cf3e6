//! How well what was told of a page fits what is known of it: the rules of the reference set's own `score.py`. Tells nothing itself.

/// Steps at the beginning of each case that do not count: a monitor may learn the page.
const SKIPPED: usize = 8;
/// What counts of each summary, and of each step.
const MAX_SUMMARY: usize = 300;
const MAX_CHANGES: usize = 10;

/// The strings that a summary has to mention: of each list, one.
pub(crate) type MustMention = Vec<Vec<String>>;

/// What is known of one step, and the summaries that were told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    pub(crate) truth: Vec<MustMention>,
    pub(crate) told: Vec<String>,
}

/// Counts over steps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Score {
    steps: usize,
    true_steps: usize,
    true_changes: usize,
    told: usize,
    mentioned: usize,
    false_alarms: usize,
}

impl Score {
    /// The score of a case; what is told with the right words one step late counts.
    pub(crate) fn of(steps: &[Step]) -> Self {
        let steps: Vec<Step> = steps.iter().skip(SKIPPED).map(Step::cut).collect();
        let mut score = Self::default();
        let mut is_excused = vec![false; steps.len() + 1];
        let mentions = |step: &Step, truth: &MustMention| step.told.iter().any(|told| mentions(truth, told));
        for (index, step) in steps.iter().enumerate() {
            score.steps += 1;
            score.true_steps += usize::from(!step.truth.is_empty());
            score.true_changes += step.truth.len();
            for truth in &step.truth {
                let here = mentions(step, truth);
                let is_late = !here && steps.get(index + 1).is_some_and(|next| mentions(next, truth));
                is_excused[index + 1] |= is_late;
                score.told += usize::from(!step.told.is_empty() || is_late);
                score.mentioned += usize::from(here || is_late);
            }
        }
        let is_false =
            |(step, excused): &(&Step, &bool)| !step.told.is_empty() && step.truth.is_empty() && !**excused;
        score.false_alarms = steps.iter().zip(&is_excused).filter(is_false).count();
        score
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.true_steps += other.true_steps;
        self.true_changes += other.true_changes;
        self.told += other.told;
        self.mentioned += other.mentioned;
        self.false_alarms += other.false_alarms;
    }

    /// True changes in steps in which something was told.
    pub(crate) fn recall(&self) -> f64 {
        share(self.told, self.true_changes)
    }

    /// Steps without truth in which something was told.
    pub(crate) fn false_alarms(&self) -> f64 {
        share(self.false_alarms, self.steps - self.true_steps)
    }

    /// True changes that one summary mentions.
    pub(crate) fn summaries(&self) -> f64 {
        share(self.mentioned, self.true_changes)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

impl Step {
    fn cut(&self) -> Self {
        let told = self.told.iter().take(MAX_CHANGES);
        let told = told.map(|told| normal(&told.chars().take(MAX_SUMMARY).collect::<String>()));
        Self { truth: self.truth.clone(), told: told.collect() }
    }
}

fn mentions(truth: &MustMention, told: &str) -> bool {
    truth.iter().all(|any_of| any_of.iter().any(|one| has_word(told, &normal(one))))
}

/// Without differences of case, blanks, quotes and dashes, and with letters and digits of one width.
fn normal(text: &str) -> String {
    let one = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '–' | '—' | '−' => '-',
        c => c,
    };
    let text: String = text.chars().filter(|c| !matches!(c, '\u{ad}' | '\u{200b}')).map(one).collect();
    text.replace('…', "...").to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text has a word or a number as a whole: "3" is not in "13" nor in "3,500".
fn has_word(text: &str, word: &str) -> bool {
    let is_ideographic = word.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
    let (first, last) = (word.chars().next(), word.chars().next_back());
    let is_number_beyond = |mut beyond: Box<dyn Iterator<Item = char> + '_>| {
        matches!(beyond.next(), Some('.' | ',')) && beyond.next().is_some_and(|c| c.is_ascii_digit())
    };
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let is_joined = |edge: Option<char>, beyond: Option<char>| {
            edge.is_some_and(|c| c.is_ascii_alphanumeric()) && beyond.is_some_and(char::is_alphanumeric)
        };
        let is_number = |edge: Option<char>| edge.is_some_and(|c| c.is_ascii_digit());
        let is_part = is_joined(first, before.chars().next_back())
            || is_joined(last, after.chars().next())
            || is_number(first) && is_number_beyond(Box::new(before.chars().rev()))
            || is_number(last) && is_number_beyond(Box::new(after.chars()));
        is_ideographic || !is_part
    })
}

#[test]
fn numbers_and_words_are_found_as_wholes() {
    for (text, word, is_there) in [
        ("from 3 to 4", "3", true),
        ("from 13 to 4", "3", false),
        ("3,500 in all", "3", false),
        ("supper", "up", false),
        ("set up: yes", "up", true),
        ("価格は12円", "12円", true),
    ] {
        assert_eq!(has_word(text, word), is_there, "{word} in {text}");
    }
}

#[test]
fn what_is_told_late_in_the_right_words_counts_and_is_no_false_alarm() {
    let truth: Vec<MustMention> = vec![vec![vec!["17.49".to_owned()]]];
    let step = |truth: &[MustMention], told: &[&str]| Step {
        truth: truth.to_vec(),
        told: told.iter().map(|told| (*told).to_owned()).collect(),
    };
    let mut steps = vec![Step::default(); SKIPPED];
    steps.extend([
        step(&truth, &[]),
        step(&[], &["€ 19.99 → € 17.49"]),
        step(&[], &["a clock"]),
        step(&[], &[]),
    ]);
    let score = Score::of(&steps);
    assert_eq!((score.recall(), score.summaries()), (1.0, 1.0));
    assert!((score.false_alarms() - 1.0 / 3.0).abs() < 1e-9, "{score:?}");
}
