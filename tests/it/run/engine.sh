#!/bin/sh
# Stands in for the client of Docker and Podman: notes what it is given, and runs the command on this machine with the
# paths of mounts replaced. A container is a file that is there until it ends or is removed.
here=$(dirname "$0")
engine=$(basename "$0")
echo "$@" >> "$here/calls"
case $1 in
version)
    test ! -e "$here/down" && echo 28.1.1 && exit
    echo "Cannot connect to the daemon" >&2
    exit 1 ;;
image)
    shift 4
    image=$(echo "$1" | tr '/:@' ___)
    test -e "$here/images/$image" || exit 1
    echo "[\"${1%%[:@]*}@sha256:$(printf %064d 7)\"] sha256:$(printf %064d 9)"
    exit ;;
pull)
    case $2 in *absent*) echo "manifest for $2 not found" >&2; exit 1 ;; esac
    mkdir -p "$here/images"
    touch "$here/images/$(echo "$2" | tr '/:@' ___)"
    exit ;;
rm)
    rm -f "$here/containers/$3"
    exit ;;
esac
shift
names= rules= entry=
while [ $# -gt 0 ]; do
    case $1 in
    --rm) shift; continue ;;
    --name)
        name=$2
        mkdir -p "$here/containers" "$here/seen"
        env > "$here/seen/$name.env" ;;
    --mount)
        source=${2#*source=} target=${2#*target=}
        rules="$rules;s|${target%%,*}|${source%%,*}|g" ;;
    --env) names="$names $2" ;;
    --entrypoint) entry=$2 ;;
    -*) ;;
    *) break ;;
    esac
    shift 2
done
image=$1
shift
touch "$here/containers/$name"
for variable in $names; do
    case $variable in *=*) continue ;; esac
    eval "value=\$$variable"
    export "$variable=$(printf '%s' "$value" | sed "$rules")"
done
case $image in *broken*) echo "$engine: Error response from daemon: no such runtime." >&2; exit 125 ;; esac
if [ -z "$entry" ]; then
    echo "entry point of $image: $*"
else
    "$entry" "$@"
fi
code=$?
rm -f "$here/containers/$name"
exit $code
