//! The beginning and the end of a log, kept while it streams or taken from its file: enough to quote a line that nearly
//! matched, the same one for every reader of the log.

use std::collections::VecDeque;

use super::line;
use kubebench_syntax::invariant::Invariant as _;

/// Bytes kept of the beginning, and as many of the end.
pub const HALF: usize = 128 << 10;

/// Keeps the beginning and the end of what it is fed.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Whether something between the two was left out.
    has_gap: bool,
}

impl Excerpt {
    /// Adds the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HALF - self.head.len()));
        self.head.extend_from_slice(head);
        let new = rest.get(rest.len().saturating_sub(HALF)..).expected("the end of these bytes");
        let old = (self.tail.len() + new.len()).saturating_sub(HALF);
        self.has_gap |= old > 0 || new.len() < rest.len();
        self.tail.drain(..old);
        self.tail.extend(new);
    }

    /// Records that bytes are left out here.
    pub fn skip(&mut self) {
        self.has_gap = true;
    }

    /// Returns what was kept, without terminal codes; a line that is cut in two is two lines.
    pub fn text(&self) -> String {
        let (first, second) = self.tail.as_slices();
        let gap: &[u8] = if self.has_gap { b"\n" } else { b"" };
        let whole = [self.head.as_slice(), gap, first, second].concat();
        String::from_utf8_lossy(&line::without_terminal_codes(&whole)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, HALF};

    #[test]
    fn beginning_and_end_stay() {
        for piece in [1, 7, 4096, HALF, 3 * HALF] {
            let text: Vec<u8> = (0..5 * HALF).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
            let mut excerpt = Excerpt::default();
            text.chunks(piece).for_each(|piece| excerpt.feed(piece));
            let kept = excerpt.text().into_bytes();
            assert!(kept.len() == 2 * HALF + 1 && kept[..HALF] == text[..HALF], "{piece}");
            assert!(kept[HALF] == b'\n' && kept[HALF + 1..] == text[4 * HALF..], "{piece}");
            let mut whole = Excerpt::default();
            text[..2 * HALF].chunks(piece).for_each(|piece| whole.feed(piece));
            assert_eq!(whole.text().as_bytes(), &text[..2 * HALF], "{piece}");
        }
        let mut short = Excerpt::default();
        short.feed(b"\x1b[31mloss\x1b[0m: 1\n");
        short.feed(b"end");
        assert_eq!(short.text(), "loss: 1\nend");
    }
}
