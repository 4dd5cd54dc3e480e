package sync

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// keys finds records by the texts of their rows' keys. Where rows have no key, all their
// values are one, and equal rows are possible: which of them is found makes no
// difference.
type keys struct {
	first   map[string]incremental.RecordID
	further map[string][]incremental.RecordID // nil where keys are unique
}

func newKeys(repeats bool) keys {
	k := keys{first: make(map[string]incremental.RecordID)}
	if repeats {
		k.further = make(map[string][]incremental.RecordID)
	}
	return k
}

func (k keys) find(key string) (incremental.RecordID, bool) {
	id, known := k.first[key]
	return id, known
}

// add notes a record; false where another one has its key and must not.
func (k keys) add(key string, id incremental.RecordID) bool {
	if _, taken := k.first[key]; !taken {
		k.first[key] = id
		return true
	}
	if k.further == nil {
		return false
	}
	k.further[key] = append(k.further[key], id)
	return true
}

// remove forgets a record of that key.
func (k keys) remove(key string, id incremental.RecordID) {
	others := k.further[key]
	if k.first[key] == id {
		if len(others) == 0 {
			delete(k.first, key)
			return
		}
		k.first[key] = others[0]
		others = others[1:]
	} else if i := slices.Index(others, id); i >= 0 {
		others = slices.Delete(others, i, i+1)
	}
	if len(others) == 0 {
		delete(k.further, key)
		return
	}
	k.further[key] = others
}

func (k keys) clear() {
	clear(k.first)
	clear(k.further)
}
