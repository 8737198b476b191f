//! What someone probably meant who wrote `8GB`, `32gi` or `1 Gi`.

use super::Quantity;

/// The help when nothing can be guessed.
pub(super) const GRAMMAR: &str =
    "write a number with one of the suffixes `m k M G T P E Ki Mi Gi Ti Pi Ei`, such as `500m`, `4` or `32Gi`";

/// Returns the help for a text that is not a quantity.
pub(super) fn for_text(text: &str) -> String {
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    let compact = compact.replace(',', ".");
    let number_end = compact.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '+').unwrap_or(compact.len());
    let (number, suffix) = compact.split_at(number_end);
    let candidates: &[&str] = match suffix.to_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" | "cpu" | "cpus" | "core" | "cores" => &[""],
        "millicpu" | "millicores" | "milli" | "mcpu" => &["m"],
        "k" | "kb" => &["Ki", "k"],
        "mb" => &["Mi", "M"],
        "g" | "gb" => &["Gi", "G"],
        "t" | "tb" => &["Ti", "T"],
        "p" | "pb" => &["Pi", "P"],
        "ki" | "kib" => &["Ki"],
        "mi" | "mib" => &["Mi"],
        "gi" | "gib" => &["Gi"],
        "ti" | "tib" => &["Ti"],
        "pi" | "pib" => &["Pi"],
        "ei" | "eib" => &["Ei"],
        _ if Quantity::read(&compact).is_ok() => return format!("write `{compact}`"),
        _ => &[],
    };
    let spelled: Vec<_> = candidates
        .iter()
        .map(|suffix| format!("{number}{suffix}"))
        .filter(|text| Quantity::read(text).is_ok())
        .collect();
    match spelled.as_slice() {
        [only] => format!("write `{only}`"),
        [binary, decimal] => format!("write `{binary}` (powers of 1024) or `{decimal}` (powers of 1000)"),
        _ => GRAMMAR.to_owned(),
    }
}
