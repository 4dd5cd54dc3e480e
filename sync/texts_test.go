package sync

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// TestTexts compares texts of any length at any place with a map.
func TestTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	kept, want := textStore{}, map[int32][]byte{}
	for range 20_000 {
		place := random.Int32N(300)
		text := bytes.Repeat([]byte{byte(random.Int())}, []int{0, 1, 20, 127, 128, 200, 40_000}[random.IntN(100)*7/100*random.IntN(2)])
		kept.set(place, text)
		want[place] = text
		if other := random.Int32N(400); !bytes.Equal(kept.get(other), want[other]) {
			t.Fatalf("place %d has %d bytes, want %d", other, len(kept.get(other)), len(want[other]))
		}
	}
	for place, text := range want {
		if !bytes.Equal(kept.get(place), text) {
			t.Fatalf("place %d has %d bytes in the end, want %d", place, len(kept.get(place)), len(text))
		}
	}
}

// TestKeys compares the keys of records that come and go with a map of lists.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, repeats := range []bool{false, true} {
		random := rand.New(rand.NewPCG(3, 4))
		k, want := newKeys(repeats), map[string]map[incremental.RecordID]bool{}
		next := incremental.RecordID(0)
		for range 200_000 {
			key := string(binaryText(random.IntN(20_000)))
			id, known := k.find([]byte(key))
			if known != (len(want[key]) > 0) || known && !want[key][id] {
				t.Fatalf("the key of %v leads to %d, %t", want[key], id, known)
			}
			switch {
			case known && random.IntN(2) == 0:
				k.remove([]byte(key), id)
				delete(want[key], id)
				continue
			case want[key] == nil:
				want[key] = map[incremental.RecordID]bool{}
			}
			next++
			added := k.add([]byte(key), next)
			if added != (repeats || !known) {
				t.Fatalf("adding to %v gives %t", want[key], added)
			}
			if added {
				want[key][next] = true
			}
		}
		k.clear()
		if _, known := k.find(binaryText(7)); known || len(k.further) > 0 {
			t.Error("a key is known to nothing")
		}
	}
}

// binaryText is a text of its own for each number, of various lengths.
func binaryText(n int) []byte {
	text := bytes.Repeat([]byte{0}, n%5)
	return append(text, byte(n), byte(n>>8), byte(n>>16))
}
