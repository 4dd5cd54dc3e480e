package rewrite

import (
	"testing"
)

// TestKeysTellTheirPartsApart has parts of keys that are alike when they stand side by side.
func TestKeysTellTheirPartsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, write := range []func(k *key){
		func(*key) {},
		func(k *key) { k.strings("a", "b") },
		func(k *key) { k.strings("ab") },
		func(k *key) { k.strings("ab", "") },
		func(k *key) { k.strings("", "ab") },
		func(k *key) { k.strings("b", "a") },
		func(k *key) { k.flags(true) },
		func(k *key) { k.flags(false) },
		func(k *key) { k.flags(true, false) },
		func(k *key) { k.number(0) },
		func(k *key) { k.number(1) },
		func(k *key) { k.number(-1) },
		func(k *key) { k.tables([]temporaryTable{{name: "a"}}) },
		func(k *key) { k.tables([]temporaryTable{{name: "a", dropped: true}}) },
		func(k *key) { k.tables([]temporaryTable{{name: "a"}, {name: "b"}}) },
		func(k *key) { k.strings("a"); k.flags(false) },
		func(k *key) { k.strings("true"); k.strings("true") },
		func(k *key) { k.strings("true"); k.flags(true) },
	} {
		var k key
		write(&k)
		sum := k.sum()
		if other, same := seen[sum]; same {
			t.Errorf("%d and %d have the same key", i, other)
		}
		if seen[sum] = i; (sum == "") != (i == 0) {
			t.Errorf("%d has the key %q", i, sum)
		}
	}
}

// TestEveryDetailOfTheStackIsInTheKey changes one thing that an undone level puts back.
func TestEveryDetailOfTheStackIsInTheKey(t *testing.T) {
	t.Parallel()
	session := func(change func(*kept)) *Session {
		found := kept{level: 1, action: actionSetLocal, prior: value{text: "a"}, masked: value{text: "b"}}
		change(&found)
		s := &Session{path: setting{now: value{text: "c"}, stack: []kept{found}}, levels: []nesting{{}}}
		return s.keyed()
	}
	seen := make(map[string]int)
	for i, change := range []func(*kept){
		func(*kept) {},
		func(k *kept) { k.level = 2 },
		func(k *kept) { k.action = actionSet },
		func(k *kept) { k.prior.text = "x" },
		func(k *kept) { k.prior.session = true },
		func(k *kept) { k.masked.text = "x" },
		func(k *kept) { k.masked.session = true },
	} {
		key := session(change).cacheKey(clinic())
		if other, same := seen[key]; same || key == "" {
			t.Errorf("%d and %d have the same key", i, other)
		}
		seen[key] = i
	}
}
