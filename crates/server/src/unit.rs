//! The unit in which a budget was set: a user who sets 120 a minute sees 120 a minute, not 2 a second. Kept beside the budget,
//! which the engine knows in probes per second only.

use dunlin_store::Store;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The setting under which the unit is kept, with the budget it belongs to.
const SETTING: &str = "budget-unit";

/// A unit of time for budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Per second.
    Second,
    /// Per minute.
    Minute,
    /// Per hour.
    Hour,
    /// Per day.
    Day,
}

impl Unit {
    /// All of them, from the shortest to the longest.
    pub const ALL: [Self; 4] = [Self::Second, Self::Minute, Self::Hour, Self::Day];

    /// Its seconds.
    pub const fn seconds(self) -> f64 {
        match self {
            Self::Second => 1.0,
            Self::Minute => 60.0,
            Self::Hour => 3_600.0,
            Self::Day => 86_400.0,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredUnit {
    per_second: f64,
    unit: Unit,
}

/// Keeps the unit of a budget that has just been set.
pub fn remember(store: &dyn Store, per_second: f64, unit: Unit) -> Result<(), Error> {
    let text = serde_json::to_string(&StoredUnit { per_second, unit }).unwrap_or_default();
    Ok(store.set_setting(SETTING, Some(text))?)
}

/// Forgets the unit with the budget.
pub fn forget(store: &dyn Store) -> Result<(), Error> {
    Ok(store.set_setting(SETTING, None)?)
}

/// The unit in which this budget was set, where that is known.
pub fn of(store: &dyn Store, per_second: f64) -> Result<Option<Unit>, Error> {
    let kept = store.setting(SETTING)?.and_then(|text| serde_json::from_str::<StoredUnit>(&text).ok());
    Ok(kept.filter(|kept| kept.per_second == per_second).map(|kept| kept.unit))
}
