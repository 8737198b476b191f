//go:build tools

// Package tools lists the program that this module pins.
package tools

import _ "github.com/argoproj/argo-cd/v3/cmd"
