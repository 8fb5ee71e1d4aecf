use std::fs;

use super::*;
use crate::readers::machine::tick_ns;

struct Fake {
    root: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    /// One thread; CPU time as `schedstat` has it, and what it waited for in ticks.
    fn process(&self, pid: u32, parent: u32, cpu_ns: u64, waited_ticks: u64, children: &str) {
        let task = self.folder(pid).join(format!("task/{pid}"));
        fs::create_dir_all(&task).unwrap();
        fs::write(task.join("schedstat"), format!("{cpu_ns} 5 1\n")).unwrap();
        fs::write(task.join("children"), children).unwrap();
        fs::write(self.folder(pid).join("schedstat"), "1 1 1\n").unwrap();
        let rest =
            format!("S {parent} 1 1 0 -1 0 1 0 3 0 20 30 {waited_ticks} 0 20 0 1 0 9 100 10 1");
        fs::write(self.folder(pid).join("stat"), format!("{pid} (x) {rest}\n")).unwrap();
    }

    fn thread(&self, pid: u32, thread: u32, cpu_ns: u64) {
        let task = self.folder(pid).join(format!("task/{thread}"));
        fs::create_dir_all(&task).unwrap();
        fs::write(task.join("schedstat"), format!("{cpu_ns} 5 1\n")).unwrap();
        fs::write(task.join("children"), "").unwrap();
    }

    fn end(&self, pid: u32) {
        fs::write(self.folder(pid).join("stat"), "").unwrap();
        fs::remove_dir_all(self.folder(pid)).unwrap();
    }

    fn folder(&self, pid: u32) -> PathBuf {
        self.root.path().join(format!("proc/{pid}"))
    }

    fn follow(&self, pid: u32) -> Box<dyn Reader> {
        open(self.root.path(), "service", pid, &mut Missing::new()).unwrap()
    }
}

fn read(reader: &mut dyn Reader) -> BTreeMap<String, Option<u64>> {
    let mut row = vec![None; reader.columns().len()];
    reader.read(&mut row);
    let names = reader.columns().iter();
    let names = names.map(|name| name.trim_start_matches("process.service.").to_owned());
    names.zip(row).collect()
}

#[test]
fn a_tree_is_summed_and_whoever_is_born_later_joins_it() {
    let fake = Fake::new();
    fake.process(42, 1, 100, 0, "43");
    fake.process(43, 42, 7, 0, "44");
    fake.process(44, 43, 1000, 0, "");
    let mut reader = fake.follow(42);
    let row = read(reader.as_mut());
    assert_eq!(row["cpu_ns"], Some(1107));
    assert_eq!(row["processes"], Some(3));
    assert_eq!(row["threads"], Some(3));
    fs::write(fake.folder(44).join("task/44/children"), "45").unwrap();
    fake.process(45, 44, 1, 0, "");
    let row = read(reader.as_mut());
    assert_eq!((row["cpu_ns"], row["processes"]), (Some(1108), Some(4)));
}

#[test]
fn a_child_that_was_waited_for_is_in_its_parents_sum_and_counts_once() {
    let fake = Fake::new();
    let tick = tick_ns();
    fake.process(42, 1, 100, 0, "43");
    fake.process(43, 42, 3 * tick + 1, 0, "");
    let mut reader = fake.follow(42);
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(101 + 3 * tick));
    fake.end(43);
    fake.process(42, 1, 100, 4, "");
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(100 + 4 * tick));
}

#[test]
fn a_step_from_exact_figures_to_ticks_never_goes_backwards() {
    let fake = Fake::new();
    fake.process(42, 1, 100, 0, "43");
    fake.process(43, 42, tick_ns() / 2, 0, "");
    let mut reader = fake.follow(42);
    let before = read(reader.as_mut())["cpu_ns"];
    fake.end(43);
    fs::write(fake.folder(42).join("task/42/children"), "").unwrap();
    assert_eq!(read(reader.as_mut())["cpu_ns"], before);
}

#[test]
fn a_daemon_that_lost_its_parent_is_followed_and_kept_after_its_end() {
    let fake = Fake::new();
    fake.process(42, 1, 100, 0, "43");
    fake.process(43, 42, 1, 0, "44");
    fake.process(44, 43, 1000, 0, "");
    let mut reader = fake.follow(42);
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(1101));
    fake.end(43);
    fake.process(42, 1, 100, 0, "");
    fake.process(44, 1, 2000, 0, "");
    let row = read(reader.as_mut());
    assert_eq!((row["cpu_ns"], row["processes"]), (Some(2100), Some(2)));
    fake.end(44);
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(2100));
}

#[test]
fn cpu_time_of_a_thread_that_ended_is_kept() {
    let fake = Fake::new();
    fake.process(42, 1, 100, 0, "");
    fake.thread(42, 43, 7);
    let mut reader = fake.follow(42);
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(107));
    fs::remove_dir_all(fake.folder(42).join("task/43")).unwrap();
    fake.process(42, 1, 150, 0, "");
    fake.thread(42, 44, 1000);
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(1157));
}

#[test]
fn without_schedstat_cpu_time_comes_from_ticks_and_the_reason_says_so() {
    let fake = Fake::new();
    fake.process(42, 1, 100, 0, "");
    fs::remove_file(fake.folder(42).join("schedstat")).unwrap();
    let mut missing = Missing::new();
    let mut reader = open(fake.root.path(), "service", 42, &mut missing).unwrap();
    assert_eq!(read(reader.as_mut())["cpu_ns"], Some(50 * tick_ns()));
    assert!(missing["process.service.schedstat"].contains("ticks of"));
    assert!(missing["process.service.children"].contains("only the process itself"));
}

#[test]
fn a_process_that_is_not_there_has_no_columns_and_a_reason() {
    let fake = Fake::new();
    let mut missing = Missing::new();
    assert!(open(fake.root.path(), "service", 42, &mut missing).is_none());
    assert!(missing.contains_key("process.service"));
}
