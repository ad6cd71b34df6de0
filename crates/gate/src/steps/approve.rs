//! Step 4: approve, where the contract asks for it.

use contract::{Approval, codes};

use super::{Crossing, Refusal, claim::Unique, input::Checked};
use crate::Failure;

/// A call that needs no approval, or has one.
pub(crate) struct Approved(Checked);

impl Approved {
    pub(super) fn into_checked(self) -> Checked {
        self.0
    }
}

impl Crossing {
    pub(crate) fn approve(&mut self, unique: Unique) -> Result<Approved, Refusal> {
        let checked = unique.into_checked();
        match checked.tool().contract.approval {
            Approval::Never => Ok(Approved(checked)),
            // There is no way yet to give one, so there is no way past this.
            Approval::Required => {
                Err(Failure::new(codes::APPROVAL_REQUIRED, "a person must approve this call first")
                    .into())
            }
        }
    }
}
