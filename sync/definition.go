package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// The stream carries rows, not definitions: it does not tell that a partition was
// attached, that a rewrite changed values in place, or that a label of an enumeration
// was renamed. So what a table is gets digested, from the catalogs as the transaction
// sees them; another digest means that the table has to be compared with its source.
// What keeps the policy from fitting halts the table.

// definition is what a table is, beside its rows.
type definition struct {
	root   uint32   // the relation itself
	leaves []uint32 // the relations that hold its rows, ascending: itself, or its partitions
	states []string // of the leaves: their files and replica identities
	by     []int64  // the transactions that gave them these; not part of the digest
	labels []string // of the enumerations of quasi-identifying columns
	rest   string   // digest of all else
	sent   sentList // the columns that the publication sends, part of rest
	// bound is what was accepted of its columns, with the partitions that it has; not part of
	// the digest.
	bound accept.Table
}

// text stands for all of it: a digest, the relation, and the labels.
func (d definition) text() string {
	labels, _ := json.Marshal(d.labels) // strings always can be
	return fmt.Sprintf("%s/%d %s", d.digest(), d.root, labels)
}

// rootOf is the relation of which a text was stored; 0 where it does not tell.
func rootOf(stored string) catalog.OID {
	first, _, _ := strings.Cut(stored, " ")
	_, root, _ := strings.Cut(first, "/")
	oid, _ := strconv.ParseUint(root, 10, 32) // 0 where it is none
	return catalog.OID(oid)
}

// digest stands for all but the labels.
func (d definition) digest() string {
	text := d.rest
	for i, leaf := range d.leaves {
		text += fmt.Sprintf(" %d %s", leaf, d.states[i])
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// relabeled tells whether a label that was there when the text was stored is not there
// any more. The release shows generalized columns as texts, which do not follow.
func (d definition) relabeled(stored string) bool {
	_, list, _ := strings.Cut(stored, " ")
	var before []string
	_ = json.Unmarshal([]byte(list), &before)
	return slices.ContainsFunc(before, func(label string) bool { return !slices.Contains(d.labels, label) })
}

// differs is what has to be done where the definition is not the stored one.
func (s sourceTable) differs(now definition, stored string) *TableError {
	e := &TableError{
		Table: s.layout.name(), Fix: fixResync, resync: true,
		What: "its definition or its place in the publication has changed, about which the stream says nothing",
	}
	if now.relabeled(stored) {
		e.What, e.afresh = "labels of an enumeration were renamed", true
		if s.layout.isGuarded() {
			e.Fix, e.resync = fixLineage, false
		}
	}
	return e
}

// grown are the leaves that came to those of an earlier definition; false where
// something else has changed.
func (d definition) grown(before definition) ([]uint32, bool) {
	if d.rest != before.rest {
		return nil, false
	}
	var more []uint32
	known := 0
	for i, leaf := range d.leaves {
		at := slices.Index(before.leaves, leaf)
		switch {
		case at < 0:
			more = append(more, leaf)
		case before.states[at] != d.states[i]:
			return nil, false
		default:
			known++
		}
	}
	return more, known == len(before.leaves)
}
