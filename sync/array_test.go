package sync

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// TestArraysAreThoseOfTheDriver compares arrays with what the driver makes of the same values,
// byte by byte, and has a connection's types send both.
func TestArraysAreThoseOfTheDriver(t *testing.T) {
	t.Parallel()
	plain, registered := pgtype.NewMap(), pgtype.NewMap()
	registerArrays(registered)
	long := strings.Repeat("long ", 100)
	texts := [][]value{{{text: "a"}}, {{text: ""}, {null: true}, {text: "né"}}, {{null: true}}, {{text: long}, {text: "b"}}}
	for _, values := range texts {
		a, want := newTexts(1), []*string{}
		for _, v := range values {
			a.add(v)
			want = append(want, v.pointer())
		}
		compareArrays(t, plain, registered, pgtype.TextArrayOID, a, want)
	}
	for _, ids := range [][]incremental.RecordID{{1}, {0, -1, 1 << 40, 255, 256}} {
		want := []int64{}
		for _, id := range ids {
			want = append(want, int64(id))
		}
		compareArrays(t, plain, registered, pgtype.Int8ArrayOID, recordNumbers(ids), want)
	}
}

func compareArrays(t *testing.T, plain, registered *pgtype.Map, oid uint32, a *array, same any) {
	t.Helper()
	want, err := plain.Encode(oid, pgtype.BinaryFormatCode, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{a, same} {
		got, err := registered.Encode(oid, pgtype.BinaryFormatCode, v, []byte("before"))
		if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%v is sent as %x, not %x: %v", same, got, want, err)
		}
	}
	if _, err := registered.Encode(oid, pgtype.TextFormatCode, a, nil); err == nil {
		t.Error("an array is sent as a text")
	}
	text, err := registered.Encode(oid, pgtype.TextFormatCode, same, nil)
	if wanted, _ := plain.Encode(oid, pgtype.TextFormatCode, same, nil); err != nil || !bytes.Equal(text, wanted) {
		t.Errorf("%v is written %s, not %s: %v", same, text, wanted, err)
	}
}
