package sync

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pulled are rows for copyRows, which counts how many were asked for.
type pulled struct {
	rows  [][]any
	asked int
	fails error // after the last one
}

func (p *pulled) next() ([]any, error) {
	p.asked++
	if p.asked > len(p.rows) {
		return nil, p.fails
	}
	return p.rows[p.asked-1], nil
}

// TestCopiedFields writes a field of each type.
func TestCopiedFields(t *testing.T) {
	t.Parallel()
	text, number := "a\tb\\c\nd\re", int64(-12)
	row := []any{int64(123), float32(0.125), true, false, &number, (*int64)(nil), &text, (*string)(nil)}
	const want = "123\t0.125\ttrue\tfalse\t-12\t\\N\ta\\tb\\\\c\\nd\\re\t\\N\n"
	if got, err := appendCopyRow([]byte("before "), row); err != nil || string(got) != "before "+want {
		t.Errorf("written %q: %v", got, err)
	}
	if got, err := appendCopyRow(nil, []any{"text"}); got != nil || err == nil || transient(err) {
		t.Errorf("a field of another type is written %q: %v", got, err)
	}
	for v, want := range map[value]string{{null: true, text: "not told"}: `\N`, {text: "a\tb"}: `a\tb`, {}: ""} {
		if got := string(appendCopyField([]byte(","), v)); got != ","+want {
			t.Errorf("%v is written %q", v, got)
		}
	}
}

// TestRowsAreCopiedWhole has rows pulled with buffers of any size: each comes once, and not more
// of them are held than one piece.
func TestRowsAreCopiedWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for range 30 {
		var p pulled
		var want strings.Builder
		for range random.IntN(40) {
			text := strings.Repeat("x", random.IntN(pieceBytes/8))
			p.rows = append(p.rows, []any{&text})
			want.WriteString(text + "\n")
		}
		into := make([]byte, 1+random.IntN(2*pieceBytes))
		var got bytes.Buffer
		r := &copyRows{next: p.next}
		if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{r}, into); err != nil || got.String() != want.String() {
			t.Fatalf("%d bytes are copied of %d: %v", got.Len(), want.Len(), err)
		}
		if n, err := r.Read(into); n != 0 || !errors.Is(err, io.EOF) || p.asked != len(p.rows)+1 {
			t.Fatalf("%d bytes come after the end (%v), and %d rows are asked for of %d", n, err, p.asked, len(p.rows))
		}
	}
	line := strings.Repeat("x", 63)
	p := &pulled{rows: slices.Repeat([][]any{{&line}}, 3000)}
	r := &copyRows{next: p.next}
	for pieces := 1; pieces < 3; pieces++ {
		if err := iotest.TestReader(io.LimitReader(r, pieceBytes), bytes.Repeat([]byte(line+"\n"), pieceBytes/64)); err != nil {
			t.Fatal(err)
		}
		if p.asked != pieces*pieceBytes/64 {
			t.Errorf("for %d pieces, %d rows are asked for", pieces, p.asked)
		}
	}
}

// TestCopyingFails has the rows fail, or one be malformed.
func TestCopyingFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("no row")
	text := "a"
	reader := &copyReader{columns: 2, row: func([]value) error { return nil }}
	if n, err := reader.Write([]byte("one field\n")); n != 0 || !errors.Is(err, errCopyText) {
		t.Errorf("%d bytes of a malformed row are read: %v", n, err)
	}
	for name, p := range map[string]*pulled{"failing": {rows: [][]any{{&text}}, fails: failure}, "malformed": {rows: [][]any{{text}}}} {
		got, err := io.ReadAll(&copyRows{next: p.next})
		if err == nil || len(got) > 0 || name == "failing" && !errors.Is(err, failure) {
			t.Errorf("%s: %q is copied: %v", name, got, err)
		}
	}
}
