//! An entry on its way into the file.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::oneshot;

use super::LedgerError;

/// An entry that waits to be written. Dropped before it was taken to be written, it leaves none.
#[derive(Debug)]
pub struct Pending {
    acknowledged: oneshot::Receiver<Result<u64, LedgerError>>,
    decided: Arc<AtomicBool>,
}

impl Pending {
    pub(super) fn new(
        acknowledged: oneshot::Receiver<Result<u64, LedgerError>>,
        decided: Arc<AtomicBool>,
    ) -> Self {
        Self { acknowledged, decided }
    }

    /// The number of its line, counted from 1, when it is on the disk. Nothing is lost by asking
    /// again where this was dropped before it was ready.
    pub async fn acknowledged(&mut self) -> Result<u64, LedgerError> {
        match (&mut self.acknowledged).await {
            Ok(result) => result,
            Err(_) if self.decided.load(Ordering::Acquire) => Err(LedgerError::Unknown),
            Err(_) => Err(LedgerError::Stopping),
        }
    }

    /// Takes it back. False where it was already taken to be written: then it is worth waiting
    /// for, and only the disk is.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        !self.decided.swap(true, Ordering::AcqRel)
    }
}

/// The same, for the one who writes.
pub(super) struct Waiting {
    pub(super) line: String,
    pub(super) acknowledge: oneshot::Sender<Result<u64, LedgerError>>,
    /// Whether somebody has said what becomes of it: the one who writes by taking it, or its
    /// caller by withdrawing it. The first to say so is right.
    pub(super) decided: Arc<AtomicBool>,
}

impl Waiting {
    /// Whether its caller still wants it.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.acknowledge.is_closed() && !self.decided.load(Ordering::Acquire)
    }

    /// Takes it to be written. False where its caller is gone, or was quicker to withdraw it.
    pub(super) fn take(&self) -> bool {
        !self.acknowledge.is_closed() && !self.decided.swap(true, Ordering::AcqRel)
    }
}
