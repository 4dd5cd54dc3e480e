package history

import (
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// storedVisits are four visits of two classes, and one that is not published. The rows of guarded ones have
// numbers of their own.
const storedVisits = `CREATE SCHEMA kproxy_store;
	CREATE TABLE kproxy_store.records_7 (kproxy_record bigint, kproxy_row bigint, day int);
	CREATE TABLE kproxy_store.release_7 (kproxy_class bigint, kproxy_row bigint);
	INSERT INTO kproxy_store.records_7 VALUES (1, 11, 0), (2, 12, 10), (3, 13, 20), (4, 14, 40), (5, NULL, 20);
	INSERT INTO kproxy_store.release_7 VALUES (1, %[1]d + 1), (1, %[1]d + 2), (2, %[1]d + 3), (2, %[1]d + 4)`

// TestLossesOfTablesOfPersons: classes are found by the rows of the release, in both kinds of updates.
func TestLossesOfTablesOfPersons(t *testing.T) {
	t.Parallel()
	for mode, first := range map[catalog.UpdateMode]int{catalog.Immediate: 0, catalog.Guarded: 10} {
		conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), fmt.Sprintf(storedVisits, first), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		found, err := MeasureLoss(t.Context(), tx, publishedVisits(mode), 7)
		if err != nil {
			t.Fatal(err)
		}
		// The classes are 10 and 20 wide, of 40; one record of five loses all.
		const want = (0.25+0.5)/2*0.8 + 0.2
		if found == nil || found.Records != 4 || math.Abs(found.Whole-want) > 1e-9 {
			t.Errorf("%v: %+v, want a loss of %g", mode, found, want)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// publishedVisits is a table of persons whose days are generalized.
func publishedVisits(mode catalog.UpdateMode) catalog.Publication {
	days := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	name := catalog.Name{Schema: "public", Relation: "visits"}
	return catalog.Publication{
		Relation: catalog.Relation{Name: name, Columns: []catalog.Column{{Name: "day", Type: "integer"}}},
		Policy: catalog.TablePolicy{
			Table: name, Updates: catalog.Updates{Mode: mode},
			Columns: []catalog.ColumnPolicy{{Name: "day", Role: catalog.QuasiIdentifying, Hierarchy: &days}},
		},
		Attributes: []catalog.Attribute{{Column: "day", Spec: days}},
		Membership: &catalog.Membership{People: catalog.People{Key: []string{"id"}}, Table: people.Root},
	}
}
