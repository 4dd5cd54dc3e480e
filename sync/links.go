package sync

import (
	"encoding/json"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// The lineage of a guarded table goes on where only its audiences change: each sees one of the releases that follow
// it, its links (catalog.Link), or a new one behind all others. A link that nobody sees any more is kept as it is, but for
// its view, since what comes behind it is made of its classes, and since its readers may have kept what they saw. So a table in
// memory has more audiences than the policy: newTableOf makes it.

// newTableOf is a table that goes on by what the store has of its lineage, for the policy in p.
func newTableOf(p catalog.Publication, of *catalog.Lineage) (*table, error) {
	t, err := newTable(p)
	if err != nil || of == nil {
		return t, err
	}
	linked, err := newTable(p.Linked(*of))
	if err != nil {
		return nil, err
	}
	linked.layout.digest, linked.layout.former, linked.layout.promise = t.layout.digest, t.layout.former, t.layout.promise
	linked.layout.lineage, linked.layout.configured = of, p
	return linked, nil
}

// asConfigured is the publication by the policy, without links that nobody sees.
func (t *layout) asConfigured() catalog.Publication {
	if t.lineage != nil {
		return t.configured
	}
	return t.publication
}

// lineageDigest is the digest of all that a lineage depends on but its audiences, and empty where there is none.
func lineageDigest(p catalog.Publication, stored []catalog.Column) (string, error) {
	if p.Policy.Updates.Mode != catalog.Guarded {
		return "", nil
	}
	p.Policy.Audiences, p.Sensitive = nil, nil
	return digest(p, stored)
}

// storedLineage is what the store has of the table's lineage, as text: NULL for a table that has none.
func (t *layout) storedLineage() (*string, error) {
	if t.isMirrored() || !t.isGuarded() {
		return nil, nil
	}
	of := t.publication.Lineage(t.lineageDigest)
	if t.lineage != nil {
		of = *t.lineage
	}
	text, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("writing the lineage of %s: %w", t.name(), err)
	}
	stored := string(text)
	return &stored, nil
}

// readLineage reads a lineage from the store; false where it has none that is understood.
func readLineage(text string) (of catalog.Lineage, ok bool) {
	err := json.Unmarshal([]byte(text), &of)
	return of, err == nil && of.Table != ""
}

// isAsConfigured reports whether the links are those that a new lineage would have.
func (t *layout) isAsConfigured(of catalog.Lineage) bool {
	one, err := json.Marshal(of)
	other, failed := json.Marshal(t.publication.Lineage(t.lineageDigest))
	return err == nil && failed == nil && string(one) == string(other)
}
