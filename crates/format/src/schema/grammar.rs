//! The grammars of the formats as regular expressions of ECMA 262, which editors know and our formats they do not.
//!
//! Each takes all that the check of its format takes, and refuses what a pattern can: a second mistake of rare kinds is left to
//! `validate`. Written for every reader of schemas: no look-behind, no `\d`, `\w` and `\s`, whose letters differ between them.

use kubebench_syntax::diag::code;
use kubebench_syntax::unit::TimeZone;

/// Any letter of a text, of which none is NUL.
const ANY: &str = r"[^\x00]";
const LABEL: &str = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const QUALIFIED: &str = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?";
const DAY: &str = "(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])";
/// Days of the form above that no month has.
const NO_DAY: &str = "(?!.{5}02-3)(?!.{5}(?:04|06|09|11)-31)";
/// Characters that are not allowed in a ref, by `git check-ref-format`.
const REF: &str = r"[^\x00-\x20~^:?*\[\\\x7f]*[^\x00-\x20~^:?*\[\\\x7f./]";
const NO_REF: &str = r"(?!.*(?:\.\.|@\{|//|/\.|\.lock(?:/|$)))";

/// Returns the pattern of the format called `name`, which begins and ends with the text.
pub(super) fn of(name: &str) -> Option<String> {
    let subdomain = format!(r"{LABEL}(?:\.{LABEL})*");
    let label_key = format!("(?:(?=[^/]{{1,253}}/){subdomain}/)?{QUALIFIED}");
    let resource = format!(
        r"(?!requests\.(?!.*kubernetes\.io/))(?:cpu|memory|ephemeral-storage|hugepages-{QUALIFIED}|{subdomain}/{QUALIFIED})"
    );
    let whole = match name {
        "duration" => duration("(?:[0-9]+d)?"),
        "percentage" => r"(?!0*(?:\.0+)?%)0*(?:100(?:\.0+)?|[0-9]{1,2}(?:\.[0-9]{1,6}0*)?)%".to_owned(),
        "cron" => cron(),
        "day" => format!("{NO_DAY}{DAY}"),
        "beginning" => beginning(&format!(r"[^\x21-\x7e]*[^ \t\r\n]{ANY}*")),
        "day-or-revision" => beginning(r"(?!-)(?!.*\.\.)[^ \t\r\n\x00-\x1f\x7f]+"),
        "timezone" => TimeZone::all().collect::<Vec<_>>().join("|").replace('+', r"\+"),
        "image" => format!(
            "{}{}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@(?:sha256:[0-9a-f]{{64}}|sha384:[0-9a-f]{{96}}|sha512:[0-9a-f]{{128}}))?",
            format_args!("(?:{}/)?", registry()),
            repository()
        ),
        "image-prefix" => format!("{}(?:/{})?|{}", registry(), repository(), repository()),
        "quantity" => r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?".to_owned(),
        "dns1123-subdomain" => format!("(?=.{{1,253}}$){subdomain}"),
        "dns1123-label" | "target-name" => "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?".to_owned(),
        "benchmark-name" => "[a-z](?:[a-z0-9-]{0,29}[a-z0-9])?".to_owned(),
        "env-name" => r"(?!\.\.|\.$)[A-Za-z_.-][A-Za-z0-9_.-]*".to_owned(),
        "config-key" | "file-name" => r"(?!\.\.|\.$)[A-Za-z0-9_.-]{1,253}".to_owned(),
        "parameter-name" => "[A-Za-z_][A-Za-z0-9_-]{0,62}".to_owned(),
        "label-key" => label_key,
        "label-value" => format!("(?:{QUALIFIED})?"),
        "resource-name" => resource,
        "resource-key" => format!("requests|limits|{resource}"),
        "price-key" => format!("currency|{resource}"),
        "sentence" => format!(r"[ \t\r\n]*[^ \t\r\n]{ANY}*"),
        "pod-field" => format!(
            r"metadata\.(?:name|namespace|uid)|spec\.(?:nodeName|serviceAccountName)|status\.(?:hostIPs?|podIPs?)|metadata\.(?:labels|annotations)\['{label_key}'\]"
        ),
        "concurrency" => "exclusive|unlimited|[1-9][0-9]{0,3}|10000".to_owned(),
        "processes-per-node" => "auto|gpu|cpu|[1-9][0-9]*".to_owned(),
        "metric-name" => "[A-Za-z0-9][A-Za-z0-9._/@:-]{0,127}".to_owned(),
        "metric-unit" | "metric-label" => r"(?=.*[^ ])[^\x00-\x1f\x7f]{1,64}".to_owned(),
        "metric-pattern" => format!(r"{ANY}*\(\?P?<value>{ANY}*"),
        "relative-path" => r"(?!/)(?!.*//)(?!.*/$)(?!(?:.*/)?\.\.?(?:/|$))[^\\\x00\n]+".to_owned(),
        "json-pointer" => "(?:/(?:[^~/]|~[01])*)*".to_owned(),
        "sha256" => "(?:sha256:)?[0-9a-f]{64}".to_owned(),
        "http-url" => r"https?://(?![^/]*@)[^/ \t\r\n][^ \t\r\n]*".to_owned(),
        "site-url" => r"(?!.*/index\.html$)https?://[A-Za-z0-9._~:%-][A-Za-z0-9._~:/%-]*".to_owned(),
        "storage-uri" => format!("[A-Za-z][A-Za-z0-9+.-]*://{ANY}+"),
        "git-remote" => remote(),
        "git-branch" => format!(r"(?!refs/heads/.|HEAD$|@$|[-+/.]){NO_REF}{REF}"),
        "git-ref-prefix" => format!("(?!refs/(?:heads|tags|remotes)(?:/|$)){NO_REF}refs/(?![/.]){REF}"),
        "lint-code" => {
            code::ALL.iter().filter(|code| code.configurable).map(|code| code.id).collect::<Vec<_>>().join("|")
        }
        "version-requirement" => {
            let part = "(?:[*xX]|[0-9]+)";
            let one =
                format!(r" *(?:[=~^]|[<>]=?)? *{part}(?:\.{part}){{0,2}}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)? *");
            format!("{one}(?:,{one})*")
        }
        _ => return None,
    };
    Some(format!("^(?:{whole})$"))
}

/// A duration of at least a second, with `days` first.
fn duration(days: &str) -> String {
    format!("(?=.*[1-9]){days}(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?")
}

fn cron() -> String {
    let field = |value: &str| {
        let item = format!("(?:[*?]|{value}(?:-{value})?)(?:/0*[1-9][0-9]*)?");
        format!("{item}(?:,{item})*")
    };
    let any_case = |names: &str| {
        let letter = |letter: char| format!("[{letter}{}]", letter.to_ascii_uppercase());
        names.split(' ').map(|name| name.chars().map(letter).collect()).collect::<Vec<String>>().join("|")
    };
    let months = any_case("jan feb mar apr may jun jul aug sep oct nov dec");
    let days = any_case("sun mon tue wed thu fri sat");
    let fields = [
        field("0*[0-5]?[0-9]"),
        field("0*(?:1?[0-9]|2[0-3])"),
        field("0*(?:[1-9]|[12][0-9]|3[01])"),
        field(&format!("(?:0*(?:[1-9]|1[0-2])|{months})")),
        field(&format!("(?:0*[0-6]|{days})")),
    ];
    let descriptor = "yearly|annually|monthly|weekly|daily|midnight|hourly";
    format!(" *(?:@(?:{descriptor})|@every +{}|{}) *", duration(""), fields.join(" +"))
}

/// A time, or else the name of a session or of something in a repository.
fn beginning(name: &str) -> String {
    let time = format!(r"{NO_DAY}{DAY}(?:[Tt ][0-9:.,]+ ?(?:[Zz]|[+-][0-9:]+))?");
    let is_time = "[0-9]{4}-[0-9]{2}[0-9:.+ TtZz-]*";
    format!("{time}|(?!{is_time}$){name}")
}

fn registry() -> String {
    let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
    let port = ":0*[1-9][0-9]{0,4}";
    format!(r"(?:(?:localhost|{label}(?:\.{label})+|\[[0-9A-Fa-f:]+\])(?:{port})?|{label}{port})")
}

fn repository() -> String {
    let part = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*";
    format!("{part}(?:/{part})*")
}

fn remote() -> String {
    let inside = r"[^\x00-\x1f\x7f]";
    let url = format!(
        r"(?:https?|ssh|git|git\+ssh|ssh\+git|file)://(?:[^:/?#\x00-\x1f\x7f]{{0,19}}@)?(?!-)[^@/?#\x00-\x1f\x7f]*(?:[/?#]{inside}*)?"
    );
    format!("(?!-| )(?!.* $)(?![A-Za-z0-9+_.-]+::)(?:(?!.*://){inside}+|{url})")
}

#[cfg(test)]
mod tests;
