// Package state holds the model of what state a database's releases are in. 'kproxy status'
// writes it, with --json under the keys given here, and the console shows it.
package state

import (
	"fmt"
	"time"
)

// The states of a protected table besides those of its release (sync.TableState).
const (
	// Withdrawn means that readers get nothing of the table, although its release may be well: a
	// check has found something about it, or replication has stopped.
	Withdrawn = "withdrawn"
	// Withheld means that the release follows its source and is empty, since the records
	// cannot meet their constraints or wait. Readers get an error, and not an empty table.
	Withheld = "withheld"
	// Unknown means that the database does not answer.
	Unknown = "unknown"
)

// Need is something that waits for the operator.
type Need struct {
	What string `json:"what"`
	Fix  string `json:"fix"`
}

// Table is the release of one protected table.
type Table struct {
	Name string `json:"table"`
	// State is unpublished, published, withheld, halted, withdrawn or unknown. Nothing of a
	// withheld table can be published, and Problem says why. A halted or withdrawn table is not
	// served until the operator has done something: Problem and Fix say why and what.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
	// Asked is the operator's request that is not done yet: rebuild, resync or nothing.
	Asked string `json:"asked,omitempty"`
	// Work is how far a release is that is being made, nil where none is.
	Work *Work `json:"work,omitempty"`
	// Position is the place in the source's write-ahead log up to which the private store has the
	// table's changes.
	Position string `json:"position,omitempty"`
	// Updates is the mode that the release was made in: immediate or guarded, or mirrored for a table that
	// is not protected.
	Updates string `json:"updates"`
	// GivesAway says what readers learn by comparing versions. It is empty where that is no more
	// than from one release.
	GivesAway string `json:"gives_away,omitempty"`
	// Figures are nil where the database does not answer.
	*Figures
	// Audiences are those that see the table, from the finest to the coarsest.
	Audiences []Audience `json:"audiences,omitempty"`
	// Proof is the last one, nil before the first.
	Proof *Proof `json:"proof"`
}

// Audience is what an audience sees of a table.
type Audience struct {
	Name string `json:"audience"`
	// State is that of the table, unless the audience sees nothing of what the table's own readers see: then it is
	// withheld, and Problem says why, or unpublished until it is ready.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	// Classes are unions of the table's classes.
	Classes int `json:"classes"`
	// Rows and Withheld are those of Figures, counted with the table's.
	Rows     int64 `json:"rows"`
	Withheld int64 `json:"withheld"`
	// Earlier says that the audience sees what was made before, until the next release is ready.
	Earlier bool `json:"earlier_release,omitempty"`
}

// Sees reports whether readers of the audience get something.
func (a Audience) Sees() bool { return a.State == "published" }

// Mirrored reports whether the table is not protected: readers have its rows as they are.
func (t Table) Mirrored() bool { return t.Updates == "mirrored" }

// Work is how far a process is that makes a release, or a difference to the source.
type Work struct {
	// Stage says what is done at the moment, as "reading"; it is "waiting" before the first one.
	Stage string `json:"stage"`
	// Percent is how much of the stage is done, nil where the whole is not known. Records counts
	// those that are done, to two digits.
	Percent *int `json:"percent,omitempty"`
	Records int  `json:"records,omitempty"`
	// Left is how many seconds the rest of the stage takes at the rate so far, 0 where unknown.
	Left float64 `json:"seconds_left,omitempty"`
	// Problem is what keeps it from going on, and Fix what ends that. They are empty if nothing does.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// String says how far it is.
func (w *Work) String() string {
	switch {
	case w.Problem != "":
		return "blocked"
	case w.Percent == nil && w.Records == 0:
		return w.Stage
	case w.Percent == nil:
		return fmt.Sprintf("%s, about %d records", w.Stage, w.Records)
	}
	text := fmt.Sprintf("%s %d%%", w.Stage, *w.Percent)
	if w.Left > 0 {
		text += ", " + time.Duration(w.Left*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return text
}

// Refusal says that readers are refused, since when and why.
type Refusal struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
	Fix   string    `json:"fix"`
}

// Figures are the counts of a release. All are 0 where nothing has been published yet.
type Figures struct {
	Generation int64 `json:"generation"`
	Records    int64 `json:"records"` // in the private store
	Rows       int64 `json:"rows"`    // published
	Classes    int64 `json:"classes"` // of all parts
	// Withheld counts the records that are not published: those that wait and those that
	// have expired; in an immediate table all of them.
	Withheld int64 `json:"withheld"`
	// CountedAt is when they were counted, nil for just now. Uncounted says that they were not since the
	// release was made.
	CountedAt *time.Time `json:"counted_at,omitempty"`
	Uncounted bool       `json:"uncounted,omitempty"`

	// The rest is 0 or nil unless the table is guarded.

	// Waiting counts the records that wait to be published, the oldest since OldestWaiting, and
	// Stale those that are published as they were, the oldest since OldestStale.
	Waiting       int64      `json:"waiting"`
	OldestWaiting *time.Time `json:"oldest_waiting"`
	Stale         int64      `json:"stale"`
	OldestStale   *time.Time `json:"oldest_stale"`
	// Ghosts counts the published rows whose records are deleted, and Expired the records that
	// will never be published.
	Ghosts  int64 `json:"ghosts"`
	Expired int64 `json:"expired"`
	// Untold is by how many rows counts by weights are too high; below 0, too low.
	Untold int64 `json:"untold"`
	// Returned counts the records that left, came back and took their rows back.
	Returned int64 `json:"returned"`
}

// Proof is what the verifier found last of a table.
type Proof struct {
	At     time.Time `json:"at"`
	Passed bool      `json:"passed"`
	// Generation is that of the release that was proved. Earlier says that readers see a later
	// release, of which nothing is proved.
	Generation int64 `json:"generation"`
	Earlier    bool  `json:"earlier_release"`
	// Checks are for the console.
	Checks []Check `json:"checks,omitempty"`
}

// Failed counts the checks that did not pass.
func (p Proof) Failed() int {
	failed := 0
	for _, c := range p.Checks {
		if !c.Passed {
			failed++
		}
	}
	return failed
}

// Check is one promise of a release.
type Check struct {
	Name       string   `json:"name"`
	Passed     bool     `json:"passed"`
	Violations int64    `json:"violations"`
	Examples   []string `json:"examples,omitempty"`
}

// View is a readable relation, or a view over protected tables, that the configuration lists.
type View struct {
	Name string `json:"view"`
	// State is published or withdrawn, and Problem says why it is withdrawn. A view is withdrawn
	// as well while a table whose rows it shows is not published.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	// Omitted counts the columns of its definition that are not published.
	Omitted int `json:"omitted"`
	// Audiences are what audiences see of a view over protected tables, from the finest; nil of what all readers see alike.
	Audiences []AudienceView `json:"audiences,omitempty"`
}

// AudienceView is what an audience sees of a view; see View.
type AudienceView struct {
	Audience string `json:"audience"`
	State    string `json:"state"`
	Problem  string `json:"problem,omitempty"`
	Omitted  int    `json:"omitted"`
}

// Replication is how far the releases are behind the source.
type Replication struct {
	Slot string `json:"slot"`
	// Position is the place in the source's write-ahead log that the releases show, and Since
	// when they do. Behind counts the bytes that the server has logged since then, of all
	// databases.
	Position string    `json:"position"`
	Since    time.Time `json:"since"`
	Behind   int64     `json:"behind_bytes"`
	// Exists says that the slot is there, and Active that a kproxy reads it.
	Exists bool `json:"slot_exists"`
	Active bool `json:"slot_active"`
	// Confirmed is the place up to which kproxy has released the log, and Retained the number of
	// bytes of it that the server keeps for the slot.
	Confirmed string `json:"confirmed"`
	Retained  int64  `json:"retained_bytes"`
	// WALStatus is pg_replication_slots.wal_status. Safe is how many bytes can be logged until
	// the slot is in danger of being lost, nil where nothing bounds that.
	WALStatus string `json:"wal_status"`
	Safe      *int64 `json:"safe_wal_bytes"`
	// Applier is the kproxy that applies changes, nil where none does. Processes counts those that
	// serve.
	Applier   *Applier `json:"applier"`
	Processes int      `json:"processes"`
	// Away says why the source, in a database of its own, could not be asked; empty where it was. What is
	// told of its log, its slot and the applier is then not known.
	Away string `json:"source_away,omitempty"`
	// Standby is what the source is, where the configuration names its primary; nil where it does not, and while
	// the source is away.
	Standby *Standby `json:"source_standby,omitempty"`
}

// Standby is a source that is, or was, a physical standby.
type Standby struct {
	// Promoted says that it is a primary itself by now.
	Promoted bool `json:"promoted"`
	// Receives says that it is connected to its primary, and Replayed when what it has replayed last was committed
	// there, nil where it has replayed no commit yet.
	Receives bool       `json:"receives"`
	Replayed *time.Time `json:"replayed"`
	// Primary says why kproxy could not ask the primary; empty where it could.
	Primary string `json:"primary_away,omitempty"`
}

// Applier is the session by which a kproxy applies changes.
type Applier struct {
	PID     int32  `json:"pid"`     // of the server process
	Address string `json:"address"` // of the kproxy, empty for the server's own machine
	// Since is when it connected. It may have followed another kproxy at first.
	Since time.Time `json:"since"`
}
