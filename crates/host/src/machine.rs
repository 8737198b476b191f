//! What this machine is, for the environment of a result: facts that are there to be read, and nothing guessed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, anyhow};
use jiff::Timestamp;

use crate::program;
use kubebench_format::result::v1::{Gpu, Node};
use kubebench_syntax::digest::Digest;

/// A program that describes accelerators is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Draws 128 random bits, as 32 hex digits.
pub fn random_id() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("cannot get random numbers from the system: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the time.
pub fn clock() -> Timestamp {
    Timestamp::now()
}

/// Returns the time to the millisecond, and seconds since the Unix epoch.
pub fn now() -> (String, f64) {
    let now = clock();
    (now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(), now.as_nanosecond() as f64 / 1e9)
}

/// Returns the time to the second, for what people read.
pub fn second() -> String {
    clock().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the seconds since the Unix epoch of a time such as `2026-01-02T03:04:05Z`.
pub fn seconds_of(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

/// Returns a port on the loopback interface that nothing listens on.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0));
    listener.and_then(|listener| listener.local_addr()).map_or(29500, |address| address.port())
}

/// Returns the variables of this process whose names pass.
pub fn variables(wanted: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let texts =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, _)| wanted(name)).collect()
}

/// Returns the user and the group of this process.
pub(crate) fn user() -> (u32, u32) {
    (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw())
}

/// Returns how often the system ended a process for want of memory, as far as the control group counts it.
pub fn out_of_memory_kills() -> Option<u64> {
    let group = read("/proc/self/cgroup")
        .and_then(|text| Some(text.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned()));
    let files = [
        group.map(|group| format!("/sys/fs/cgroup{group}/memory.events")),
        Some("/sys/fs/cgroup/memory.events".to_owned()),
    ];
    let counted = files.into_iter().flatten().find_map(|path| field(&read(&path)?, "oom_kill "));
    let of_kernel = || field(&read("/proc/vmstat")?, "oom_kill ");
    counted.or_else(of_kernel)?.parse().ok()
}

/// Returns what this machine is; called as `name` says.
pub fn describe(name: Name) -> Node {
    let cpu = read("/proc/cpuinfo").unwrap_or_default();
    let host = read("/proc/sys/kernel/hostname");
    Node {
        name: host.map(|host| match name {
            Name::Plain => host,
            Name::Hashed => Digest::of(format!("host:{host}")).short(),
        }),
        instance_type: None,
        arch: Some(arch().to_owned()),
        cpu_model: ["model name", "Model", "Hardware", "CPU implementer"].iter().find_map(|key| cpu_field(&cpu, key)),
        cpu_count: std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: memory(),
        kernel: read("/proc/sys/kernel/osrelease"),
        os_image: read("/etc/os-release")
            .and_then(|text| field(&text, "PRETTY_NAME="))
            .map(|name| name.trim_matches('"').to_owned())
            .or_else(|| Some(std::env::consts::OS.to_owned())),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualization: virtualization(&cpu),
        load_before: load(),
        gpus: gpus(),
        ..Node::default()
    }
}

/// Returns the load of this machine in the last minute.
pub fn load() -> Option<f64> {
    read("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// How a machine is named in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// As it calls itself.
    Plain,
    /// By a hash, so that results can be distinguished and nothing is said about the owner's network.
    Hashed,
}

fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns the memory of the machine, or of the control group where that is less.
fn memory() -> Option<u64> {
    let total = field(&read("/proc/meminfo")?, "MemTotal:")?;
    let total = total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024;
    let limit = read("/sys/fs/cgroup/memory.max").and_then(|text| text.parse::<u64>().ok());
    Some(limit.map_or(total, |limit| limit.min(total)))
}

fn virtualization(cpu: &str) -> Option<String> {
    let product = read("/sys/class/dmi/id/product_name");
    let vendor = read("/sys/class/dmi/id/sys_vendor");
    let is_guest = cpu.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor"));
    let in_container = Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists();
    let machine = is_guest.then(|| {
        let known = ["KVM", "VMware", "VirtualBox", "Xen", "Microsoft", "Amazon", "Google", "QEMU", "Firecracker"];
        let said = format!("{} {}", vendor.unwrap_or_default(), product.unwrap_or_default());
        known.iter().find(|name| said.contains(**name)).map_or("virtual machine", |name| *name).to_lowercase()
    });
    match (machine, in_container) {
        (Some(machine), true) => Some(format!("container in {machine}")),
        (None, true) => Some("container".to_owned()),
        (machine, false) => machine,
    }
}

/// Returns the accelerators that their vendors' programs name.
fn gpus() -> Vec<Gpu> {
    let nvidia = ask("nvidia-smi", &["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]);
    let mut counted: BTreeMap<(String, Option<u64>, Option<String>), u32> = BTreeMap::new();
    for line in nvidia.unwrap_or_default().lines() {
        let mut cells = line.split(',').map(str::trim);
        let Some(product) = cells.next().filter(|name| !name.is_empty()) else { continue };
        let memory = cells.next().and_then(|cell| cell.parse().ok());
        let driver = cells.next().map(str::to_owned);
        *counted.entry((product.to_owned(), memory, driver)).or_default() += 1;
    }
    if counted.is_empty() {
        let amd = ask("rocm-smi", &["--showproductname", "--showdriverversion", "--csv"]).unwrap_or_default();
        let driver = amd.lines().find_map(|line| line.strip_prefix("Driver version,")).map(str::to_owned);
        for line in amd.lines().filter(|line| line.starts_with("card")) {
            if let Some(product) = line.split(',').nth(1).filter(|name| !name.is_empty()) {
                *counted.entry((product.to_owned(), None, driver.clone())).or_default() += 1;
            }
        }
    }
    let made =
        counted.into_iter().map(|((product, memory_mi_b, driver), count)| Gpu { product, count, memory_mi_b, driver });
    made.collect()
}

/// Returns what a program prints, if it is there and answers in time.
fn ask(name: &str, arguments: &[&str]) -> Option<String> {
    let output = program::ask(Command::new(name).args(arguments).stderr(Stdio::null()), PATIENCE).ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns what follows `key` on the line that begins with it.
fn field(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(|rest| rest.trim().to_owned())
}

fn cpu_field(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    let value = line.split_once(':')?.1.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(value).filter(|value| !value.is_empty())
}
