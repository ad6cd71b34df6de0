//! A copy of a database in use has everything that was acknowledged, wherever it was at that moment.

use gate::{JobState, Store, StoreError};
use store::DatabaseCopy;

use crate::{job, spooled};

#[tokio::test]
async fn a_job_is_in_the_copy_on_its_way_through_the_spool_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let store = spooled(folder.path());
    // Some of these are taken in between the look at the spool and the look at the database.
    for number in 1..=30 {
        store.record(job(number, JobState::Succeeded)).await.unwrap();
        let copy = at(&format!("copy-{number}.db"));
        let made = DatabaseCopy::make(&at("toolgate.db"), &at("spool"), &copy, || false).unwrap();
        assert_eq!(made.counts().unwrap().jobs, number.unsigned_abs());
        drop(made);
        // Without a log or a journal beside it.
        assert!(!at(&format!("copy-{number}.db-wal")).exists());
        assert_eq!(
            DatabaseCopy::open(&copy).unwrap().counts().unwrap().jobs,
            number.unsigned_abs()
        );
    }
    let mut listed = 0;
    let copy = DatabaseCopy::open(&at("copy-30.db")).unwrap();
    copy.each_artifact(|_, _| {
        listed += 1;
        Ok::<_, StoreError>(())
    })
    .unwrap();
    assert_eq!(listed, 30 * job(1, JobState::Succeeded).artifacts.len());
}
