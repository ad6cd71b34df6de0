//! The settings that are bound when a server starts: a reload names them, and they take effect after a restart.

use serde::Serialize;

use super::ToolgateSettings;

/// Keeps the values with which the server was started, and returns the names of those that have changed.
pub fn keep_bound(new: &mut ToolgateSettings, running: &ToolgateSettings) -> Vec<String> {
    let mut changed = Vec::new();
    let (server, mcp) = (&mut new.server, &mut new.mcp);
    // The socket, and places that are made once.
    keep("server.listen", &mut server.listen, &running.server.listen, &mut changed);
    keep("server.tls", &mut server.tls, &running.server.tls, &mut changed);
    let (places, before) = (&mut server.max_concurrency, &running.server.max_concurrency);
    keep("server.max_concurrency", places, before, &mut changed);
    let (places, before) = (&mut server.max_connections, &running.server.max_connections);
    keep("server.max_connections", places, before, &mut changed);
    let (bytes, before) = (&mut server.max_unread_bytes, &running.server.max_unread_bytes);
    keep("server.max_unread_bytes", bytes, before, &mut changed);
    keep("mcp.max_sessions", &mut mcp.max_sessions, &running.mcp.max_sessions, &mut changed);
    let (idle, before) = (&mut mcp.session_idle_ms, &running.mcp.session_idle_ms);
    keep("mcp.session_idle_ms", idle, before, &mut changed);
    keep("jobs", &mut new.jobs, &running.jobs, &mut changed);
    // Folders and files that are open.
    keep("data_dir", &mut new.data_dir, &running.data_dir, &mut changed);
    keep("work_dir", &mut new.work_dir, &running.work_dir, &mut changed);
    keep("store", &mut new.store, &running.store, &mut changed);
    keep("journal", &mut new.journal, &running.journal, &mut changed);
    keep("log", &mut new.log, &running.log, &mut changed);
    changed
}

fn keep<T: Clone + Serialize>(name: &str, new: &mut T, running: &T, changed: &mut Vec<String>) {
    // Settings can always be printed: that is how they are shown.
    if serde_json::to_value(&*new).ok() != serde_json::to_value(running).ok() {
        changed.push(name.to_owned());
        new.clone_from(running);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_stays_and_is_named() {
        let running = ToolgateSettings::default();
        let mut new = running.clone();
        new.mcp.page_size = 7;
        assert_eq!(keep_bound(&mut new, &running), Vec::<String>::new());
        new.server.listen = "127.0.0.1:9".into();
        new.data_dir = "./elsewhere".into();
        new.journal.max_files = 9;
        assert_eq!(keep_bound(&mut new, &running), ["server.listen", "data_dir", "journal"]);
        assert_eq!((new.data_dir, new.mcp.page_size), (running.data_dir, 7));
    }
}
