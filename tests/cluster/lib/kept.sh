# shellcheck shell=bash
# Where what is built is kept.

# A component is kept under the digest of everything that decides its bytes.
key_of() {
    local recipe=()
    [[ ! -e $cluster/go/$1/recipe.sh ]] || recipe=("go/$1/recipe.sh")
    (cd "$cluster" && cat "go/$1"/go.* "go/$1"/*.go lib/components.sh "${recipe[@]}" && echo "$release" && uname -sm) | sha256sum | cut -c1-16
}

# The Go release that builds; without Go, the one that built last, since what it built still serves.
go_release() {
    local file=$cache/.go-release found
    if has go; then
        found=$(cd / && go env GOVERSION)
        [[ ! -w $cache ]] || echo "$found" >"$file"
        echo "$found"
    else
        cat "$file" 2>/dev/null || echo none
    fi
}
release=$(go_release)

kept() {
    printf '%s/%s-%s\n' "$cache" "$1" "$(key_of "$1")"
}
