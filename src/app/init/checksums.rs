//! The checksums of a release that a workflow is pinned to.

use anyhow::{Result, bail};

use crate::app::start::VERSION;

/// Lines of SHA256SUMS about archives for Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checksums {
    lines: Vec<String>,
}

impl Checksums {
    /// Reads the SHA256SUMS of this version.
    pub(super) fn given(text: &str) -> Result<Self> {
        let found = Self::of_any_version(text).map(|all| all.lines).unwrap_or_default();
        let lines: Vec<String> = found.into_iter().filter(|line| is_of_this_version(line)).collect();
        if lines.is_empty() {
            bail!(
                "the checksums name no archive of kubebench {VERSION} for Linux; expected a line such as \
                 `SHA256  kubebench-{VERSION}-x86_64-unknown-linux-gnu.tar.gz` of the release's SHA256SUMS"
            );
        }
        Ok(Self { lines })
    }

    /// Returns the checksums in a text, such as that of a workflow; none where it has none.
    pub(super) fn of_any_version(text: &str) -> Option<Self> {
        let lines: Vec<String> = text.lines().filter_map(|line| line_of_archive(line.trim())).collect();
        (!lines.is_empty()).then_some(Self { lines })
    }

    /// Returns false if they are of another version than this program.
    pub(super) fn are_of_this_version(&self) -> bool {
        self.lines.iter().all(|line| is_of_this_version(line))
    }

    /// Returns the lines, as `sha256sum --check` reads them.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

fn is_of_this_version(line: &str) -> bool {
    line.split_once("  kubebench-").is_some_and(|(_, rest)| rest.starts_with(&format!("{VERSION}-")))
}

/// Returns the line of an archive in the one form that goes into a script.
fn line_of_archive(line: &str) -> Option<String> {
    let (digest, name) = line.split_once(' ')?;
    let name = name.trim_start_matches([' ', '*']);
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte));
    let is_archive = name.starts_with("kubebench-") && name.ends_with("-linux-gnu.tar.gz");
    (is_digest && is_name && is_archive).then(|| format!("{}  {name}", digest.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_archives_reach_a_script() {
        let digest = "0123456789abcdef".repeat(4);
        let ours = format!("{digest}  kubebench-{VERSION}-x86_64-unknown-linux-gnu.tar.gz");
        let others = format!(
            "{digest}  kubebench-{VERSION}.oci.tar\n{digest}  kubebench-{VERSION}-$(x)-linux-gnu.tar.gz\nz{digest} kubebench\n{digest}  SHA256SUMS\n"
        );
        let given =
            Checksums::given(&format!("{others}{}\r\n", ours.to_ascii_uppercase().replace("KUBEBENCH", "kubebench")));
        assert!(given.is_err(), "names are as they are");
        let given = Checksums::given(&format!("{others}{}\r\n", ours.replace("  ", " *"))).map(|sums| sums.text());
        assert_eq!(given.ok(), Some(format!("{ours}\n")));
        assert!(Checksums::given(&others).is_err());
        let other = Checksums::of_any_version(&format!("   {}", ours.replace(VERSION, "77.0.0")));
        assert!(other.is_some_and(|sums| !sums.are_of_this_version()));
    }
}
