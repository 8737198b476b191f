# shellcheck shell=bash
# A git server over HTTP that this machine and pods reach: http://10.96.0.20/NAME.git for anybody, and https with the
# token in `git/token` and the authority in `keys/ca.crt`. A push to a name that is not there makes the repository.

ensure_git() {
    is_alive git-server && return 0
    ensure_address "$git_host"
    mkdir -p "$run/git/repositories"
    if [[ ! -e $run/keys/git.crt ]]; then
        sign "$run/keys" git /CN=git $'subjectAltName=IP:'"$git_host"
        token >"$run/git/token"
    fi
    require_port "$git_host" 80
    require_port "$git_host" 443
    ensure git-server "$(command -v python3)" "$cluster/lib/git-server" "$run/git/repositories" "$git_host" \
        "$run/keys/git.crt" "$run/keys/git.key" "$run/git/token"
}

git_is_ready() {
    listens "$git_host" 80
}
