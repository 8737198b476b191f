#!/bin/sh
# Installs kubebench on Linux with glibc 2.17 or later, or on macOS with Apple silicon:
#
#   curl -fsSL https://github.com/kubebench/kubebench/releases/latest/download/install.sh | sh
#
# It writes one file, `kubebench` in $KUBEBENCH_INSTALL, whole or not at all. Before that, it compares the archive with SHA256SUMS,
# verifies GitHub's attestation if `gh` is installed and logged in, and runs `kubebench --version`.
#
#   KUBEBENCH_INSTALL    the folder of the program (default: ~/.local/bin)
#   KUBEBENCH_VERSION    the version, such as 0.1.0 (default: the latest)
#   KUBEBENCH_DOWNLOADS  another address for the files of a release, such as a mirror
set -eu

repository=kubebench/kubebench

fail() {
    echo "error: $*" >&2
    exit 1
}

fetch() {
    curl --fail --silent --show-error --location --proto-redir =https --retry 3 --output "$scratch/$1" "$downloads/$1" ||
        fail "cannot download $downloads/$1; nothing was installed"
}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$scratch/$1" | cut -d' ' -f1
}

# GitHub keeps attestations of what it serves itself.
attest() {
    case $downloads in https://github.com/*) ;; *) return 0 ;; esac
    if ! command -v gh >/dev/null || ! gh auth status >/dev/null 2>&1; then
        echo "note: only the checksum was verified; who built the archive is verified if gh is installed and logged in"
        return 0
    fi
    gh attestation verify "$scratch/$1" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" ||
        fail "gh cannot verify who built $1; nothing was installed"
}

# All of it is a function, so that a script that arrives in part does nothing.
main() {
    folder=${KUBEBENCH_INSTALL:-$HOME/.local/bin}
    releases=https://github.com/$repository/releases
    if [ -n "${KUBEBENCH_DOWNLOADS:-}" ]; then
        downloads=${KUBEBENCH_DOWNLOADS%/}
    elif [ -n "${KUBEBENCH_VERSION:-}" ]; then
        downloads=$releases/download/v$KUBEBENCH_VERSION
    else
        downloads=$releases/latest/download
    fi
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
        Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
        Darwin-arm64) target=aarch64-apple-darwin ;;
        *) fail "there is no program for $(uname -s) on $(uname -m); build it from source: https://github.com/$repository#install" ;;
    esac
    command -v curl >/dev/null || fail 'curl is missing; install it'

    if ! mkdir -p "$folder" || ! scratch=$(mktemp -d "$folder/.kubebench.XXXXXX"); then
        fail "cannot write to $folder; set KUBEBENCH_INSTALL to a folder that you can write to"
    fi
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 1' HUP INT TERM

    fetch SHA256SUMS
    # The digest and the name of the one archive for this machine.
    line="^\([0-9a-f]\{64\}\)  \(kubebench-[0-9A-Za-z.+-]*-$target\)\.tar\.gz\$"
    # shellcheck disable=SC2046
    set -- $(sed -n "s/$line/\1 \2/p" "$scratch/SHA256SUMS")
    [ $# -eq 2 ] || fail "$downloads/SHA256SUMS does not name one archive for $target; nothing was installed"
    fetch "$2.tar.gz"
    [ "$(sha256 "$2.tar.gz")" = "$1" ] || fail "$2.tar.gz does not match SHA256SUMS; nothing was installed"
    attest "$2.tar.gz"

    tar -xzf "$scratch/$2.tar.gz" -C "$scratch" "$2/kubebench" || fail "$2.tar.gz has no program; nothing was installed"
    version=$("$scratch/$2/kubebench" --version) ||
        fail "the program does not run here, so it was not installed; it needs glibc 2.17 or later, which Alpine Linux lacks:" \
            "use the image ghcr.io/$repository, or build it from source: https://github.com/$repository#install"
    mv -f "$scratch/$2/kubebench" "$folder/kubebench"
    echo "$version is installed in $folder"

    found=$(command -v kubebench) || found=
    if [ -z "$found" ]; then
        echo "add it to your PATH: export PATH=\"$folder:\$PATH\""
    elif [ "$found" != "$folder/kubebench" ]; then
        echo "note: $found comes first in your PATH"
    fi
}

main
