package proxy_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
)

var fuzzCases = flag.Int("fuzz.cases", 1000, "random cases of the tests that fuzz without coverage")

// randomCase is up to so many random bytes.
func randomCase(seed, stream uint64, most int) []byte {
	rng := rand.New(rand.NewPCG(seed, stream))
	data := make([]byte, rng.IntN(most))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// TestConversations plays random cases of FuzzConversation, longer than those that it
// finds by itself.
func TestConversations(t *testing.T) {
	t.Parallel()
	p := fuzzedProxy(t, sharedFuzzed)
	for seed := range uint64(*fuzzCases) {
		data := randomCase(seed, 1, 400)
		if p.converse(data) != nil {
			data = shorten(data, func(data []byte) bool { return p.converse(data) != nil })
			t.Fatalf("seed %d, %q: %v", seed, data, p.converse(data))
		}
	}
}

// shorten returns as short a case as it finds that still fails.
func shorten(data []byte, fails func([]byte) bool) []byte {
	for size := len(data) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(data); {
			less := slices.Concat(data[:at], data[at+size:])
			if fails(less) {
				data = less
			} else {
				at += size
			}
		}
	}
	return data
}

// TestBytes plays cases of FuzzBytes: conversations of which some bytes are changed, and
// that are cut off somewhere.
func TestBytes(t *testing.T) {
	t.Parallel()
	p := fuzzedProxy(t, sharedFuzzed)
	for seed := range uint64(*fuzzCases) {
		rng := rand.New(rand.NewPCG(seed, 3))
		data := newConversation(randomCase(seed, 2, 100)).sent
		for range rng.IntN(4) {
			data[rng.IntN(len(data))] = byte(rng.Uint32())
		}
		data = data[:rng.IntN(len(data)+1)]
		if err := p.hear(data); err != nil {
			t.Fatalf("seed %d, %q: %v", seed, data, err)
		}
	}
}
