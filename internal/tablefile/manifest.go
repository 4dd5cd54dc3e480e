package tablefile

import (
	"encoding/json"
	"time"

	"github.com/kproxy/kproxy/internal/verify"
)

// Manifest says what a file is. It stands beside it, under its name with .json behind it. It holds no
// value of a row.
type Manifest struct {
	// Table is schema.relation.
	Table string `json:"table"`
	// Audience is the one that the release is for; empty for the table's own readers.
	Audience string `json:"audience,omitempty"`
	File     string `json:"file"`
	Format   Format `json:"format"`
	// Bytes is the size of the file, and SHA256 its digest in hexadecimal digits.
	Bytes   int64    `json:"bytes"`
	SHA256  string   `json:"sha256"`
	Rows    int64    `json:"rows"`
	Columns []Column `json:"columns"`
	// Policy is the fingerprint of the policy that the release was made by.
	Policy string `json:"policy"`
	// Constraints are those that the release meets, as error messages write them, and Promise what they
	// mean for tables about the same persons.
	Constraints []string `json:"constraints"`
	Promise     string   `json:"promise,omitempty"`
	// Together are the tables that were released together with it, itself included.
	Together []string `json:"together,omitempty"`
	// Position, Generation and Updates are those of a release that is served: the place in the source's
	// write-ahead log whose changes it shows, the number of the release, and when changes become visible.
	Position   string `json:"position,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Updates    string `json:"updates,omitempty"`
	// Proof is what was verified of the file. Of a release that is served, Proved is when 'kproxy verify' or
	// the process itself has verified this generation last.
	Proof  *Proof     `json:"proof,omitempty"`
	Proved *time.Time `json:"proved,omitempty"`
	// Version is that of kproxy, and At the time.
	Version string    `json:"kproxy"`
	At      time.Time `json:"at"`
}

// Proof is a list of promises that were verified.
type Proof struct {
	Passed bool           `json:"passed"`
	Checks []verify.Check `json:"checks"`
}

// Text is the manifest as JSON.
func (m Manifest) Text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// ManifestPath is where the manifest of a file is.
func ManifestPath(path string) string { return path + ".json" }
