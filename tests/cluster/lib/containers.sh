# shellcheck shell=bash
# containerd with its images. Nothing is pulled: a name that was not imported fails at once, also with a network.

ctr() {
    command ctr --address "$state/containerd/containerd.sock" --namespace k8s.io "$@"
}

ensure_containerd() {
    is_alive containerd && return 0
    configure_pod_network
    cat >"$run/containerd.toml" <<END
version = 2
root = "$run/containerd"
state = "$state/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "$state/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "$inner"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$cni"
    conf_dir = "$run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$(snapshotter)"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
END
    # Every registry is behind a proxy that is not there.
    HTTP_PROXY=http://$inner:9 HTTPS_PROXY=http://$inner:9 NO_PROXY='' \
        ensure containerd "$(command -v containerd)" --config "$run/containerd.toml" --log-level warn
    await 20 'answer of containerd' ctr version
}

# Layers are stacked by the kernel where the file system allows that; in a container it often does not.
snapshotter() {
    local probe=$run/probe kind=native
    mkdir -p "$probe"/{lower,upper,work,merged}
    if unshare --mount mount -t overlay overlay -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" \
        "$probe/merged" 2>/dev/null; then
        kind=overlayfs
    fi
    rm -rf "$probe"
    echo "$kind"
}

# Imports the OCI archives that are given and those of the cluster, each once.
import_images() {
    local archive mark
    for archive in "$@"; do
        mark=$run/images/$(sha256sum <"$archive" | cut -c1-16)
        [[ ! -e $mark ]] || continue
        ctr images import --all-platforms "$archive" >>"$run/log/images.log" 2>&1 ||
            die "$archive cannot be imported; see $run/log/images.log"
        mkdir -p "$run/images"
        touch "$mark"
    done
}
