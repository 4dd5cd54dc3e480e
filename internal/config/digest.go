package config

import (
	"crypto/sha256"
	"slices"
)

// digest tells the contents of files apart that are named in a configuration: a
// certificate that is renewed under its path makes the configuration another one. It is
// zero where no file was looked at.
type digest [sha256.Size]byte

// add takes one more file's contents in.
func (d *digest) add(text []byte) { *d = sha256.Sum256(slices.Concat(d[:], text)) }
