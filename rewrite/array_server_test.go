package rewrite

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestConstantArrays: what is read as an array of one dimension is one for PostgreSQL, with the same elements.
func TestConstantArrays(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"{", "}", ",", `"`, `\\`, " ", "\t", "a", "int4", "null", "NULL", `\"`, "{}", `""`, "[1:1]=", "=", "é", "\v"}
	read := 0
	for range 4000 {
		var b strings.Builder
		b.WriteString("{")
		for range random.IntN(7) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		b.WriteString("}")
		elements, ok := constantElements(textNode(b.String()))
		if !ok {
			continue
		}
		read++
		var want []string
		for _, e := range elements {
			text, _ := stringConstant(e)
			if isNull(e) {
				text = "NULL!"
			}
			want = append(want, text)
		}
		results, err := conn.Exec(t.Context(), "SELECT e FROM unnest("+catalog.QuoteLiteral(b.String())+"::text[]) WITH ORDINALITY AS a(e, n) ORDER BY n").ReadAll()
		var got []string
		for _, result := range results {
			for _, row := range result.Rows {
				if row[0] == nil {
					row[0] = []byte("NULL!")
				}
				got = append(got, string(row[0]))
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is read as %q, and PostgreSQL answers %q, %v", b.String(), want, got, err)
		}
	}
	if read < 500 {
		t.Errorf("of 4000 texts, %d are read", read)
	}
	for _, text := range []string{"", "{", "}", "{a", "a}", "{{a}}", `{"a}`, "{a,}", "{,a}", `{a"b"}`, "[0:0]={a}"} {
		if elements, ok := constantElements(textNode(text)); ok {
			t.Errorf("%q is read as %v", text, elements)
		}
	}
	if _, ok := constantElements(&pg.Node{}); ok {
		t.Error("nothing is read as an array")
	}
	for n, want := range map[int]string{maxObjects: "", maxObjects + 1: stateNotSupported} {
		if got := outcomeOf(t, clinicRewriter(), "SELECT '{int4"+strings.Repeat(",int4", n-1)+"}'::regtype[]"); got != want {
			t.Errorf("%d types: %q, want %q", n, got, want)
		}
	}
}
