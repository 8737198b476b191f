//! Ready benchmarks: a spec, the files that it carries, and a page. `catalog/NAME/` is a project of one benchmark, so that the
//! paths in it are those of the project that it is written to.

/// A ready benchmark.
#[derive(Debug)]
pub struct Entry {
    /// What `new` and `explain` call it.
    pub name: &'static str,
    /// What must be there before it runs.
    pub needs: &'static str,
    spec: &'static str,
    /// What the spec carries or is tested with, by path below the project root.
    pub files: &'static [(&'static str, &'static str)],
    /// Its page of the documentation.
    pub page: &'static str,
}

macro_rules! entry {
    ($name:literal, $needs:literal $(, $file:literal)*) => {
        Entry {
            name: $name,
            needs: $needs,
            spec: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/", $name, "/benchmark.yaml")),
            files: &[$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/", $name, "/", $file)))),*],
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/catalog/", $name, ".md")),
        }
    };
}

/// All of them, by name.
pub const ENTRIES: &[Entry] = &[
    entry!("dlio", "a StorageClass, an image that you build", "fixtures/dlio.log"),
    entry!("fio", "a StorageClass"),
    entry!("iperf3", "2 nodes, JobSet"),
    entry!("nccl-all-reduce", "2 nodes with 8 NVIDIA GPUs, the MPI operator"),
    entry!("nccl-all-to-all", "2 nodes with 8 NVIDIA GPUs, the MPI operator"),
    entry!("nvbandwidth", "a node with 8 NVIDIA GPUs", "fixtures/nvbandwidth.log"),
    entry!("osu-allreduce", "4 nodes, the MPI operator, an image that you build", "fixtures/osu-allreduce.log"),
    entry!("osu-latency", "2 nodes, the MPI operator, an image that you build", "fixtures/osu-latency.log"),
    entry!(
        "resnet-ddp",
        "2 nodes with 8 NVIDIA GPUs, Kubeflow Trainer v2",
        "fixtures/resnet-ddp.log",
        "scripts/resnet_ddp.py"
    ),
    entry!("sglang-serve", "an NVIDIA GPU with 40 GB, access to the internet for the model"),
    entry!("stream", "a node", "fixtures/stream.log", "scripts/stream-kernels.c"),
    entry!("torchtitan", "2 nodes with 8 NVIDIA GPUs of 80 GB, the training operator, an image that you build"),
    entry!("vllm-serve", "an NVIDIA GPU with 40 GB, access to the internet for the model"),
];

/// Returns the entry of this name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

impl Entry {
    /// What it measures, as its spec says.
    pub fn measures(&self) -> &'static str {
        self.spec.lines().find_map(|line| line.strip_prefix("  description: ")).unwrap_or_default()
    }

    /// Returns its spec for a benchmark that is called `name`.
    pub fn spec(&self, name: &str, schema: &str) -> String {
        let text = self.spec.replacen(&format!("\n  name: {}\n", self.name), &format!("\n  name: {name}\n"), 1);
        format!("# yaml-language-server: $schema={schema}\n{text}")
    }
}
