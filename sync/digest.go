package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// storeLayout is raised whenever the tables of the private store change shape,
// so that an older store is published afresh.
const storeLayout = 5

// packedLayout is raised likewise where only the tables of packed releases do. 3 divided
// classes into sections.
const packedLayout = 3

// weighedLayout is raised likewise where only those of releases whose weights lie apart do.
// 1 moved the weights of guarded tables that stand alone out of their rows.
const weighedLayout = 1

// digest identifies everything that a table's store and release depend on:
// the source table, its key and stored columns, the policy and the published
// shape. A store with another digest does not fit and is published afresh;
// columns of the source that are not stored may come and go, and identifying
// ones leave the policy with them.
func digest(p catalog.Publication, stored []catalog.Column) (string, error) {
	p.Policy.Columns = slices.DeleteFunc(slices.Clone(p.Policy.Columns), func(c catalog.ColumnPolicy) bool { return c.Role == catalog.Identifying })
	return formerDigest(p, stored)
}

// formerDigest is what stores have that were made when identifying columns counted.
func formerDigest(p catalog.Publication, stored []catalog.Column) (string, error) {
	// What is published does not depend on when, nor on when it is renewed.
	guarded, weighed := p.Policy.Updates.Mode == catalog.Guarded, 0
	if p.WeighsApart() {
		weighed = weighedLayout
	}
	mode := digestedMode(guarded)
	if p.Policy.IsMirrored() {
		mode = catalog.Mirrored
	}
	p.Policy.Updates, p.Policy.Reanonymize = catalog.Updates{Mode: mode}, 0
	p.Policy.Joinable, p.Policy.Summary = nil, catalog.SummaryView
	packed := 0
	if !guarded && !p.Policy.IsMirrored() && len(p.Components()) <= 1 {
		packed = packedLayout
	}
	text, err := json.Marshal(struct {
		Layout     int
		Packed     int `json:",omitempty"`
		Weighed    int `json:",omitempty"`
		Source     catalog.OID
		Key        []string
		Stored     []catalog.Column
		Policy     catalog.TablePolicy
		Attributes []catalog.Attribute
		Sensitive  []catalog.SensitiveColumn
		Published  []catalog.PublishedColumn
		Membership *catalog.Membership `json:",omitempty"`
	}{storeLayout, packed, weighed, p.Relation.OID, p.Relation.Key, stored, p.Policy, p.Attributes, p.Sensitive, p.Columns, p.Membership})
	if err != nil {
		return "", fmt.Errorf("digesting the policy of %s: %w", p.Policy.Table, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// digestedMode is the number of a way of updating in digests, which stores keep: it is
// what it was when immediate updates were the default, and the zero UpdateMode.
func digestedMode(guarded bool) catalog.UpdateMode {
	if guarded {
		return 1
	}
	return 0
}

// fits tells whether a generation was made for the policy and the table as they are.
func (t *layout) fits(g generation) bool { return g.digest == t.digest || g.digest == t.former }

// samePublication tells whether two publications have the same store and release.
func samePublication(a, b catalog.Publication) bool {
	if a.Relation.OID == 0 || b.Relation.OID == 0 {
		return a.Relation.OID == b.Relation.OID
	}
	one, err := newTable(a)
	if err != nil {
		return false
	}
	other, err := newTable(b)
	return err == nil && one.layout.digest == other.layout.digest
}
