package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/seal"
)

func ring(t *testing.T, of ...byte) *seal.Ring {
	t.Helper()
	var lines []string
	for i, b := range of {
		key := bytes.Repeat([]byte{b}, 32)
		if i%2 == 0 {
			lines = append(lines, base64.StdEncoding.EncodeToString(key))
		} else {
			lines = append(lines, hex.EncodeToString(key))
		}
	}
	r, err := seal.ParseRing([]byte("# keys\n\n" + strings.Join(lines, "\r\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Keys that cannot be read are refused by the number of their line, which is not quoted.
func TestParseRing(t *testing.T) {
	good := hex.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for text, want := range map[string]string{
		"":                     "there is no key",
		"# nothing\n\n":        "there is no key",
		"hunter2":              "line 1 is not a key",
		good + "\n" + good[1:]: "line 2 is not a key",
		good + "00":            "line 1 is not a key",
		good + "\n\n" + good:   "line 3 has a key that stands before",
	} {
		_, err := seal.ParseRing([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), good[1:]) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A data key opens with the key that sealed it, also where that is no more the first one, at its
// place and nowhere else.
func TestWrap(t *testing.T) {
	key, before, after := seal.NewDataKey(), ring(t, 1), ring(t, 2, 1)
	wrapped := before.Wrap(key, "public.patients 1")
	if got, err := after.Unwrap(wrapped, "public.patients 1"); err != nil || got != key {
		t.Fatalf("the former key does not open: %v", err)
	}
	if again := before.Wrap(key, "public.patients 1"); bytes.Equal(again.Sealed, wrapped.Sealed) {
		t.Error("the same nonce was used twice")
	}
	if _, err := ring(t, 2).Unwrap(wrapped, "public.patients 1"); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("another key: %v", err)
	}
	if _, err := before.Unwrap(wrapped, "public.patients 2"); !errors.Is(err, seal.ErrSpoiled) {
		t.Errorf("another place: %v", err)
	}
	for i := range wrapped.Sealed {
		spoiled := seal.WrappedKey{ID: wrapped.ID, Sealed: bytes.Clone(wrapped.Sealed)}
		spoiled.Sealed[i] ^= 1
		if _, err := before.Unwrap(spoiled, "public.patients 1"); !errors.Is(err, seal.ErrSpoiled) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		spoiled.Sealed = wrapped.Sealed[:i]
		if _, err := before.Unwrap(spoiled, "public.patients 1"); !errors.Is(err, seal.ErrSpoiled) {
			t.Fatalf("cut at byte %d: %v", i, err)
		}
	}
	wrapped.ID = after.First()
	if _, err := after.Unwrap(wrapped, "public.patients 1"); !errors.Is(err, seal.ErrSpoiled) {
		t.Errorf("under another key's name: %v", err)
	}
}

// A row opens as it was in every box of its key, for its record and its columns alone, and not if any
// of its bytes is another one. Nothing of it is to be seen, not even whether two rows are equal; and
// of its length sixteens.
func TestBox(t *testing.T) {
	key, columns := seal.NewDataKey(), []string{"id", "city"}
	box := seal.NewBox(key, columns)
	seen := map[string]bool{}
	for length := range 70 {
		row := bytes.Repeat([]byte("k"), length)
		sealed := box.Seal([]byte("before"), int64(length), row)[len("before"):]
		if want := (length + 15) / 16 * 16; len(sealed) != want+seal.Overhead {
			t.Fatalf("%d bytes take %d", length, len(sealed))
		}
		if length > 2 && bytes.Contains(sealed, []byte("kkk")) {
			t.Fatal("the row is to be seen")
		}
		if again := box.Seal(nil, int64(length), row); seen[string(again)] || bytes.Equal(again, sealed) {
			t.Fatal("a nonce was used twice")
		}
		seen[string(sealed)] = true
		for name, other := range map[string]*seal.Box{"the same": box, "another": seal.NewBox(key, columns)} {
			opened, err := other.Open([]byte("to "), int64(length), sealed)
			if err != nil || !bytes.HasPrefix(opened, append([]byte("to "), row...)) || len(bytes.TrimRight(opened, "\x00")) != 3+length {
				t.Fatalf("%s box: %q, %v", name, opened, err)
			}
		}
		for what, err := range map[string]error{
			"another record":  second(box.Open(nil, int64(length)+1, sealed)),
			"another key":     second(seal.NewBox(seal.NewDataKey(), columns).Open(nil, int64(length), sealed)),
			"another column":  second(seal.NewBox(key, []string{"id", "town"}).Open(nil, int64(length), sealed)),
			"without the end": second(box.Open(nil, int64(length), sealed[:len(sealed)-1])),
			"nothing":         second(box.Open(nil, int64(length), nil)),
		} {
			if !errors.Is(err, seal.ErrSpoiled) {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for i := range sealed {
			spoiled := bytes.Clone(sealed)
			spoiled[i] ^= 0x80
			if _, err := box.Open(nil, int64(length), spoiled); !errors.Is(err, seal.ErrSpoiled) {
				t.Fatalf("byte %d of %d changed: %v", i, len(sealed), err)
			}
		}
	}
}

func second(_ []byte, err error) error { return err }

// Two boxes of one key, as two starts of kproxy have, never use a nonce twice.
func TestNonces(t *testing.T) {
	key := seal.NewDataKey()
	heads := map[string]bool{}
	for range 20 {
		box := seal.NewBox(key, nil)
		for record := range int64(50) {
			head := string(box.Seal(nil, record, nil)[:21])
			if heads[head] {
				t.Fatalf("the nonce %x was used twice", head)
			}
			heads[head] = true
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	box := seal.NewBox(seal.NewDataKey(), []string{"id", "age", "city"})
	for _, size := range []int{48, 480} {
		row, sealed := make([]byte, size), []byte(nil)
		b.Run(fmt.Sprintf("seal/bytes=%d", size), func(b *testing.B) {
			for b.Loop() {
				sealed = box.Seal(sealed[:0], 7, row)
			}
		})
		b.Run(fmt.Sprintf("open/bytes=%d", size), func(b *testing.B) {
			var opened []byte
			for b.Loop() {
				opened, _ = box.Open(opened[:0], 7, sealed)
			}
		})
	}
}
