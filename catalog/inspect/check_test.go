package inspect_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

func TestRelationsDescribeTheDatabase(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	// A type of the same name on the caller's path must not be confused with it.
	execute(t, p.owner, "SET search_path = public")
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	byName := map[string]catalog.Relation{}
	for _, r := range relations {
		names = append(names, fmt.Sprintf("%s:%c", r.Name, r.Kind))
		byName[r.Name.String()] = r
	}
	want := "public.journeys:p public.journeys_1:r public.journeys_2:r public.patients:r public.visits:r public.wards:r"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const none = -1
	columns := []catalog.Column{
		{Name: "id", Number: 1, Type: "bigint", TypeOID: 20, Modifier: none, BaseFormat: "bigint", BaseType: "int8", Deterministic: true, NotNull: true},
		{Name: "name", Number: 2, Type: "text", TypeOID: 25, Modifier: none, BaseFormat: "text", BaseType: "text", Deterministic: true, NotNull: true},
		{Name: "age", Number: 3, Type: "public.small", Modifier: none, BaseFormat: "integer", BaseType: "int4", UserType: catalog.Name{Schema: "public", Relation: "small"}, Deterministic: true, Domain: true},
		{Name: "sex", Number: 4, Type: "public.sex", Modifier: none, BaseFormat: "public.sex", BaseType: "public.sex", UserType: catalog.Name{Schema: "public", Relation: "sex"}, Deterministic: true, Enum: true},
		{Name: "cost", Number: 5, Type: "numeric(10,2)", TypeOID: 1700, Modifier: 10<<16 + 2 + 4, BaseFormat: "numeric(10,2)", BaseType: "numeric", Deterministic: true},
		{Name: "diagnosis", Number: 6, Type: "character varying(8)", TypeOID: 1043, Modifier: 12, BaseFormat: "character varying(8)", BaseType: "varchar", Deterministic: true},
		{Name: "tags", Number: 7, Type: "text[]", TypeOID: 1009, Modifier: none, BaseFormat: "text[]", BaseType: "_text", Deterministic: true},
		{Name: "doubled", Number: 8, Type: "numeric", TypeOID: 1700, Modifier: none, BaseFormat: "numeric", BaseType: "numeric", Deterministic: true, Generated: true},
	}
	got := byName["public.patients"].Columns
	for i := range columns {
		if got[i].TypeOID >= 16384 { // a user's type has another identifier in every database
			columns[i].TypeOID = got[i].TypeOID
		}
	}
	if !reflect.DeepEqual(got, columns) {
		t.Errorf("columns\n got %+v\nwant %+v", got, columns)
	}
	if got := byName["public.journeys_2"].Key; !slices.Equal(got, []string{"begun", "id"}) {
		t.Errorf("the key of a partition in index order is %v", got)
	}
	if p, w := byName["public.patients"], byName["public.wards"]; p.ReadableByReader || p.Marked || w.ReadableByReader || !w.Marked {
		t.Error("what the reader may read is told wrongly")
	}
	for name, want := range map[string][2]bool{"public.patients": {}, "public.journeys": {false, true}, "public.journeys_1": {true, false}} {
		if r := byName[name]; [2]bool{r.HasParents, r.HasChildren} != want {
			t.Errorf("%s has parents: %t, children: %t", name, r.HasParents, r.HasChildren)
		}
	}
}

func TestColumnsOfOddTypes(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, `
		CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE DOMAIN price AS numeric(10,2); CREATE DOMAIN fee AS price NOT NULL;
		CREATE DOMAIN mood AS public.sex; CREATE DOMAIN word AS text COLLATE loose;
		CREATE TYPE public.date AS ENUM ('today');
		CREATE TABLE odd (gone int, fee fee, mood mood, word word, text text COLLATE loose, "date" public.date);
		ALTER TABLE odd DROP COLUMN gone`)
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	index := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name.Relation == "odd" })
	var got []string
	for _, c := range relations[index].Columns {
		got = append(got, fmt.Sprintf("%d %s %s %s %t %t %t", c.Number, c.Type, c.BaseFormat, c.BaseType, c.Domain, c.Enum, c.Deterministic))
	}
	want := []string{
		"2 public.fee numeric(10,2) numeric true false true",
		"3 public.mood public.sex public.sex true true true",
		"4 public.word text text true false false",
		"5 text text text false false false",
		"6 public.date public.date public.date false true true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestKeyFollowsTheReplicaIdentity(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, `
		CREATE TABLE a_default (a int, b int, c int NOT NULL, PRIMARY KEY (b, a));
		CREATE TABLE b_full (LIKE a_default INCLUDING ALL); ALTER TABLE b_full REPLICA IDENTITY FULL;
		CREATE TABLE c_index (LIKE a_default INCLUDING ALL); CREATE UNIQUE INDEX c_c ON c_index (c) INCLUDE (a);
		ALTER TABLE c_index REPLICA IDENTITY USING INDEX c_c;
		CREATE TABLE d_nothing (LIKE a_default INCLUDING ALL); ALTER TABLE d_nothing REPLICA IDENTITY NOTHING;
		CREATE TABLE e_none (a int, b int GENERATED ALWAYS AS (a + 1) STORED, c json); ALTER TABLE e_none REPLICA IDENTITY FULL;
		CREATE TABLE f_late (a int PRIMARY KEY DEFERRABLE);
		CREATE TABLE g_late_full (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); ALTER TABLE g_late_full REPLICA IDENTITY FULL;
		CREATE TABLE h_made (a int, b int GENERATED ALWAYS AS (a + 1) STORED PRIMARY KEY);
		CREATE TABLE i_made_full (LIKE h_made INCLUDING ALL); ALTER TABLE i_made_full REPLICA IDENTITY FULL;
		GRANT SELECT (a) ON e_none TO PUBLIC`)
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range relations[:9] {
		got = append(got, fmt.Sprintf("%s %c %v %t %v %t", r.Name.Relation, r.ReplicaIdentity, r.Key, r.KeyRepeats, r.PrimaryKey, r.ReadableByReader))
	}
	want := []string{
		"a_default d [b a] false [b a] false", "b_full f [b a] false [b a] false", "c_index i [c] false [b a] false",
		"d_nothing n [] false [b a] false", "e_none f [a c] true [] true", "f_late d [] false [] false", "g_late_full f [a] true [] false",
		"h_made d [b] false [b] false", "i_made_full f [a] true [b] false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := inspect.Relations(t.Context(), p.owner, "nobody"); err == nil {
		t.Error("no error for a reader that does not exist")
	}
}

func TestServerFacts(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	facts, err := inspect.Server(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	if facts.VersionNum < inspect.MinVersionNum || facts.WalLevel != "logical" || facts.Database != p.admin.Config().Database ||
		facts.SystemIdentifier == "" || facts.MaxReplicationSlots < 1 || facts.ServerEncoding != "UTF8" {
		t.Errorf("%+v", facts)
	}
}

func TestPreparedDatabasePassesTheCheck(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	if errs := p.check().Errors(); len(errs) > 0 {
		t.Errorf("findings:\n%s", errs)
	}
}

func TestCheckReportsThePolicysMistakesAtOnce(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	columns := &p.in.Policy.Tables[0].Columns
	*columns = append(*columns,
		catalog.ColumnPolicy{Name: "absent", Role: catalog.Insensitive},
		catalog.ColumnPolicy{Name: "sex", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}},
		catalog.ColumnPolicy{Name: "doubled", Role: catalog.Insensitive})
	p.in.Policy.Tables = append(p.in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "gone"}},
		catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "journeys_1"}})
	p.in.Policy.Readable = append(p.in.Policy.Readable, catalog.Name{Schema: "public", Relation: "vanished"})
	execute(t, p.admin, "CREATE TABLE heirs () INHERITS (patients)")
	report := p.check().Errors()
	for code, words := range map[string]string{
		"policy": "no such column", "generated-column": "generated", "table-missing": "public.gone",
		"readable-missing": "public.vanished",
	} {
		if !contains(report, code, words) {
			t.Errorf("no finding %s with %q among:\n%s", code, words, report)
		}
	}
	for _, words := range []string{"numeric hierarchy does not fit", "public.patients other tables inherit", "public.journeys_1 it inherits from another table or is a partition"} {
		if !contains(report, "policy", words) {
			t.Errorf("no finding of the policy with %q among:\n%s", words, report)
		}
	}
}

func TestCheckOfAnUnpreparedDatabase(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, "DROP SCHEMA kproxy_store, kproxy_catalog, kproxy_release_public CASCADE")
	p.in.Owner, p.in.Reader, p.in.Publication = "absent owner", "absent reader", "absent"
	report, err := inspect.Check(t.Context(), p.admin, p.in)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"owner-missing", "reader-missing"} {
		if !contains(report, code, "absent") {
			t.Errorf("no finding %s among:\n%s", code, report)
		}
	}
	p.in.Owner, p.in.Reader = p.fill("{database}_owner"), p.fill("{database}_reader")
	if report, err = inspect.Check(t.Context(), p.admin, p.in); err != nil {
		t.Fatal(err)
	}
	if !contains(report, "schema-missing", "kproxy_store") || !contains(report, "publication", "does not exist") {
		t.Errorf("findings:\n%s", report)
	}
}
