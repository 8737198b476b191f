//! Long lines in the files of container runtimes, which split them every 16 KiB: `… stdout P …` continues in the next line of
//! the same stream, up to `… stdout F …`.

use std::borrow::Cow;

/// The prefix of a container runtime ends within this many bytes.
pub(super) const LONGEST_PREFIX: usize = 64;

/// Joins what a container runtime split.
#[derive(Debug, Default)]
pub(super) struct Partial {
    /// Whether the log comes from a container runtime; none before its first line.
    is_container: Option<bool>,
    /// What `P` lines of `stdout` and of `stderr` held.
    begun: [Vec<u8>; 2],
}

/// A line of a container runtime.
struct Entry<'a> {
    stream: usize,
    is_partial: bool,
    prefix: &'a [u8],
    content: &'a [u8],
}

impl Partial {
    /// Returns true when the log is known to come from a container runtime: its lines end in line feeds alone.
    pub(super) fn is_container(&self) -> bool {
        self.is_container == Some(true)
    }

    /// Returns true once `begin` was called.
    pub(super) fn has_begun(&self) -> bool {
        self.is_container.is_some()
    }

    /// Records how the log begins.
    pub(super) fn begin(&mut self, log: &[u8]) {
        self.is_container = Some(entry(log).is_some());
    }

    /// Returns `lines` with each split line whole where its last piece was, and empty lines instead of its other pieces.
    ///
    /// What grows longer than `limit` is not joined any further.
    pub(super) fn join<'a>(&mut self, lines: &'a [u8], limit: usize) -> Cow<'a, [u8]> {
        let is_split = |line: &[u8]| entry(line).is_some_and(|entry| entry.is_partial);
        if !self.is_container() || self.begun.iter().all(Vec::is_empty) && !any_line(lines, is_split) {
            return Cow::Borrowed(lines);
        }
        let mut joined = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let Some((begun, entry)) = entry(line).and_then(|entry| Some((self.begun.get_mut(entry.stream)?, entry)))
            else {
                joined.extend_from_slice(line);
                continue;
            };
            let (content, end) = match entry.content.strip_suffix(b"\n") {
                Some(content) => (content, &b"\n"[..]),
                None => (entry.content, &b""[..]),
            };
            if entry.is_partial && begun.len() < limit {
                begun.extend_from_slice(content);
            } else {
                joined.extend_from_slice(entry.prefix);
                joined.append(begun);
                joined.extend_from_slice(content);
            }
            joined.extend_from_slice(end);
        }
        Cow::Owned(joined)
    }

    /// Returns lines whose last piece never came.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Vec<u8>> + use<> {
        std::mem::take(&mut self.begun).into_iter().filter(|begun| !begun.is_empty())
    }
}

fn any_line(lines: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> bool {
    lines.split_inclusive(|byte| *byte == b'\n').any(is_wanted)
}

/// `2026-01-02T03:04:05.123456789Z stdout P `
fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let is_time =
        line.first().is_some_and(u8::is_ascii_digit) && line.get(4) == Some(&b'-') && line.get(10) == Some(&b'T');
    let space = memchr::memchr(b' ', line.get(..line.len().min(LONGEST_PREFIX - 9))?).filter(|_| is_time)?;
    let rest = line.get(space + 1..)?;
    let stream = [&b"stdout "[..], b"stderr "].iter().position(|stream| rest.starts_with(stream))?;
    let is_partial = match rest.get(7..9)? {
        b"P " => true,
        b"F " => false,
        _ => return None,
    };
    let (prefix, content) = line.split_at_checked(space + 10)?;
    Some(Entry { stream, is_partial, prefix, content })
}

#[cfg(test)]
mod tests {
    use super::Partial;

    fn joined(log: &str) -> (String, Vec<String>) {
        let mut partial = Partial::default();
        partial.begin(log.as_bytes());
        let lines = String::from_utf8(partial.join(log.as_bytes(), 1000).into_owned()).unwrap();
        (lines, partial.finish().map(|begun| String::from_utf8(begun).unwrap()).collect())
    }

    #[test]
    fn pieces_are_joined_by_stream() {
        let log = "2026-01-02T03:04:05Z stdout P lo\n2026-01-02T03:04:05Z stderr F warning\n2026-01-02T03:04:05Z stdout P ss \n2026-01-02T03:04:06Z stdout F 2.5\nother\n2026-01-02T03:04:06Z stderr P kil";
        let (lines, begun) = joined(log);
        let ends = lines.replace("2026-01-02T03:04:0", "");
        assert_eq!(ends, "\n5Z stderr F warning\n\n6Z stdout P loss 2.5\nother\n".replace("stdout P", "stdout F"));
        assert_eq!(begun, ["kil"]);
    }

    #[test]
    fn what_is_no_file_of_a_container_runtime_stays() {
        for log in ["step 1 stdout P x\n", "2026-01-02T03:04:05Z stdout F x\n", "2026-01-02T03:04:05Z stdin P x\n", ""]
        {
            assert_eq!(joined(log), (log.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn pieces_without_end_are_let_go() {
        let log = "2026-01-02T03:04:05Z stdout P 0123456789\n".repeat(1000);
        let (lines, _) = joined(&log);
        assert_eq!(lines.lines().map(str::len).max(), Some(30 + 1010));
        assert_eq!(lines.lines().count(), 1000);
    }
}
