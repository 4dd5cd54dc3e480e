package provision_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// codes are all codes of one to three digits.
func codes() []string {
	var all []string
	for length := 1; length <= 3; length++ {
		for i := range int(math.Pow10(length)) {
			all = append(all, fmt.Sprintf("%0*d", length, i))
		}
	}
	return all
}

// masked draws a code or what stands for several.
func masked(random *rand.Rand) string {
	length := 1 + random.IntN(3)
	code := fmt.Sprintf("%0*d", length, random.IntN(int(math.Pow10(length)))%30)
	if kept := random.IntN(length + 1); random.IntN(3) > 0 {
		return code[:kept] + strings.Repeat("*", length-kept)
	}
	return code
}

// means says whether a label stands for a code: one asterisk for any rest, several for as
// many characters.
func means(label, code string) bool {
	kept := strings.TrimRight(label, "*")
	if strings.HasSuffix(label, "*") && len(label) == len(kept)+1 {
		return strings.HasPrefix(code, kept)
	}
	return len(code) == len(label) && strings.HasPrefix(code, kept)
}

func TestCodesAreComparedAsIfEnumerated(t *testing.T) {
	t.Parallel()
	_, reader := helping(t)
	random := rand.New(rand.NewPCG(8, 2))
	all := codes()
	for range 1000 {
		label, wanted := masked(random), masked(random)
		n, both := 0, 0
		for _, code := range all {
			if means(label, code) {
				n++
				if means(wanted, code) {
					both++
				}
			}
		}
		var certain, possible bool
		var overlap *float64
		err := reader.QueryRow(t.Context(), "SELECT kproxy.certain($1::text, $2), kproxy.possible($1::text, $2), kproxy.overlap($1::text, $2)", label, wanted).Scan(&certain, &possible, &overlap)
		if err != nil {
			t.Fatal(err)
		}
		fixed := !strings.HasSuffix(label, "*") || strings.HasSuffix(label, "**")
		switch {
		case possible != (both > 0):
			t.Errorf("%s may be %s: %v, of %d codes %d are", label, wanted, possible, n, both)
		case certain && both < n, fixed && !certain && both == n:
			t.Errorf("%s is %s: %v, of %d codes %d are", label, wanted, certain, n, both)
		case overlap == nil:
			if label != "*" || wanted == "*" {
				t.Errorf("the share of %s in %s is not known", label, wanted)
			}
		case *overlap < 0 || *overlap > 1 || certain && *overlap != 1 || !possible && *overlap != 0:
			t.Errorf("the share of %s in %s is %v, certain %v, possible %v", label, wanted, *overlap, certain, possible)
		case fixed && math.Abs(*overlap-float64(both)/float64(n)) > 1e-9:
			t.Errorf("the share of %s in %s is %v, of %d codes %d are", label, wanted, *overlap, n, both)
		}
	}
	if got := text(t, reader, "SELECT kproxy.certain(NULL::text, '1') || ' ' || kproxy.possible(NULL::text, '1') || ' ' || (kproxy.overlap(NULL::text, '1') IS NULL)"); got != "false true true" {
		t.Errorf("of what is not known: %s", got)
	}
}

var jobs = hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
	{Label: "care", Children: []hierarchy.Node{{Label: "nurse"}, {Label: "carer"}, {Label: "medical", Children: []hierarchy.Node{{Label: "doctor"}}}}},
	{Label: "trade", Children: []hierarchy.Node{{Label: "carpenter"}, {Label: "a..b"}}},
	{Label: "none"},
}}

var grades = hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"none", "low", "middle", "high"}}

// labeled prepares a database in which folk is described with the two hierarchies. Ranks
// and labels are those of the publication.
func labeled(t *testing.T) (owner, reader *pgx.Conn) {
	t.Helper()
	admin, in := database(t)
	if err := provision.Apply(t.Context(), admin, in); err != nil {
		t.Fatal(err)
	}
	quasi := func(name string, spec hierarchy.Spec) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &spec}
	}
	policy := catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "folk"}, Updates: catalog.Updates{Mode: catalog.Immediate}, Columns: []catalog.ColumnPolicy{quasi("job", jobs), quasi("grade", grades)}}
	relation := catalog.Relation{Name: policy.Table, Kind: catalog.KindTable, Columns: []catalog.Column{
		{Name: "job", Type: "text", BaseType: "text", BaseFormat: "text"}, {Name: "grade", Type: "text", BaseType: "text", BaseFormat: "text"},
	}}
	publication, _ := catalog.Publish(policy, relation)
	owner = login(t, admin, in.Owner)
	execute(t, owner, "INSERT INTO kproxy_catalog.described VALUES ('public', 'folk', 5, 'k = 5', 'immediate', now(), NULL, 0)")
	for _, l := range publication.Describe().Labels {
		_, err := owner.Exec(t.Context(), "INSERT INTO kproxy_catalog.label VALUES ('public', 'folk', $1, $2, nullif($3, ''), $4, int4range($5, $6), $7)",
			l.Column, l.Label, l.Parent, l.Leaves, l.First, l.Beyond, l.Ordered)
		if err != nil {
			t.Fatal(err)
		}
	}
	return owner, login(t, admin, in.Reader)
}

func TestLabelsAreComparedByTheirTaxonomy(t *testing.T) {
	t.Parallel()
	_, reader := labeled(t)
	for _, c := range []struct{ label, wanted, column, want string }{
		{"nurse", "nurse", "job", "t t 1"},
		{"nurse", "care", "job", "t t 1"},
		{"doctor", "care", "job", "t t 1"},
		{"nurse", "trade", "job", "f f 0"},
		{"care", "nurse", "job", "f t 0.3333333333333333"},
		{"care", "medical", "job", "f t 0.3333333333333333"},
		{"*", "nurse", "job", "f t 0.16666666666666666"},
		{"*", "care", "job", "f t 0.5"},
		{"*", "*", "job", "t t 1"},
		{"nurse", "*", "job", "t t 1"},
		{"medical", "doctor", "job", "f t 1"}, // a value that is the label itself would be no doctor
		{"doctor", "medical", "job", "t t 1"},
		{"pilot", "pilot", "job", "t t 1"},
		{"pilot", "care", "job", "f f 0"},
		{"pilot", "*", "job", "t t 1"},
		{"care", "pilot", "job", "f f 0"},
		{"*", "pilot", "job", "f t NULL"},
		{"a..b", "trade", "job", "t t 1"},
		{"NULL", "care", "job", "f t NULL"},
		{"low", "low", "grade", "t t 1"},
		{"low..high", "middle", "grade", "f t 0.3333333333333333"},
		{"low..high", "none..low", "grade", "f t 0.3333333333333333"},
		{"low..middle", "low..high", "grade", "t t 1"},
		{"none..low", "middle..high", "grade", "f f 0"},
		{"none..high", "low..middle", "grade", "f t 0.5"},
		{"none..low", "high..low", "grade", "f f 0"},
		{"low", "*", "grade", "t t 1"},
		{"NULL", "low", "grade", "f t NULL"},
		{"nurse", "care", "nothing", "NULL NULL NULL"},
	} {
		label := "NULL"
		if c.label != "NULL" {
			label = "'" + c.label + "'"
		}
		for _, table := range []string{"folk", "public.folk", `"public"."folk"`} {
			call := fmt.Sprintf("(%s, '%s', '%s', '%s')", label, c.wanted, table, c.column)
			got := text(t, reader, "SELECT concat_ws(' ', coalesce(kproxy.certain"+call+"::text, 'NULL'), coalesce(kproxy.possible"+call+"::text, 'NULL'), coalesce(kproxy.overlap"+call+"::text, 'NULL'))")
			if got = strings.NewReplacer("true", "t", "false", "f").Replace(got); got != c.want {
				t.Errorf("%s in %s of %s.%s: %s, want %s", c.label, c.wanted, table, c.column, got, c.want)
			}
		}
	}
	if got := text(t, reader, "SELECT kproxy.overlap('nurse', 'care', 'other', 'job')::text"); got != "NULL" {
		t.Errorf("of a table that is not described: %s", got)
	}
}

// TestLabelsAddUp: the shares of a label in what the root is divided into.
func TestLabelsAddUp(t *testing.T) {
	t.Parallel()
	_, reader := labeled(t)
	got := text(t, reader, `SELECT string_agg(l.label || ' ' || s.total, ', ' ORDER BY l.label) FROM kproxy.labels('folk', 'job') l
		CROSS JOIN LATERAL (SELECT sum(kproxy.overlap(l.label, w.label, 'folk', 'job')) AS total
			FROM kproxy.labels('folk', 'job') w WHERE w.parent = '*') s WHERE abs(s.total - 1) > 1e-9`)
	if got != "NULL" {
		t.Errorf("these do not add up to 1: %s", got)
	}
	if got := text(t, reader, "SELECT string_agg(concat_ws(' ', label, certain, possible, round(overlap::numeric, 2)), ', ') FROM kproxy.labels('folk', 'job', 'medical') WHERE possible"); got !=
		"* f t 0.17, care f t 0.33, medical t t 1.00, doctor t t 1.00" {
		t.Errorf("labels that may be medical: %s", got)
	}
}

// TestLabelsAreLookedUpOnce: in a plan, what a constant means is a constant, until the owner
// writes other labels.
func TestLabelsAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	owner, reader := labeled(t)
	execute(t, reader, "SET plan_cache_mode = force_generic_plan")
	execute(t, reader, "PREPARE share AS SELECT kproxy.overlap(v.label, 'nurse', 'folk', 'job')::text FROM (VALUES ('care'), ('care')) AS v(label) LIMIT 1")
	if plan := explained(t, reader, "EXECUTE share"); strings.Contains(plan, "kproxy") {
		t.Errorf("the plan looks labels up row by row:\n%s", plan)
	}
	if got := text(t, reader, "EXECUTE share"); got != "0.3333333333333333" {
		t.Errorf("before: %s", got)
	}
	execute(t, owner, "BEGIN; UPDATE kproxy_catalog.label SET leaves = 4 WHERE label = 'care'; ALTER FUNCTION kproxy.overlap(text, text, text, text) IMMUTABLE; COMMIT")
	if got := text(t, reader, "EXECUTE share"); got != "0.25" {
		t.Errorf("after: %s", got)
	}
}
