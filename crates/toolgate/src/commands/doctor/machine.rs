//! Checks of the machine: supervised processes, and paths that stay inside their folders.

use guard::{
    files::Resolver,
    process::{ExitReason, Launch, SandboxLevel, Spawner},
};
use tokio_util::sync::CancellationToken;

use super::DoctorFinding;
use crate::wiring::sandboxes;

/// Checks that commands can be supervised, by starting one that does nothing.
pub(super) async fn supervisor() -> DoctorFinding {
    const SUBJECT: &str = "supervisor";
    let launch = Launch::new("true", std::env::temp_dir());
    match Spawner::of_this_program().run(launch, &CancellationToken::new(), None).await {
        Ok(finished) if finished.ending == ExitReason::Exited(0) => {
            DoctorFinding::ok(SUBJECT, "commands can be started, and are cleaned up")
        }
        Ok(finished) => {
            DoctorFinding::problem(SUBJECT, format!("`true` ended with {:?}", finished.ending))
        }
        Err(error) => {
            DoctorFinding::problem(SUBJECT, format!("commands cannot be started: {error}"))
                .hint("mount `/proc`, and allow new processes")
        }
    }
}

/// Checks what keeps programs that we start from the files of Toolgate.
pub(super) fn sandbox() -> DoctorFinding {
    const SUBJECT: &str = "sandbox";
    match SandboxLevel::of_this_machine() {
        SandboxLevel::Fully => DoctorFinding::ok(
            SUBJECT,
            "upstreams and commands are kept from the files of Toolgate (Landlock), and commands \
             from the network (seccomp)",
        ),
        SandboxLevel::Partly => DoctorFinding::warning(
            SUBJECT,
            "upstreams and commands are kept from the files of Toolgate, but they can signal other \
             processes of this user",
        )
        .hint("Linux 6.12 or newer keeps them from that, too"),
        SandboxLevel::Not => DoctorFinding::warning(SUBJECT, sandboxes::NO_LANDLOCK)
            .hint(sandboxes::NO_LANDLOCK_HINT),
    }
}

/// Checks how paths are kept inside their folders.
pub(super) fn paths() -> DoctorFinding {
    const SUBJECT: &str = "paths";
    match Resolver::of_this_machine() {
        Ok(Resolver::Kernel) => {
            DoctorFinding::ok(SUBJECT, "kept inside their folders by the kernel (openat2)")
        }
        Ok(Resolver::Steps) => DoctorFinding::ok(
            SUBJECT,
            "kept inside their folders name by name: openat2 is not available",
        ),
        Err(error) => DoctorFinding::problem(SUBJECT, format!("cannot open `/`: {error}")),
    }
}
