//! A controller in miniature: sends lines, reads replies by id, never waits without end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest any reply or event is waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Controller {
    agent: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    early: BTreeMap<u64, Value>,
    last_id: u64,
}

impl Controller {
    /// A fresh agent that has not been greeted.
    pub fn silent() -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_steelyard-engine")))
    }

    /// One that is started by a program which replaces itself by the words after its own.
    pub fn below(program: &[&str]) -> Self {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]);
        command.arg(env!("CARGO_BIN_EXE_steelyard-engine"));
        Self::of(command).greeted()
    }

    fn of(mut command: Command) -> Self {
        let mut agent = command
            .arg("agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(agent.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let stdin = agent.stdin.take();
        let early = BTreeMap::new();
        Self {
            agent,
            stdin,
            lines,
            early,
            last_id: 0,
        }
    }

    /// A fresh agent that has been greeted.
    pub fn new() -> Self {
        Self::silent().greeted()
    }

    fn greeted(mut self) -> Self {
        self.ok(json!({ "verb": "hello", "protocol": 1 }));
        self
    }

    pub fn pid(&self) -> u32 {
        self.agent.id()
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// Sends a request and gives its id.
    pub fn send(&mut self, mut request: Value) -> u64 {
        self.last_id += 1;
        request["id"] = json!(self.last_id);
        self.send_line(&request.to_string());
        self.last_id
    }

    /// The reply with this id; others are kept for later.
    pub fn reply(&mut self, id: u64) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(reply) = self.early.remove(&id) {
                return reply;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap();
            self.early.insert(line["id"].as_u64().unwrap(), line);
        }
    }

    pub fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request);
        self.reply(id)
    }

    /// The answer; a failure fails the test.
    pub fn ok(&mut self, request: Value) -> Value {
        let mut reply = self.ask(request);
        assert!(reply["error"].is_null(), "{reply}");
        reply["ok"].take()
    }

    /// The failure; an answer fails the test.
    pub fn error(&mut self, request: Value) -> Value {
        let mut reply = self.ask(request);
        assert!(reply["ok"].is_null(), "{reply}");
        reply["error"].take()
    }

    /// Starts a sink and gives its process id and address.
    pub fn start_sink(&mut self, name: &str, arguments: &[&str]) -> (u32, String) {
        let argv: Vec<&str> = ["@engine", "sink"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let started = self.ok(start(name, &argv));
        let ready: Value = serde_json::from_str(started["ready_line"].as_str().unwrap()).unwrap();
        let address = ready["listening"].as_str().unwrap().to_owned();
        (pid_of(&started), address)
    }

    /// Closes the agent's stdin, as the death of a controller does.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the end of the agent", || self.agent.try_wait().unwrap())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// A `start` that waits for the first line.
pub fn start(name: &str, argv: &[&str]) -> Value {
    json!({ "verb": "start", "name": name, "argv": argv, "ready_timeout_ms": 20_000 })
}

pub fn pid_of(started: &Value) -> u32 {
    u32::try_from(started["pid"].as_u64().unwrap()).unwrap()
}

/// Whether a process is there and not just waiting to be reaped.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X') && Path::new("/proc/self").exists()
}

/// Asks again and again, for a bounded time.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes whose parent is `parent`, those that wait to be reaped too.
pub fn children_of(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

/// `42 (a name) S 7 ...`
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.rsplit(") ").next()?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

pub fn wait_until_gone(pid: u32) {
    wait_for("the end of a process", || (!is_alive(pid)).then_some(()));
}

pub fn signal(pid: u32, name: &str) {
    // The shell's own `kill`: the command is not installed everywhere.
    let status = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {pid}")])
        .status();
    assert!(status.unwrap().success());
}
