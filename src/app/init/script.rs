//! The commands of a check, which are the same on all CI systems. Nothing of a project or change is part of their text: it is in variables.

use super::checksums::Checksums;

/// The version to install.
pub(super) const VERSION: &str = crate::app::start::VERSION;

/// Returns where the archives of a release are.
pub(super) fn downloads() -> String {
    format!("{}/releases/download/v{VERSION}", env!("CARGO_PKG_REPOSITORY"))
}

/// Succeeds in the folder of the project if a change, which begins at `$SINCE`, has no file there, and not the one that describes the
/// check. A spec carries files of its project alone.
pub(super) const IS_UNCHANGED: &str =
    r#"[ -n "$SINCE" ] && git diff --quiet "$SINCE...HEAD" -- . ":(top,literal)$CHECK""#;

/// Compares the manifests with the specs.
pub(super) const COMPILE: &str = r#"kubebench compile --check ${SINCE:+--since="$SINCE"}"#;

/// Shows what a change starts.
pub(super) const PLAN: &str = r#"kubebench plan --since="$SINCE""#;

/// Evaluates the gates. The default branch fails while a regression is open there; a change fails for its own.
pub(super) const GATE: &str = r#"kubebench gate --fetch --allow-empty ${SINCE:+--only-new --since="$SINCE"}"#;

const FETCH: &str = "curl --fail --silent --show-error --location --retry 3 --remote-name";

/// Returns the commands that fetch, verify and unpack the program into a folder of its own, `$PWD/$archive`; `attested` is how the system
/// proves who built the archive.
pub(super) fn install(checksums: Option<&Checksums>, attested: Option<&str>) -> String {
    let verify = match checksums {
        Some(checksums) => format!(
            "# These checksums are part of this repository: no server can exchange the archive.\n\
             sha256sum --check --strict --ignore-missing <<'SHA256SUMS'\n{}SHA256SUMS\n",
            checksums.text()
        ),
        None => format!(
            "# From the same server as the archive, so they show only that the download is complete{}.\n\
             # Stronger: `kubebench init --checksums SHA256SUMS` writes them into this file.\n\
             {FETCH} \"$KUBEBENCH_DOWNLOADS/SHA256SUMS\"\n\
             sha256sum --check --strict --ignore-missing SHA256SUMS\n{}",
            if attested.is_some() { "; the attestation shows who built it" } else { "" },
            attested.unwrap_or_default()
        ),
    };
    format!(
        "cd \"$(mktemp -d)\"\n\
         archive=kubebench-$KUBEBENCH_VERSION-$(uname -m)-unknown-linux-gnu\n\
         {FETCH} \"$KUBEBENCH_DOWNLOADS/$archive.tar.gz\"\n\
         {verify}\
         tar --extract --gzip --file \"$archive.tar.gz\"\n"
    )
}
