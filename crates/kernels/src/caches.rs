//! Caches of this machine, from `/sys/devices/system/cpu/cpu0/cache`.

use std::fs;
use std::path::Path;

use steelyard_wire::kernel::Cache;

const CPU0: &str = "sys/devices/system/cpu/cpu0/cache";

/// Caches for data of the first CPU, nearest first; empty where the kernel does not tell.
/// `root` is `/`, or a recorded tree.
pub fn caches(root: &Path) -> Vec<Cache> {
    let Ok(entries) = fs::read_dir(root.join(CPU0)) else {
        return Vec::new();
    };
    let mut caches: Vec<Cache> = entries
        .filter_map(|entry| cache(&entry.ok()?.path()))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// `L1`, `L2`, ... for the smallest cache that holds `bytes` for each of `threads`, `memory` if none
/// does; `None` where the caches are not known.
pub fn level_that_holds(caches: &[Cache], bytes: u64, threads: u32) -> Option<String> {
    let sharing = |cache: &Cache| u64::from(threads.min(cache.shared_by.unwrap_or(1)));
    let fits = |cache: &&Cache| bytes.saturating_mul(sharing(cache)) <= cache.size_bytes;
    match caches.iter().find(fits) {
        Some(cache) => Some(format!("L{}", cache.level)),
        None if caches.is_empty() => None,
        None => Some("memory".to_owned()),
    }
}

/// Capacity of a level, if it is there.
pub(crate) fn size_of_level(caches: &[Cache], level: u8) -> Option<u64> {
    let found = caches.iter().find(|cache| cache.level == level)?;
    Some(found.size_bytes)
}

/// Capacity of the last level, if any is known.
pub(crate) fn last_level_bytes(caches: &[Cache]) -> Option<u64> {
    caches.last().map(|cache| cache.size_bytes)
}

fn cache(folder: &Path) -> Option<Cache> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let kind = read("type")?;
    if !matches!(kind.trim(), "Data" | "Unified") {
        return None;
    }
    Some(Cache {
        level: read("level")?.trim().parse().ok()?,
        size_bytes: size_bytes(&read("size")?)?,
        line_bytes: read("coherency_line_size").and_then(|text| text.trim().parse().ok()),
        shared_by: read("shared_cpu_list").and_then(|text| cpus_of_list(&text)),
    })
}

fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, scale) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(scale)?;
    (bytes > 0).then_some(bytes)
}

/// How many CPUs a list as `0-3,8` names.
fn cpus_of_list(text: &str) -> Option<u32> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    text.split(',').map(cpus_of_range).sum()
}

fn cpus_of_range(range: &str) -> Option<u32> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
    last.checked_sub(first).map(|more| more + 1)
}

#[cfg(test)]
#[path = "caches_tests.rs"]
mod tests;
