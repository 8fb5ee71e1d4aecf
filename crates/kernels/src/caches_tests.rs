use super::*;

/// One index folder as the kernel shows it: level, type, size, CPUs that share it.
type Recorded = (&'static str, &'static str, &'static str, &'static str);

fn recorded(indices: &[Recorded]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (number, (level, kind, size, cpus)) in indices.iter().enumerate() {
        let folder = root.path().join(CPU0).join(format!("index{number}"));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), format!("{text}\n"));
        write("level", level).unwrap();
        write("type", kind).unwrap();
        write("size", size).unwrap();
        write("shared_cpu_list", cpus).unwrap();
        write("coherency_line_size", "64").unwrap();
    }
    root
}

fn epyc() -> tempfile::TempDir {
    recorded(&[
        ("1", "Data", "32K", "0"),
        ("1", "Instruction", "32K", "0"),
        ("2", "Unified", "1024K", "0"),
        ("3", "Unified", "32768K", "0-7,64-71"),
    ])
}

#[test]
fn caches_for_data_are_read_nearest_first() {
    let root = epyc();
    let found = caches(root.path());
    let sizes: Vec<(u8, u64)> = found.iter().map(|c| (c.level, c.size_bytes)).collect();
    assert_eq!(sizes, [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)]);
    assert_eq!(found[2].shared_by, Some(16));
    assert_eq!(found[0].line_bytes, Some(64));
}

#[test]
fn a_machine_without_a_third_level_ends_with_the_second() {
    let root = recorded(&[("1", "Data", "64K", "0"), ("2", "Unified", "512K", "0-3")]);
    let found = caches(root.path());
    assert_eq!(last_level_bytes(&found), Some(512 << 10));
    assert_eq!(size_of_level(&found, 3), None);
}

#[test]
fn a_kernel_that_tells_nothing_gives_no_caches_and_no_level() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(caches(root.path()), []);
    assert_eq!(level_that_holds(&[], 1, 1), None);
    assert_eq!(last_level_bytes(&[]), None);
}

#[test]
fn a_size_that_cannot_be_read_leaves_its_cache_out() {
    let root = recorded(&[("1", "Data", "many", "0"), ("2", "Unified", "0K", "0")]);
    assert_eq!(caches(root.path()), []);
}

#[test]
fn an_unknown_list_of_cpus_is_none_and_keeps_the_cache() {
    let root = recorded(&[("1", "Data", "1M", "")]);
    let found = caches(root.path());
    assert_eq!(found[0].size_bytes, 1 << 20);
    assert_eq!(found[0].shared_by, None);
}

#[test]
fn a_block_is_named_by_the_smallest_cache_that_holds_it() {
    let root = epyc();
    let found = caches(root.path());
    let level = |bytes| level_that_holds(&found, bytes, 1).unwrap();
    assert_eq!(level(32 << 10), "L1");
    assert_eq!(level((32 << 10) + 1), "L2");
    assert_eq!(level(2 << 20), "L3");
    assert_eq!(level(33 << 20), "memory");
}

#[test]
fn a_shared_cache_holds_less_for_each_of_several_threads() {
    let root = epyc();
    let found = caches(root.path());
    let level = |threads| level_that_holds(&found, 16 << 20, threads).unwrap();
    assert_eq!((level(2), level(3)), ("L3".to_owned(), "memory".to_owned()));
    assert_eq!(level_that_holds(&found, 1 << 20, 16).unwrap(), "L2");
}
