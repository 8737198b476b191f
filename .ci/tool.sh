# shellcheck shell=bash disable=SC2154
# Tools of cargo in the cache; sourced by `.ci/run`, `.ci/nightly` and `.ci/release`, which set `cache`.

# The exit status of a step that lacks its tool.
SKIPPED=77

# Installs a tool of cargo's into the cache, once a version, and puts it into PATH; what follows the version is for `cargo install`.
tool() {
    local name=$1 version=$2 root=$cache/$1-$2
    shift 2
    if [[ ! -x $root/bin/$name ]]; then
        cargo install --quiet --locked --debug --version "$version" --root "$root" --target-dir "$root/target" "$@" "$name" ||
            { echo "$name $version cannot be installed"; return "$SKIPPED"; }
        rm -rf "$root/target"
    fi
    PATH=$root/bin:$PATH
}

# Installs packages of PyPI into a virtual environment in the cache, once, and puts its programs into PATH: the name of the
# environment, then what is for `pip install`.
python_tools() {
    local venv=$cache/$1
    shift
    if [[ ! -f $venv/whole ]]; then
        rm -rf "$venv"
        { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" && touch "$venv/whole"; } ||
            { echo "pip cannot install $*"; return "$SKIPPED"; }
    fi
    PATH=$venv/bin:$PATH
}

# Leaves mdBook in a folder, without what watches and serves, which nothing here uses.
mdbook_into() {
    # shellcheck disable=SC2153
    tool mdbook "$MDBOOK" --no-default-features --features search && ln -sf "$cache/mdbook-$MDBOOK/bin/mdbook" "$1/mdbook"
}
