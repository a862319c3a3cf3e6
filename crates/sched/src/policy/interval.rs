//! Policies for needs that span several sources (CEIs): what they share, and the papers' own.

pub(crate) mod agenda;
pub(crate) mod ledger;
pub(crate) mod marginal;
pub(crate) mod ranked;
mod shelf;
pub(crate) mod update_wic;
