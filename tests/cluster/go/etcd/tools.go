//go:build tools

// Package tools lists the program that this module pins.
package tools

import _ "go.etcd.io/etcd/server/v3"
