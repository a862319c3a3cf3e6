//! Policies for needs that span several sources (CEIs): what they share, and the papers' own.

mod bucketed_heap;
mod cei_ledger;
mod chronon_queue;
pub(crate) mod marginal;
pub(crate) mod ranked;
pub(crate) mod update_wic;
