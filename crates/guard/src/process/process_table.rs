//! The kernel's table of processes, read from `/proc`.

use std::sync::OnceLock;

use rustix::process::Pid;

/// One process, as it was when it was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    pub(super) session: i32,
    /// Clock ticks since boot. With the number it names a process for good: numbers are used again.
    started: u64,
    /// True if it can still run code; a zombie cannot.
    pub(super) alive: bool,
}

impl Process {
    /// The pair that tells this process from a later one with the same number.
    pub(super) fn identity(&self) -> (Pid, u64) {
        (self.pid, self.started)
    }

    /// The process that has this number now.
    pub(super) fn read(pid: Pid) -> Option<Process> {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        parse(pid, &stat)
    }
}

/// Every process that can be seen.
pub(super) fn all() -> Vec<Process> {
    numbers_in("/proc").into_iter().filter_map(Process::read).collect()
}

/// All processes below `root`, parents before children, zombies included. `root` is not among them.
pub(super) fn descendants_of(root: Pid) -> Vec<Process> {
    if kernel_lists_children() { walk(root, children_of) } else { scan(root) }
}

/// Asks each process for its children: the cost follows the size of the tree.
fn walk(root: Pid, children_of: impl Fn(Pid) -> Vec<Process>) -> Vec<Process> {
    let mut found = children_of(root);
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let children = children_of(process.pid);
        found.extend(children);
        next += 1;
    }
    found
}

/// Looks at every process of the machine: for kernels built without `CONFIG_PROC_CHILDREN`.
fn scan(root: Pid) -> Vec<Process> {
    let all = all();
    walk(root, |parent| {
        let parent = parent.as_raw_nonzero().get();
        all.iter().filter(|process| process.parent == parent).copied().collect()
    })
}

fn children_of(parent: Pid) -> Vec<Process> {
    let tasks = format!("/proc/{}/task", parent.as_raw_nonzero());
    let mut children = Vec::new();
    // Each thread has the children that it forked itself.
    for task in numbers_in(&tasks) {
        let Ok(list) =
            std::fs::read_to_string(format!("{tasks}/{}/children", task.as_raw_nonzero()))
        else {
            continue;
        };
        let pids =
            list.split_ascii_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?));
        // The number may be another's by now. One that has not this parent is not of the tree.
        children.extend(
            pids.filter_map(Process::read)
                .filter(|child| child.parent == parent.as_raw_nonzero().get()),
        );
    }
    children
}

fn kernel_lists_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| std::fs::exists("/proc/thread-self/children").unwrap_or(false))
}

fn numbers_in(folder: &str) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Reads the line of `proc_pid_stat(5)`. The second field is the program's name in parentheses, which
/// may itself hold spaces and parentheses, so that counting starts at the last one.
fn parse(pid: Pid, stat: &[u8]) -> Option<Process> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> =
        std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect();
    // The manual counts from one, and the state is its field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let threads: u32 = field(20)?.parse().ok()?;
    let ended = matches!(field(3)?, "Z" | "X" | "x");
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        // A first thread that ended shows as a zombie while the others run on.
        alive: !ended || threads > 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, state: char, threads: u32) -> String {
        format!(
            "7 ({name}) {state} 5 6 4 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 {threads} 0 12345 8 9 0"
        )
    }

    fn check(name: &str, state: char, threads: u32) -> Process {
        parse(Pid::from_raw(7).unwrap(), stat(name, state, threads).as_bytes()).unwrap()
    }

    #[test]
    fn the_name_of_a_program_does_not_shift_the_fields() {
        for name in ["sleep", "a b", ") Z 1 1 1", "((", ""] {
            let process = check(name, 'S', 1);
            assert_eq!((process.parent, process.session, process.started), (5, 4, 12345));
            assert!(process.alive);
        }
    }

    #[test]
    fn a_zombie_is_dead_unless_threads_are_left() {
        assert!(!check("x", 'Z', 1).alive);
        assert!(check("x", 'Z', 2).alive);
    }

    #[test]
    fn both_ways_to_find_descendants_agree() {
        let me = rustix::process::getpid();
        let parent = rustix::process::getppid().unwrap();
        let numbers = |found: Vec<Process>| found.iter().any(|process| process.pid == me);
        assert!(numbers(scan(parent)));
        assert!(!kernel_lists_children() || numbers(walk(parent, children_of)));
    }

    #[test]
    fn garbage_is_no_process() {
        for text in ["", "7", "7 (x", "7 (x)", "7 (x) S 1 2 3"] {
            assert!(parse(Pid::from_raw(7).unwrap(), text.as_bytes()).is_none());
        }
    }
}
