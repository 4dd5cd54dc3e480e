package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// storeLayout is raised whenever the tables of the private store change shape,
// so that an older store is published afresh.
const storeLayout = 1

// digest identifies everything that a table's store and release depend on:
// policy, source columns, key and published shape. A store with another digest
// does not fit and is published afresh.
func digest(p catalog.Publication) (string, error) {
	text, err := json.Marshal(struct {
		Layout      int
		Publication catalog.Publication
	}{storeLayout, p})
	if err != nil {
		return "", fmt.Errorf("digesting the policy of %s: %w", p.Policy.Table, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
