// Package config reads kproxy's configuration: YAML in, settings and a
// [catalog.Policy] out. It is the only package that knows YAML.
//
// Decoding is strict: what is not understood is a mistake, never ignored. All
// mistakes are reported at once, each with its line and what to write instead.
// Scalars are taken as they stand in the text, so that a label or a name
// written as no, null, 1 or 02139 is that text. Anchors and aliases are read
// within bounds; merge keys and explicit tags are refused.
//
// Entry points:
//   - [Load] and [Parse]: a server's configuration.
//   - [LoadPolicy] and [ParsePolicy]: a policy for one CSV file.
//   - [Errors]: all mistakes of a file.
package config
