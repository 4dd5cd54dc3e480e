package history

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestProofsOfNumbersThatComeAgain: a table that was put back has a generation of the same
// number as the one that was proved.
func TestProofsOfNumbersThatComeAgain(t *testing.T) {
	t.Parallel()
	const store = `CREATE SCHEMA kproxy_store;
		CREATE TABLE kproxy_store.generation (table_schema text, table_name text, generation bigint, created_at timestamptz);
		INSERT INTO kproxy_store.generation VALUES ('public', 'back', 2, now()), ('public', 'stays', 2, now() - interval '1 hour'), ('public', 'later', 3, now());
		CREATE TABLE kproxy_store.proof (id bigint GENERATED ALWAYS AS IDENTITY, table_schema text, table_name text, at timestamptz, passed boolean, report jsonb);
		INSERT INTO kproxy_store.proof (table_schema, table_name, at, passed, report)
		SELECT 'public', name, now() - interval '1 minute', true, '{"generation": 2}' FROM unnest('{back,stays,later,gone}'::text[]) name`
	conn := pgtest.Connect(t, store)
	proofs, err := LastProofs(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]bool{"back": false, "stays": true, "later": true, "gone": true} {
		if _, kept := proofs[catalog.Name{Schema: "public", Relation: table}]; kept != want {
			t.Errorf("the proof of %s counts: %v", table, kept)
		}
	}
}
