//go:build tools

// Package tools lists the program that this module pins.
package tools

import _ "golang.org/x/perf/cmd/benchstat"
