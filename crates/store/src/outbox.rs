//! Messages on their way out. A message is taken under a lease, and only an acknowledgement removes it: a
//! deliverer that dies loses the lease, not the message.

use std::time::Duration;

use dunlin_core::Time;

use crate::{Cursor, MessageId, SourceId};

/// A message taken for delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What to hand back when the attempt is over.
    pub receipt: Receipt,
    /// To be sent along, so that the receiver can recognise a repetition.
    pub key: String,
    /// The destination.
    pub destination: String,
    /// The source it is about; `None` if it was removed in the meantime.
    pub source: Option<SourceId>,
    /// The change it is about.
    pub cursor: Option<Cursor>,
    /// What to send.
    pub payload: Vec<u8>,
    /// When it was queued.
    pub queued: Time,
    /// What went wrong at the attempt before this one; empty at the first.
    pub last_error: String,
}

/// One attempt at one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The message.
    pub message: MessageId,
    /// Which attempt it is, from 1.
    pub attempt: u32,
}

/// A wish for messages to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The time it is.
    pub now: Time,
    /// For how long no other caller gets them.
    pub length: Duration,
    /// Only those to this destination.
    pub destination: Option<String>,
    /// At most this many.
    pub limit: u32,
}
