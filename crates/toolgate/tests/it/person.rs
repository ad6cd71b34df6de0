//! A person at a command that runs: they see what it prints, and type.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex},
};

use testkit::{World, eventually};

/// A person at a command.
pub struct Person {
    child: Child,
    input: Option<ChildStdin>,
    seen: Arc<Mutex<String>>,
}

impl Person {
    /// Without a terminal.
    pub fn at_pipe(world: &World, words: &str) -> Self {
        Self::of(&mut world.command(&words.split(' ').collect::<Vec<_>>()))
    }

    /// `script` gives the command a terminal of its own; nothing where there is no `script`.
    pub fn at_terminal(world: &World, words: &str) -> Option<Self> {
        Self::in_shell(world, &format!("exec {} {words}", crate::BINARY))
    }

    /// The same with these words of a shell.
    #[allow(clippy::disallowed_types)] // A terminal is a person's program.
    pub fn in_shell(world: &World, words: &str) -> Option<Self> {
        std::process::Command::new("script").arg("--version").output().ok()?;
        // Without `exec` some shells stay between and give their own exit code.
        let mut command = std::process::Command::new("script");
        command.args(["-qefc", words, "/dev/null"]).current_dir(world.folder());
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        command.envs(world.environment().iter().map(|(name, value)| (name, value)));
        Some(Self::of(&mut command))
    }

    #[allow(clippy::disallowed_types)] // As a person starts it.
    fn of(command: &mut std::process::Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for mut output in outputs {
            let seen = seen.clone();
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while let Ok(read @ 1..) = output.read(&mut bytes) {
                    seen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
                }
            });
        }
        let input = child.stdin.take();
        Self { child, input, seen }
    }

    pub fn types(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    /// Ends the input.
    pub fn hangs_up(&mut self) {
        drop(self.input.take());
    }

    /// Everything that was printed so far.
    pub fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    pub async fn sees(&self, words: &str) {
        let seen = async || self.seen().contains(words);
        let told =
            tokio::time::timeout(std::time::Duration::from_secs(50), eventually(words, seen));
        assert!(told.await.is_ok(), "`{words}` is not seen in\n{}", self.seen());
    }

    /// Forgets what was seen.
    pub fn looks_away(&self) {
        self.seen.lock().unwrap().clear();
    }

    /// Waits for the end of the command; its exit code.
    pub async fn leaves(&mut self) -> i32 {
        eventually("it ends", || {
            let ended = self.child.try_wait().unwrap();
            std::future::ready(ended.map(|status| status.code().unwrap_or(-1)))
        })
        .await
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
