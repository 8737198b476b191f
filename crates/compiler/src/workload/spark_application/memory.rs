//! Amounts of memory as Spark counts them.

/// Spark's default for driver and executors, in mebibytes.
pub(super) const DEFAULT: u64 = 1024;
/// The least that Spark adds to the heap.
const LEAST_OVERHEAD: u64 = 384;

/// Returns the mebibytes of `512m`, `4g` or `1t`.
pub(super) fn mebibytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (number, factor) = [("m", 1), ("g", 1024), ("t", 1024 * 1024)]
        .into_iter()
        .find_map(|(suffix, factor)| Some((lower.strip_suffix(suffix)?, factor)))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|number| is_number && *number > 0)?;
    number.checked_mul(factor).filter(|mebibytes| *mebibytes < 1 << 40)
}

/// Returns what Spark 3 and 4 add to a heap on Kubernetes: a tenth, or four tenths where the work is not the JVM's.
pub(super) fn overhead(memory: u64, is_of_jvm: bool) -> u64 {
    let tenths = if is_of_jvm { 1 } else { 4 };
    (memory * tenths / 10).max(LEAST_OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_spark() {
        for (text, expected) in [("512m", 512), ("4g", 4096), ("1T", 1024 * 1024), ("1G", 1024)] {
            assert_eq!(mebibytes(text), Some(expected), "{text}");
        }
        for text in ["", "m", "512", "512Mi", "0g", "+1g", "1.5g", "-1g", "1gb", "99999999999999t"] {
            assert_eq!(mebibytes(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_next_to_the_heap() {
        assert_eq!((overhead(1024, true), overhead(1024, false)), (384, 409));
        assert_eq!((overhead(8192, true), overhead(8192, false)), (819, 3276));
    }
}
