//! The known words of a format that accepts other values as well.

use super::field::Choice;
use super::format::POD_FIELDS;
use kubebench_syntax::diag::code;

/// Resources of containers, and what they are.
const RESOURCES: [(&str, &str); 10] = [
    ("cpu", "Cores: `8`, or `500m` for half of one"),
    ("memory", "Bytes: `32Gi`"),
    ("ephemeral-storage", "Bytes of the node's disk: `100Gi`"),
    ("nvidia.com/gpu", "GPUs of NVIDIA, whole ones"),
    ("amd.com/gpu", "GPUs of AMD, whole ones"),
    ("gpu.intel.com/i915", "GPUs of Intel"),
    ("google.com/tpu", "TPUs of Google, whole ones"),
    ("aws.amazon.com/neuron", "Accelerators of AWS, whole ones"),
    ("habana.ai/gaudi", "Accelerators of Habana, whole ones"),
    ("hugepages-2Mi", "Bytes in pages of 2 MiB"),
];

/// Returns the words of the format called `name`.
pub(super) fn of(name: &str) -> Vec<Choice> {
    let described = |words: &[(&str, &str)]| words.iter().map(|(word, about)| choice(word, about)).collect();
    match name {
        "resource-key" | "resource-name" | "price-key" => described(&RESOURCES),
        "processes-per-node" => described(&[
            ("auto", "As many as there are GPUs, or else cores"),
            ("gpu", "As many as there are GPUs"),
            ("cpu", "As many as there are cores"),
        ]),
        "concurrency" => described(&[("exclusive", "One at a time"), ("unlimited", "Any number at a time")]),
        "pod-field" => POD_FIELDS.iter().map(|field| choice(field, "")).collect(),
        "lint-code" => {
            let lints = code::ALL.iter().filter(|code| code.configurable);
            lints.map(|code| choice(code.id, code.title)).collect()
        }
        _ => Vec::new(),
    }
}

fn choice(value: &str, description: &str) -> Choice {
    Choice { value: value.to_owned(), description: description.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::format;

    #[test]
    fn known_words_have_their_format() {
        for format in format::FORMATS {
            for word in super::of(format.name) {
                assert_eq!((format.check)(&word.value), Ok(()), "{}", format.name);
            }
        }
        assert!(!super::of("resource-key").is_empty() && !super::of("lint-code").is_empty());
    }
}
