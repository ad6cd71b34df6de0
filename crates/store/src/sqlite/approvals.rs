//! Approvals as rows.

use gate::{
    Approval, ApprovalId, ApprovalState, JobId, Timestamp,
    approvals::{
        ApprovalDecision, ApprovalFilter, ApprovalLookup, ApprovalMatch, ApprovalSettings,
        DecisionResult, DueApprovals, RequestedApproval,
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::{jobs::read_queued, unreadable};

const COLUMNS: &str = "id, state, tool, caller, door, request_id, job, input_sha256, input,
    preview, created_at, expires_at, decided_at, decided_by, reason";

/// In the words of the index of those that are open, so that it is used.
const WAITING: &str = "state IN ('waiting', 'approved') AND state = 'waiting'";

/// The largest arguments and the largest preview that stand in a list, in
/// bytes each. What is larger is read one by one.
const MAX_LISTED_BYTES: usize = 16_384;

/// The condition for approvals of jobs that are over.
const ORPHANED: &str = "state IN ('waiting', 'approved') AND job IS NOT NULL
    AND job NOT IN (SELECT id FROM jobs WHERE state = 'queued' OR state = 'running'
        OR state = 'waiting_approval' OR state = 'waiting_input')";

/// The number of jobs that are woken at a time.
const MAX_DUE: i64 = 1_000;

pub(super) fn use_one(
    connection: &Connection,
    lookup: &ApprovalLookup,
    at: Timestamp,
) -> rusqlite::Result<ApprovalMatch> {
    let named = match &lookup.named {
        None => None,
        // Of somebody else's approval nobody learns more than of one that is not there.
        Some(id) => find(connection, id, at)?.filter(|one| one.caller == lookup.caller),
    };
    if let Some(approval) = &named {
        if !approval.is_for(lookup) {
            if approval.is_open() && cancel(connection, &approval.id)? {
                let state = ApprovalState::Cancelled;
                return Ok(ApprovalMatch::Changed(Approval { state, ..approval.clone() }));
            }
        } else if is_good(approval, at) {
            return take(connection, approval.clone(), at);
        }
    }
    // A name that is good for nothing does not hide what there is for the call itself.
    match for_call(connection, lookup, "'approved', 'refused', 'waiting'", at)? {
        Some(approval) => take(connection, approval, at),
        None => Ok(ApprovalMatch::Nothing(named)),
    }
}

/// True if an approval still says something. The no to a job is how that job ends, whenever.
fn is_good(approval: &Approval, at: Timestamp) -> bool {
    match approval.state {
        ApprovalState::Approved | ApprovalState::Waiting => true,
        ApprovalState::Refused => approval.job_id.is_some() || approval.expires_at > at,
        ApprovalState::Used | ApprovalState::Expired | ApprovalState::Cancelled => false,
    }
}

fn take(
    connection: &Connection,
    approval: Approval,
    at: Timestamp,
) -> rusqlite::Result<ApprovalMatch> {
    Ok(match approval.state {
        ApprovalState::Refused => ApprovalMatch::Refused(approval),
        ApprovalState::Approved => {
            // The state is part of the condition: of two who come at once one changes the row.
            let used = connection
                .prepare_cached(
                    "UPDATE approvals SET state = 'used'
                     WHERE id = ?1 AND state = 'approved' AND expires_at > ?2",
                )?
                .execute(params![approval.id.as_str(), at.0])?;
            let state = ApprovalState::Used;
            let approval = Approval { state, ..approval };
            if used == 1 {
                ApprovalMatch::Used(approval)
            } else {
                ApprovalMatch::Nothing(Some(approval))
            }
        }
        _ => ApprovalMatch::Waiting(approval),
    })
}

/// The approval in one of these states for a call that names none: the latest decision
/// first, and a request that waits last.
fn for_call(
    connection: &Connection,
    lookup: &ApprovalLookup,
    states: &'static str,
    at: Timestamp,
) -> rusqlite::Result<Option<Approval>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM approvals
             WHERE caller = ?1 AND tool = ?2 AND input_sha256 = ?3 AND job IS ?4
                 AND expires_at > ?5 AND state IN ({states})
             ORDER BY state = 'waiting', decided_at DESC, id DESC LIMIT 1"
        ))?
        .query_row(
            params![
                lookup.caller,
                lookup.tool,
                lookup.input_sha256,
                lookup.job_id.as_ref().map(JobId::as_str),
                at.0
            ],
            read,
        )
        .optional()
}

pub(super) fn request(
    connection: &Connection,
    approval: &Approval,
    settings: ApprovalSettings,
) -> rusqlite::Result<RequestedApproval> {
    let lookup = ApprovalLookup {
        caller: approval.caller.clone(),
        tool: approval.tool.clone(),
        input_sha256: approval.input_sha256.clone(),
        job_id: approval.job_id.clone(),
        named: None,
    };
    // Nobody is asked twice about the same call, and a no stands for as long as it is good.
    let known = for_call(connection, &lookup, "'refused', 'waiting'", approval.created_at)?;
    if let Some(known) = known {
        return Ok(RequestedApproval::Known(Box::new(known)));
    }
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let (waiting, of_caller) = connection
        .prepare_cached(&format!(
            "SELECT count(*), count(*) FILTER (WHERE caller = ?2) FROM approvals
             WHERE {WAITING} AND expires_at > ?1"
        ))?
        .query_row(params![approval.created_at.0, approval.caller], |row| {
            Ok((count(row.get(0)?), count(row.get(1)?)))
        })?;
    if waiting >= settings.max_waiting {
        return Ok(RequestedApproval::Full);
    }
    if of_caller >= settings.max_waiting_of_caller {
        return Ok(RequestedApproval::FullForCaller);
    }
    connection
        .prepare_cached(&format!(
            "INSERT INTO approvals ({COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
        ))?
        .execute(params![
            approval.id.as_str(),
            approval.state.word(),
            approval.tool,
            approval.caller,
            approval.door,
            approval.request_id,
            approval.job_id.as_ref().map(JobId::as_str),
            approval.input_sha256,
            approval.input.as_deref().map(RawValue::get),
            approval.preview,
            approval.created_at.0,
            approval.expires_at.0,
            approval.decided_at.map(|time| time.0),
            approval.decided_by,
            approval.reason,
        ])?;
    Ok(RequestedApproval::New)
}

pub(super) fn decide(
    connection: &Connection,
    id: &ApprovalId,
    decision: &ApprovalDecision,
    at: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<DecisionResult> {
    let state = if decision.approve { ApprovalState::Approved } else { ApprovalState::Refused };
    let changed = connection
        .prepare_cached(
            "UPDATE approvals SET state = ?2, decided_at = ?3, decided_by = ?4, reason = ?5,
                 expires_at = ?6
             WHERE id = ?1 AND expires_at > ?3
                 -- A yes that was not used can be taken back, a no cannot.
                 AND (state = 'waiting' OR (?2 = 'refused' AND state = 'approved'))",
        )?
        .execute(params![id.as_str(), state.word(), at.0, decision.by, decision.reason, until.0])?;
    Ok(match find(connection, id, at)? {
        None => DecisionResult::Unknown,
        Some(approval) if changed == 1 => DecisionResult::Done(approval),
        Some(approval) => DecisionResult::TooLate(approval),
    })
}

/// Cancels an approval that is not over; whether it was.
fn cancel(connection: &Connection, id: &ApprovalId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "UPDATE approvals SET state = 'cancelled', input = NULL, preview = NULL
             WHERE id = ?1 AND job IS NULL AND state IN ('waiting', 'approved')",
        )?
        .execute([id.as_str()])
        .map(|changed| changed == 1)
}

/// Cancels what a job waits for.
pub(super) fn cancel_of_job(
    connection: &Connection,
    job: &JobId,
) -> rusqlite::Result<Vec<Approval>> {
    connection
        .prepare_cached(&format!(
            "UPDATE approvals SET state = 'cancelled', input = NULL, preview = NULL
             WHERE job = ?1 AND state IN ('waiting', 'approved') RETURNING {COLUMNS}"
        ))?
        .query_map([job.as_str()], read)?
        .collect()
}

/// Cancels what belongs to jobs that are over, so that nobody is asked about them.
pub(super) fn cancel_orphaned(connection: &Connection) -> rusqlite::Result<Vec<Approval>> {
    connection
        .prepare_cached(&format!(
            "UPDATE approvals SET state = 'cancelled', input = NULL, preview = NULL
             WHERE {ORPHANED} RETURNING {COLUMNS}"
        ))?
        .query_map([], read)?
        .collect()
}

pub(super) fn find(
    connection: &Connection,
    id: &ApprovalId,
    at: Timestamp,
) -> rusqlite::Result<Option<Approval>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1"))?
        .query_row([id.as_str()], read)
        .optional()
        .map(|found| found.map(|approval| approval.at(at)))
}

pub(super) fn list(
    connection: &Connection,
    filter: &ApprovalFilter,
    at: Timestamp,
) -> rusqlite::Result<Vec<Approval>> {
    let (beyond, order) = if filter.oldest_first { (">", "ASC") } else { ("<", "DESC") };
    // What is over and not yet written down as that is listed as what it is.
    let standing = match filter.state {
        Some(ApprovalState::Waiting) => format!("({WAITING} AND expires_at > ?1 AND ?3 = ?3)"),
        _ => "(?3 IS NULL OR ?3 = CASE WHEN state IN ('waiting', 'approved')
                 AND expires_at <= ?1 THEN 'expired' ELSE state END)"
            .to_owned(),
    };
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM (
                 SELECT id, state, tool, caller, door, request_id, job, input_sha256,
                     CASE WHEN octet_length(input) <= {MAX_LISTED_BYTES} THEN input END AS input,
                     CASE WHEN octet_length(preview) <= {MAX_LISTED_BYTES} THEN preview END
                         AS preview,
                     created_at, expires_at, decided_at, decided_by, reason FROM approvals
                 WHERE {standing} AND (?2 IS NULL OR id {beyond} ?2))
             ORDER BY id {order} LIMIT ?4"
        ))?
        .query_map(
            params![
                at.0,
                filter.cursor.as_ref().map(ApprovalId::as_str),
                filter.state.map(ApprovalState::word),
                i64::try_from(filter.limit).unwrap_or(i64::MAX),
            ],
            |row| read(row).map(|approval| approval.at(at)),
        )?
        .collect()
}

pub(super) fn due(connection: &Connection, at: Timestamp) -> rusqlite::Result<DueApprovals> {
    let overdue = connection
        .prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM approvals
                 WHERE state IN ('waiting', 'approved') AND expires_at <= ?1)
             OR EXISTS (SELECT 1 FROM approvals WHERE {ORPHANED})"
        ))?
        .query_row([at.0], |row| row.get(0))?;
    let jobs = connection
        .prepare_cached(
            "SELECT jobs.id, jobs.caller FROM jobs LEFT JOIN approvals ON approvals.id = jobs.approval
             WHERE jobs.state = 'waiting_approval'
                 AND (approvals.id IS NULL OR approvals.state <> 'waiting'
                     OR approvals.expires_at <= ?1)
             ORDER BY jobs.id LIMIT ?2",
        )?
        .query_map(params![at.0, MAX_DUE], read_queued)?
        .filter_map(Result::transpose)
        .collect::<rusqlite::Result<_>>()?;
    Ok(DueApprovals { overdue, jobs })
}

/// Writes down what is over: nobody decided or called in time, or its job has ended.
pub(super) fn expire(connection: &Connection, at: Timestamp) -> rusqlite::Result<Vec<Approval>> {
    let mut over = cancel_orphaned(connection)?;
    let expired = connection
        .prepare_cached(&format!(
            "UPDATE approvals SET state = 'expired', input = NULL, preview = NULL
             WHERE state IN ('waiting', 'approved') AND expires_at <= ?1 RETURNING {COLUMNS}"
        ))?
        .query_map([at.0], read)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    over.extend(expired);
    Ok(over)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
    let job: Option<String> = row.get(6)?;
    let input: Option<String> = row.get(8)?;
    Ok(Approval {
        id: ApprovalId::parse(&id).ok_or_else(|| unreadable(0, "name of an approval"))?,
        state: ApprovalState::parse(&state).ok_or_else(|| unreadable(1, "state"))?,
        tool: row.get(2)?,
        caller: row.get(3)?,
        door: row.get(4)?,
        request_id: row.get(5)?,
        job_id: job.and_then(|id| JobId::parse(&id)),
        input_sha256: row.get(7)?,
        input: input.and_then(|text| RawValue::from_string(text).ok()),
        preview: row.get(9)?,
        created_at: Timestamp(row.get(10)?),
        expires_at: Timestamp(row.get(11)?),
        decided_at: row.get::<_, Option<i64>>(12)?.map(Timestamp),
        decided_by: row.get(13)?,
        reason: row.get(14)?,
    })
}
