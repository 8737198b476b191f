//go:build tools

// Package tools lists what this module pins: controller-gen, and the types of Volcano that it reads.
package tools

import (
	_ "sigs.k8s.io/controller-tools/cmd/controller-gen"
	_ "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)
