# shellcheck shell=bash
# The archives of the images that every cluster has, made once per content and kept beside the programs.

# Prints the archive of image $1; what it is made of decides its name.
image_of() {
    case $1 in
        pause)
            packed pause "$(key_of pause)" --name localhost/pause:1 --entrypoint /pause -- "$(kept pause)/bin/pause:/pause"
            ;;
        argoexec)
            packed argoexec "$(key_of argo)" --name localhost/argoexec:1 --entrypoint argoexec -- \
                "$(kept argo)/bin/argoexec:/bin/argoexec"
            ;;
        busybox)
            local program links
            program=$(command -v busybox)
            mapfile -t links < <("$program" --list | grep -vx busybox | sed 's|.*|@busybox:/bin/&|')
            packed busybox "$(sha256sum <"$program" | cut -c1-16)" --name docker.io/library/busybox:1 \
                --name localhost/busybox:1 -- "$program:/bin/busybox" "${links[@]}"
            ;;
    esac
}

packed() {
    local name=$1 key=$2 archive
    shift 2
    archive=$cache/image-$name-$key-$(sha256sum <"$cluster/image" | cut -c1-8).tar
    if [[ ! -e $archive ]]; then
        rm -f "$cache/image-$name"-*.tar
        "$cluster/image" archive --output "$archive" "$@"
    fi
    echo "$archive"
}
