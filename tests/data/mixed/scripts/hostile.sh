#!/bin/sh
# What Argo, Flux and the kubelet would each like to expand.
echo '{{workflow.name}} {{=sprig.env("HOME")}}' "${HOME}" "$(hostname)" $$
