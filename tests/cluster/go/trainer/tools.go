//go:build tools

// Package tools lists the program that this module pins.
package tools

import _ "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"
