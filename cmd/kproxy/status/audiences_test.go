package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

var audiencePolicy = catalog.TablePolicy{
	Table: catalog.Name{Schema: "public", Relation: "stays"}, Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: 2}},
	Audiences: []catalog.AudiencePolicy{{Audience: "partners"}, {Audience: "press"}, {Audience: "later"}},
}

// storedAudience is a store of two generations, of which audiences see the first or the second; of the first the press
// sees nothing, and one audience is new.
const storedAudience = `CREATE SCHEMA kproxy_store; CREATE SCHEMA kproxy_audience_partners_public; CREATE SCHEMA kproxy_audience_press_public;
CREATE TABLE kproxy_store.generation (table_schema text, table_name text, generation bigint, updates text, waiting int DEFAULT 0, oldest_waiting timestamptz, stale int DEFAULT 0, oldest_stale timestamptz,
  ghosts int DEFAULT 0, untold int DEFAULT 0, expired int DEFAULT 0, halted text, halted_fix text, asked text, lsn pg_lsn, shows pg_lsn, previous bigint, withheld_why text, returned int DEFAULT 0,
  created_at timestamptz DEFAULT now(), audiences text);
CREATE TABLE kproxy_store.records_3 AS SELECT n AS kproxy_record, n / 3 AS kproxy_class FROM generate_series(0, 8) n;
CREATE TABLE kproxy_store.release_3 AS SELECT kproxy_class FROM kproxy_store.records_3;
CREATE TABLE kproxy_store.records_partners_3 AS SELECT kproxy_record, kproxy_class / 2 AS kproxy_class FROM kproxy_store.records_3;
CREATE TABLE kproxy_store.release_partners_3 AS SELECT kproxy_class FROM kproxy_store.records_partners_3;
CREATE TABLE kproxy_store.records_press_3 AS SELECT kproxy_record, NULL::bigint AS kproxy_class FROM kproxy_store.records_3;
CREATE TABLE kproxy_store.release_press_3 (kproxy_class bigint);
CREATE TABLE kproxy_store.records_4 AS SELECT n AS kproxy_record, 1 AS kproxy_class FROM generate_series(0, 3) n;
CREATE TABLE kproxy_store.release_4 AS SELECT kproxy_class FROM kproxy_store.records_4;
CREATE VIEW kproxy_audience_partners_public.stays AS SELECT FROM kproxy_store.release_partners_3;
CREATE VIEW kproxy_audience_press_public.stays AS SELECT FROM kproxy_store.release_press_3`

// TestAudiencesAreReadFromTheStore: what is told of audiences is of the release that they see, whether or not the next one
// is being made.
func TestAudiencesAreReadFromTheStore(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, storedAudience)
	execute := func(sql string) { t.Helper(); pgtest.Execute(t, conn, sql) }
	read := func(row string) Table {
		t.Helper()
		execute("DELETE FROM kproxy_store.generation; INSERT INTO kproxy_store.generation (table_schema, table_name, generation, shows, previous, audiences) VALUES ('public', 'stays', " + row + ")")
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(t.Context()) }()
		table, err := ReadTable(t.Context(), tx, audiencePolicy)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	told := func(table Table) string {
		var lines []string
		for _, a := range table.Audiences {
			lines = append(lines, fmt.Sprintf("%s %s %d rows, %d classes, %d withheld, %t %q", a.Name, a.State, a.Rows, a.Classes, a.Withheld, a.Earlier, a.Problem))
		}
		return strings.Join(lines, "\n")
	}
	shown := read(`3, NULL, NULL, '{"partners":{"Classes":2},"press":{"Classes":0,"Reason":"too few"}}'`)
	const want = "partners published 9 rows, 2 classes, 0 withheld, false \"\"\npress withheld 0 rows, 0 classes, 9 withheld, false \"too few\"\nlater unpublished 0 rows, 0 classes, 0 withheld, false \"\""
	if got := told(shown); got != want {
		t.Errorf("of the release that is shown:\n%s", got)
	}
	earlier := read(`4, '0/9', 3, '{"partners":{"Classes":1},"press":{"Classes":1},"later":{"Classes":1}}'`)
	const wantEarlier = "partners published 9 rows, 2 classes, 0 withheld, true \"\"\npress withheld 0 rows, 0 classes, 9 withheld, true \"nothing was published for it before, and the next release is not ready\"\n" +
		"later unpublished 0 rows, 0 classes, 0 withheld, false \"\""
	if got := told(earlier); got != wantEarlier || earlier.Records != 9 || earlier.Classes != 3 || earlier.Shown != 3 || earlier.Generation != 4 {
		t.Errorf("while the next one is made, of %d records in %d classes:\n%s", earlier.Records, earlier.Classes, got)
	}
	first := read(`4, '0/9', NULL, '{"partners":{"Classes":1}}'`)
	for _, a := range first.Audiences {
		if a.State != StateUnpublished {
			t.Errorf("before the first release is shown: %+v", a)
		}
	}
	s := Status{Tables: []Table{earlier}}
	var text strings.Builder
	s.writeAudiences(&text)
	const wantText = "\npublic.stays shows audience partners 2 unions of its classes, 9 rows, as published before; the next release is being made\n" +
		"public.stays shows audience press nothing: nothing was published for it before, and the next release is not ready\npublic.stays shows audience later nothing yet: it is being published\n"
	if text.String() != wantText {
		t.Errorf("it says\n%s", text.String())
	}
	for audience, want := range map[string]string{"": "", "partners": "", "press": "withheld from audience press", "later": "not published for audience later yet"} {
		if need, refused := s.RefusalFor(audience, audiencePolicy.Table); refused != (want != "") || !strings.Contains(need.What, want) || refused && need.Fix == "" {
			t.Errorf("audience %q: %+v, %t", audience, need, refused)
		}
	}
	earlier.Settle(audiencePolicy, nil, Condition{State: StateHalted, Problem: "gone"})
	for _, a := range earlier.Audiences {
		if a.State != StateHalted || a.Problem != "" {
			t.Errorf("of a halted table, %+v", a)
		}
	}
}

// TestAudienceStates: an audience never sees more than the table's own readers, in the words of the table.
func TestAudienceStates(t *testing.T) {
	t.Parallel()
	table := ksync.TableStatus{Audiences: map[string]ksync.AudienceStatus{"partners": {Classes: 3}, "press": {Reason: "too few"}}}
	for own, want := range map[string]string{
		StatePublished: "published withheld unpublished", StateHalted: "halted halted halted", state.Withdrawn: "withdrawn withdrawn withdrawn",
		state.Withheld: "withheld withheld withheld", StateUnpublished: "unpublished unpublished unpublished",
	} {
		var got []string
		for _, audience := range []string{"partners", "press", "later"} {
			got = append(got, AudienceState(Condition{State: own}, table, audience))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of a table that is %s, audiences see what is %v", own, got)
		}
	}
}
