//go:build tools

// Package tools lists the program that this module pins.
package tools

import _ "sigs.k8s.io/kueue/cmd/kueue"
