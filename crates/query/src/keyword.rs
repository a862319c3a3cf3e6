//! The words of the language. They are no names, however they are written: `select` is `SELECT`.

macro_rules! keywords {
    ($($variant:ident $text:literal)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Keyword { $($variant),* }

        impl Keyword {
            const ALL: &[Self] = &[$(Self::$variant),*];

            pub(crate) const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

keywords! {
    Query "QUERY" All "ALL" Any "ANY" Of "OF" Select "SELECT" As "AS" From "FROM" Pick "PICK"
    Every "EVERY" At "AT" In "IN" On "ON" Change "CHANGE" When "WHEN" Within "WITHIN" Overwritten "OVERWRITTEN"
    Watch "WATCH" Importance "IMPORTANCE" Where "WHERE" Weight "WEIGHT" Until "UNTIL" For "FOR"
    Or "OR" And "AND" Not "NOT" Contains "CONTAINS" Matches "MATCHES"
    Rises "RISES" Drops "DROPS" Moves "MOVES" By "BY" Changes "CHANGES"
}

impl Keyword {
    /// The keyword that a word is.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.text().eq_ignore_ascii_case(word))
    }

    /// Whether reading can go on here after an error.
    pub(crate) const fn begins_a_clause(self) -> bool {
        matches!(
            self,
            Self::Query
                | Self::Select
                | Self::Watch
                | Self::Pick
                | Self::Every
                | Self::At
                | Self::On
                | Self::When
                | Self::Within
                | Self::Overwritten
                | Self::Where
                | Self::Weight
                | Self::Until
                | Self::For
        )
    }
}

/// What may follow inside a SELECT.
pub(crate) const SELECT_CLAUSES: &[Keyword] = &[
    Keyword::Pick,
    Keyword::Every,
    Keyword::At,
    Keyword::On,
    Keyword::When,
    Keyword::Within,
    Keyword::Overwritten,
];

/// What may follow the SELECTs of a query.
pub(crate) const OPTIONS: &[Keyword] = &[Keyword::Where, Keyword::Weight, Keyword::Until, Keyword::For];

/// What may follow an operand of a predicate.
pub(crate) const TESTS: &[Keyword] =
    &[Keyword::Contains, Keyword::Matches, Keyword::Rises, Keyword::Drops, Keyword::Moves, Keyword::Changes];
