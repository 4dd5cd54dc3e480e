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
