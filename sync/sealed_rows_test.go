package sync

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/seal"
)

// sealedPeople is a table of two columns whose rows are sealed with a key.
func sealedPeople(key seal.DataKey, columns ...string) *table {
	t := &table{layout: layout{publication: catalog.Publication{Policy: catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "people"}, Sealed: true}}}}
	for _, name := range columns {
		t.layout.columns = append(t.layout.columns, catalog.Column{Name: name, Type: "text"})
	}
	t.sealing.box = seal.NewBox(key, columns)
	return t
}

// TestSealedRows: whatever the values of a row, it opens as it was sealed.
func TestSealedRows(t *testing.T) {
	t.Parallel()
	people := sealedPeople(seal.NewDataKey(), "id", "zip", "note")
	r, sealer, opener, opened := rand.New(rand.NewPCG(1, 2)), rowSealer{box: people.sealing.box}, people.opener(), make([]value, 3)
	for record := range int64(2000) {
		values := make([]value, 3)
		for i := range values {
			switch r.IntN(4) {
			case 0:
				values[i].null = true
			case 1: // empty
			default:
				values[i].text = strings.Repeat(string(rune(r.IntN(0x250))), r.IntN(300))
			}
		}
		if err := opener.open(record, sealer.seal(record, values), opened); err != nil || !slices.Equal(opened, values) {
			t.Fatalf("%v is opened as %v: %v", values, opened, err)
		}
	}
}

// TestHostileCiphertexts: what a server can put in the place of a row opens nowhere: other rows, the same row of another
// generation, of other columns or in another order of them, parts of it, nothing at all. The error is about the table, and
// tells nothing of the row.
func TestHostileCiphertexts(t *testing.T) {
	t.Parallel()
	key := seal.NewDataKey()
	people := sealedPeople(key, "id", "zip")
	row := []value{{text: "canaryid"}, {text: "canaryzip"}}
	of := func(t *table, record int64, values ...value) []byte {
		sealer := rowSealer{box: t.sealing.box}
		return bytes.Clone(sealer.seal(record, values))
	}
	good := of(people, 7, row...)
	hostile := map[string][]byte{
		"another record's":        of(people, 8, row...),
		"another generation's":    of(sealedPeople(seal.NewDataKey(), "id", "zip"), 7, row...),
		"other columns'":          of(sealedPeople(key, "id", "town"), 7, row...),
		"columns' in turn":        of(sealedPeople(key, "zip", "id"), 7, row...),
		"a column less":           of(sealedPeople(key, "id"), 7, row[0]),
		"a column more":           of(sealedPeople(key, "id", "zip", "n"), 7, value{text: "1"}, row[0], row[1]),
		"twice":                   slices.Concat(good, good),
		"the head of another":     slices.Concat(of(people, 7, row...)[:21], good[21:]),
		"names that run together": of(sealedPeople(key, "idzip"), 7, row[0]),
		"too few values":          of(people, 7),
		"a length that is wrong":  people.sealing.box.Seal(nil, 7, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'x'}),
		"a length without end":    people.sealing.box.Seal(nil, 7, bytes.Repeat([]byte{0xff}, 16)),
	}
	for length := range good {
		hostile[fmt.Sprintf("%d bytes of it", length)] = good[:length]
	}
	opener, opened := people.opener(), make([]value, 2)
	refused := func(what string, err error) {
		t.Helper()
		halt := (*TableError)(nil)
		if !errors.As(err, &halt) || halt.Table != people.layout.name() || !strings.Contains(halt.Error(), "kproxy rebuild public.people") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, sealed := range hostile {
		refused(what, opener.open(7, sealed, opened))
	}
	if err := opener.open(7, good, opened); err != nil || !slices.Equal(opened, row) {
		t.Errorf("the row itself: %v, %v", opened, err)
	}

	// The same in the stream of COPY, in which a row can be NULL, and pieces end anywhere.
	for what, text := range map[string]string{
		"NULL": `\N`, "nothing": "", "not hexadecimal": "zz", "half a byte": hex.EncodeToString(good)[1:],
		"exchanged": hex.EncodeToString(of(people, 8, row...)), "shortened": hex.EncodeToString(good[:len(good)-16]),
	} {
		var out bytes.Buffer
		rows := newOpenedRows(people, []int{0, 1}, &out)
		_, err := rows.Write([]byte("7\t" + hex.EncodeToString(good) + "\n7\t" + text + "\n"))
		refused(what, err)
		if out.Len() > 0 {
			t.Errorf("%s: %q is handed on", what, out.String())
		}
	}
	var out bytes.Buffer
	rows := newOpenedRows(people, []int{1}, &out)
	for _, piece := range slices.Collect(slices.Chunk([]byte("7\t"+hex.EncodeToString(good)+"\n"), 5)) {
		if _, err := rows.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "7\tcanaryzip\n" {
		t.Errorf("in pieces the row is %q", out.String())
	}
}
