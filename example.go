// Package kproxy holds what the repository's root offers to its programs: the
// example configuration, which the demonstration runs on, so that what is
// documented is what is shown.
package kproxy

import _ "embed"

// ExampleConfig is the text of config.example.yaml.
//
//go:embed config.example.yaml
var ExampleConfig []byte
