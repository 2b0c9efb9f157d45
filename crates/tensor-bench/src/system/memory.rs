//! Checks before allocating that the arrays of a case fit into memory.
//!
//! Linux overcommits memory and kills the process that uses it; an error with numbers is better.

use std::fs;

use crate::{Failure, Result, output::render::bytes};

/// An error if more memory is needed than is available now. Only Linux reports that; elsewhere
/// nothing is refused.
pub fn preflight(needed: u128) -> Result<()> {
    match available() {
        Some(free) => fits(needed, free),
        None => Ok(()),
    }
}

fn fits(needed: u128, free: u64) -> Result<()> {
    if needed <= u128::from(free) {
        return Ok(());
    }
    Err(Failure::work(format!(
        "needs {} of memory, but only {} are available",
        bytes(needed),
        bytes(u128::from(free)),
    )))
}

/// The memory this process can still use: that of the machine, or less if its control group has a
/// limit.
pub fn available() -> Option<u64> {
    let machine = meminfo("MemAvailable")?;
    Some(control_group().map_or(machine, |group| group.min(machine)))
}

/// A field of `/proc/meminfo`, in bytes.
pub fn meminfo(field: &str) -> Option<u64> {
    parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?, field)
}

fn parse_meminfo(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn control_group() -> Option<u64> {
    let read = |name| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    // Files that were read stay in memory until it is needed.
    let reclaimable = read("memory.stat").and_then(|stat| inactive_files(&stat)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(reclaimable)))
}

/// The bytes of cached files that have not been used lately, of the statistics of a control group.
fn inactive_files(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_bytes() {
        let text = "MemTotal:       24689764 kB\nMemAvailable:   24000000 kB\n";
        assert_eq!(parse_meminfo(text, "MemAvailable"), Some(24_576_000_000));
        assert_eq!(parse_meminfo(text, "Mem"), None);
        assert_eq!(parse_meminfo("MemAvailable: lots", "MemAvailable"), None);
    }

    #[test]
    fn cached_files_of_a_control_group_are_told_apart() {
        let stat = "anon 70\nfile 500\nactive_file 100\ninactive_file 400\n";
        assert_eq!(inactive_files(stat), Some(400));
        assert_eq!(inactive_files("anon 70\n"), None);
    }

    #[test]
    fn a_case_beyond_memory_is_refused_with_both_numbers() {
        assert!(fits(1000, 1000).is_ok());
        let error = fits(5 << 40, 3 << 30).unwrap_err().to_string();
        assert_eq!(error, "needs 5.5 TB of memory, but only 3.2 GB are available");
    }
}
