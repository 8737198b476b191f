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
    entry!("fio", "a StorageClass"),
    entry!("nccl-all-reduce", "2 nodes of 8 NVIDIA GPUs, MPI Operator"),
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
