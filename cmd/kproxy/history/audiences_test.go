package history

import (
	"math"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// storedSeen is a release of four records in two classes, which are one class to partners. The press does not see hours,
// and of others nothing was made.
const storedSeen = `CREATE SCHEMA kproxy_store;
	CREATE TABLE kproxy_store.generation (table_schema text, table_name text, generation bigint, previous bigint, lsn pg_lsn, updates text);
	INSERT INTO kproxy_store.generation VALUES ('public', 'visits', 7, NULL, '0/A', 'immediate');
	CREATE TABLE kproxy_store.records_7 AS SELECT * FROM (VALUES (1, 1, 0, 0), (2, 1, 10, 0), (3, 2, 20, 4), (4, 2, 40, 8)) v(kproxy_record, kproxy_class, day, hour);
	CREATE TABLE kproxy_store.release_7 AS SELECT kproxy_class FROM kproxy_store.records_7;
	CREATE TABLE kproxy_store.records_partners_7 AS SELECT kproxy_record, 1 AS kproxy_class, day, hour FROM kproxy_store.records_7;
	CREATE TABLE kproxy_store.release_partners_7 AS SELECT kproxy_class FROM kproxy_store.records_partners_7;
	CREATE TABLE kproxy_store.records_press_7 AS SELECT * FROM kproxy_store.records_7;
	CREATE TABLE kproxy_store.release_press_7 AS SELECT kproxy_class FROM kproxy_store.records_7`

// seenVisits is what storedSeen is a release of.
func seenVisits() catalog.Publication {
	numbers := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	name := catalog.Name{Schema: "public", Relation: "visits"}
	return catalog.Publication{
		Relation: catalog.Relation{Name: name, Columns: []catalog.Column{{Name: "day", Type: "integer"}, {Name: "hour", Type: "integer"}}},
		Policy: catalog.TablePolicy{
			Table: name, Updates: catalog.Updates{Mode: catalog.Immediate},
			Columns:   []catalog.ColumnPolicy{{Name: "day", Role: catalog.QuasiIdentifying, Hierarchy: &numbers}, {Name: "hour", Role: catalog.QuasiIdentifying, Hierarchy: &numbers}},
			Audiences: []catalog.AudiencePolicy{{Audience: "partners"}, {Audience: "press", Hidden: []string{"hour"}}, {Audience: "later"}},
		},
		Attributes: []catalog.Attribute{{Column: "day", Spec: numbers}, {Column: "hour", Spec: numbers}},
	}
}

// TestFiguresOfAudiences: each is counted and measured by its own classes, and a column that it does not see is lost.
func TestFiguresOfAudiences(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, storedSeen)
	f, err := measureFigures(t.Context(), conn, seenVisits())
	if err != nil || f == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, made := f.Audiences["later"]; made || len(f.Audiences) != 2 {
		t.Errorf("the audiences are %+v", f.Audiences)
	}
	for audience, want := range map[string]struct {
		counts    Counts
		sizes     []Size
		day, hour float64
	}{
		// Days span 40, and hours 8: in classes of 10 and 20, and of 0 and 4.
		"":         {Counts{Records: 4, Rows: 4, Classes: 2}, []Size{{2, 2}}, (0.25 + 0.5) / 2, 0.5 / 2},
		"partners": {Counts{Records: 4, Rows: 4, Classes: 1}, []Size{{4, 1}}, 1, 1},
		"press":    {Counts{Records: 4, Rows: 4, Classes: 2}, []Size{{2, 2}}, (0.25 + 0.5) / 2, 1},
	} {
		got := f.Audiences[audience]
		if audience == "" {
			got = AudienceFigures{Counts: f.Counts, Sizes: f.Sizes[0], Losses: f.Losses}
		}
		if got.Counts != want.counts || !reflect.DeepEqual(got.Sizes, want.sizes) || got.Losses == nil {
			t.Fatalf("%q sees %+v", audience, got)
		}
		if l := got.Losses; math.Abs(l.Columns["day"]-want.day)+math.Abs(l.Columns["hour"]-want.hour)+math.Abs(l.Whole-(want.day+want.hour)/2) > 1e-9 {
			t.Errorf("%q loses %+v, not %+v", audience, l, want)
		}
	}
}
