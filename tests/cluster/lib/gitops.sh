# shellcheck shell=bash
# Flux and Argo CD: the controllers that bring a git repository into the cluster.
