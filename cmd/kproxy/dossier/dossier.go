// Package dossier makes the dossier of a release: what is published and by which rule, the risks of it measured on
// what readers see, the proofs, and the known limits. It is laid out for people who write assessments; it claims no
// conformity with any standard, and names the clauses that ask for its figures.
//
// A dossier is for the operator and assessors: it holds no value of a row, but figures that readers do not get.
package dossier

import (
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
)

// Format is the version of the JSON form.
const Format = 1

// Dossier is about all tables of a configuration, on one snapshot.
type Dossier struct {
	Format   int       `json:"format"`
	At       time.Time `json:"at"`
	Version  string    `json:"kproxy"`
	Database string    `json:"database"` // as clients name it
	// Threshold is the probability of identification that figures are compared with.
	Threshold float64  `json:"threshold"`
	Policies  []Policy `json:"policies"`
	Tables    []Table  `json:"tables"`
	People    []People `json:"people"`
	Clauses   []Clause `json:"clauses"`
	Limits    []string `json:"limits"`
}

// Policy is one that was in force; the newest first.
type Policy struct {
	Number      int64     `json:"number"`
	Fingerprint string    `json:"fingerprint"`
	Accepted    time.Time `json:"accepted"`
	Place       string    `json:"place"` // the machine and the file that it was accepted from
}

// People are tables that are released together, with what an outsider may know, and what that leaves.
type People struct {
	Kind    string   `json:"kind"`
	Tables  []string `json:"tables"`
	Promise string   `json:"promise"`
}

// Table is the release of one table.
type Table struct {
	Name        string `json:"name"`
	State       string `json:"state"`
	Updates     string `json:"updates"`
	GivesAway   string `json:"gives_away"` // what comparing versions tells; empty for guarded updates
	Method      string `json:"method"`
	Constraints string `json:"constraints"`
	K           int    `json:"k"`
	// Columns are those that are published, Dropped the source's that are not.
	Columns []Column `json:"columns"`
	Dropped []string `json:"dropped"`

	state.Figures
	// OffBy bounds how far the sum of weights is off; nil where nothing does.
	OffBy *int `json:"off_by"`
	// Loss is the share of information that is lost, 0 to 1, in a sample of LossRecords; nil where nothing is published, and
	// where the private store is sealed.
	Loss        *float64          `json:"loss"`
	LossRecords int               `json:"loss_records"`
	Risks       []verify.Risk     `json:"risks"`
	Attack      *history.Linkages `json:"attack"`
	Proof       *state.Proof      `json:"proof"` // the last one
	// Versions are the generations of which losses were recorded.
	Versions []Generation `json:"versions"`
	// Audiences are those that see the table, from the finest to the coarsest.
	Audiences []Audience `json:"audiences,omitempty"`
}

// Audience is what an audience sees of a table, whose classes are unions of those of the audience before. What is said
// of it is said as of a table by itself.
type Audience struct {
	state.Audience
	// Constraints are all that hold, also those on columns that it does not see.
	Constraints []string `json:"constraints"`
	Hidden      []string `json:"hidden"`
	Columns     []Column `json:"columns"`
	// Smallest and Largest are the sizes of its classes in rows, 0 without any.
	Smallest int `json:"smallest_class"`
	Largest  int `json:"largest_class"`
	// Loss counts columns that it does not see as lost.
	Loss        *float64          `json:"loss"`
	LossRecords int               `json:"loss_records"`
	Risks       []verify.Risk     `json:"risks"`
	Attack      *history.Linkages `json:"attack"`
}

// Column is one that is published.
type Column struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Role        string   `json:"role"` // empty for kproxy's own
	Form        string   `json:"form"`
	Hierarchy   string   `json:"hierarchy"`
	Constraints string   `json:"constraints"`
	Loss        *float64 `json:"loss"` // nil for what is not generalized
}

// Generation is a release that was made afresh, with when its loss was recorded first and last.
type Generation struct {
	Number int64     `json:"generation"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Loss   float64   `json:"loss"` // at the last of these
}
