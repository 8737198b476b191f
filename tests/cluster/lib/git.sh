# shellcheck shell=bash
# A git server over HTTP, which pods reach too.
