package provision_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// helping is a prepared database and a session of its reader.
func helping(t *testing.T) (admin, reader *pgx.Conn) {
	t.Helper()
	admin, in := database(t)
	apply(t, admin, in)
	return admin, login(t, admin, in.Reader)
}

// rangeAxis makes values of one range type out of whole numbers.
type rangeAxis struct {
	name     string
	literal  func(int) string
	discrete bool
}

var rangeAxes = []rangeAxis{
	{"int4range", func(i int) string { return fmt.Sprint(i) }, true},
	{"int8range", func(i int) string { return fmt.Sprint(int64(i) + 9007199254740990) }, true},
	{"daterange", func(i int) string { return fmt.Sprintf("2000-01-%02d", 2+i) }, true},
	{"numrange", func(i int) string { return fmt.Sprintf("%d.5", i) }, false},
	{"tsrange", func(i int) string { return fmt.Sprintf("2000-01-01 %02d:00", i) }, false},
	{"tstzrange", func(i int) string { return fmt.Sprintf("2000-01-01 %02d:00+00", i) }, false},
}

// span is an interval over 0 to reach, with ends that are in it or not, or missing.
type span struct {
	low, high       int
	lowIn, highIn   bool
	openLow, openUp bool
}

const reach = 9

func randomSpan(random *rand.Rand) span {
	a, b := random.IntN(reach+1), random.IntN(reach+1)
	return span{
		low: min(a, b), high: max(a, b), lowIn: random.IntN(2) == 0, highIn: random.IntN(2) == 0,
		openLow: random.IntN(8) == 0, openUp: random.IntN(8) == 0,
	}
}

func (s span) literal(axis rangeAxis) string {
	text := map[bool]string{true: "[", false: "("}[s.lowIn]
	if !s.openLow {
		text += `"` + axis.literal(s.low) + `"`
	}
	text += ","
	if !s.openUp {
		text += `"` + axis.literal(s.high) + `"`
	}
	return text + map[bool]string{true: "]", false: ")"}[s.highIn]
}

// holds says whether a point of the axis, in quarters, lies in the span.
func (s span) holds(quarters int) bool {
	low, high := quarters-4*s.low, quarters-4*s.high
	return (s.openLow || low > 0 || low == 0 && s.lowIn) && (s.openUp || high < 0 || high == 0 && s.highIn)
}

// brute counts by enumeration: the values of whole numbers, or the quarters between the
// ends of an axis without gaps, which stand for their length. A span without an end is
// counted far beyond the other one's.
func brute(axis rangeAxis, of, wanted span) (certain, possible bool, overlap float64) {
	const far = 400_000
	from, to := -4, 4*(reach+1)
	if of.openLow {
		from = -far
	}
	if of.openUp {
		to = far
	}
	values, within := 0, 0
	certain = true
	for q := from; q <= to; q++ {
		if axis.discrete && q%4 != 0 || !of.holds(q) {
			continue
		}
		in := wanted.holds(q)
		possible, certain = possible || in, certain && in
		if axis.discrete || q%2 != 0 { // the middles of halves are their lengths
			values++
			if in {
				within++
			}
		}
	}
	switch {
	case !possible:
		return false, false, 0
	case values == 0: // one point
		return certain, possible, 1
	}
	return certain, possible, float64(within) / float64(values)
}

// TestOverlapsAreThoseOfEnumeratedValues draws ranges and intervals of every type.
func TestOverlapsAreThoseOfEnumeratedValues(t *testing.T) {
	t.Parallel()
	_, reader := helping(t)
	random := rand.New(rand.NewPCG(8, 1))
	for _, axis := range rangeAxes {
		batch := &pgx.Batch{}
		var drawn [][2]span
		for range 250 {
			of, wanted := randomSpan(random), randomSpan(random)
			drawn = append(drawn, [2]span{of, wanted})
			r, w := of.literal(axis)+"'::"+axis.name, wanted.literal(axis)+"'::"+axis.name
			batch.Queue(strings.NewReplacer("R", "'"+r, "W", "'"+w).Replace(`SELECT kproxy.certain(R, W), kproxy.possible(R, W), kproxy.overlap(R, W)`))
		}
		results := reader.SendBatch(t.Context(), batch)
		for _, d := range drawn {
			var certain, possible bool
			var overlap float64
			if err := results.QueryRow().Scan(&certain, &possible, &overlap); err != nil {
				t.Fatal(err)
			}
			wantCertain, wantPossible, want := brute(axis, d[0], d[1])
			tolerance := 1e-9
			if d[0].openLow || d[0].openUp {
				tolerance = 1e-3
			}
			if certain != wantCertain || possible != wantPossible || math.Abs(overlap-want) > tolerance {
				t.Errorf("%s %s in %s: %v, %v and %v, %v, %v and %v expected", axis.name, d[0].literal(axis), d[1].literal(axis),
					certain, possible, overlap, wantCertain, wantPossible, want)
			}
		}
		if err := results.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverlapsOfAPartitionAddUp cuts the whole axis into intervals.
func TestOverlapsOfAPartitionAddUp(t *testing.T) {
	t.Parallel()
	_, reader := helping(t)
	for _, c := range []struct{ axis, cuts string }{
		{"int4range", "'{NULL,-5,0,3,7,2147483647,NULL}'::int[]"},
		{"int8range", "'{NULL,-9223372036854775808,0,9007199254740993,9223372036854775807,NULL}'::bigint[]"},
		{"numrange", "'{NULL,-1e40,-0.25,0,1e-30,2.5,1e300,NULL}'::numeric[]"},
		{"daterange", "'{NULL,-infinity,4000-01-01 BC,2000-01-01,2000-02-01,infinity,NULL}'::date[]"},
		{"tsrange", "'{NULL,-infinity,4000-01-01 BC,2000-01-01,2000-01-01 00:00:00.5,294000-01-01,infinity,NULL}'::timestamp[]"},
		{"tstzrange", "'{NULL,-infinity,2000-01-01,2024-06-01 12:00+02,infinity,NULL}'::timestamptz[]"},
	} {
		// Every range between two cuts, of each kind of ends, against all intervals.
		sql := strings.ReplaceAll(`WITH cut AS (SELECT cut, n FROM unnest(CUTS) WITH ORDINALITY AS u(cut, n)),
			parts AS (SELECT AXIS(a.cut, b.cut) AS part FROM cut a JOIN cut b ON b.n = a.n + 1),
			ranges AS (SELECT DISTINCT CASE WHEN ends = '[)' OR 'AXIS' !~ '^int' OR NOT '{2147483647,9223372036854775807}'::text[] && ARRAY[a.cut::text, b.cut::text]
			                       THEN AXIS(a.cut, b.cut, ends) ELSE 'empty' END AS r
			           FROM cut a JOIN cut b ON b.n > a.n CROSS JOIN unnest('{[],[),(],()}'::text[]) ends)
			SELECT count(*)::text || ' ' || count(*) FILTER (WHERE abs(total - 1) < 1e-9 AND least >= 0 AND most <= 1 AND ordered)
			FROM (SELECT r, sum(kproxy.overlap(r, part)) AS total, min(kproxy.overlap(r, part)) AS least, max(kproxy.overlap(r, part)) AS most,
			        bool_and(kproxy.certain(r, part)::int <= kproxy.overlap(r, part) AND kproxy.overlap(r, part) <= kproxy.possible(r, part)::int) AS ordered
			      FROM ranges CROSS JOIN parts WHERE NOT isempty(r) GROUP BY r) s`, "AXIS", c.axis)
		got := text(t, reader, strings.ReplaceAll(sql, "CUTS", c.cuts))
		if parts := strings.Fields(got); len(parts) != 2 || parts[0] != parts[1] || parts[0] == "0" {
			t.Errorf("%s: of how many ranges, how many add up: %s", c.axis, got)
		}
	}
}

func TestHelpersOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	_, reader := helping(t)
	for _, axis := range rangeAxes {
		whole := "'[" + axis.literal(1) + "," + axis.literal(3) + "]'::" + axis.name
		for _, c := range []struct{ of, wanted, want string }{
			{"NULL", whole, "f t NULL"},
			{"NULL", "NULL", "f t NULL"},
			{"'empty'", whole, "f f 0"},
			{whole, "'empty'", "f f 0"},
			{whole, "NULL", "NULL NULL NULL"},
			{"'(,)'", "'(,)'", "t t 1"},
		} {
			of, wanted := "("+c.of+")::"+axis.name, "("+c.wanted+")::"+axis.name
			sql := fmt.Sprintf(`SELECT concat_ws(' ', coalesce(kproxy.certain(%[1]s, %[2]s)::"char"::text, 'NULL'), coalesce(kproxy.possible(%[1]s, %[2]s)::"char"::text, 'NULL'), coalesce(kproxy.overlap(%[1]s, %[2]s)::text, 'NULL'))`, of, wanted)
			sql = strings.ReplaceAll(sql, `::"char"::text`, "::text")
			got := strings.NewReplacer("true", "t", "false", "f").Replace(text(t, reader, sql))
			if got != c.want {
				t.Errorf("%s %s in %s: %s, want %s", axis.name, c.of, c.wanted, got, c.want)
			}
		}
	}
}

// TestHelpersOverRangesAreInLine: what is sent to the planner names none of them.
func TestHelpersOverRangesAreInLine(t *testing.T) {
	t.Parallel()
	admin, _ := helping(t)
	for _, axis := range rangeAxes {
		low, high := "'"+axis.literal(1)+"'", "'"+axis.literal(3)+"'"
		if axis.discrete && axis.name != "daterange" || axis.name == "numrange" {
			low, high = axis.literal(1), axis.literal(3)
		}
		execute(t, admin, fmt.Sprintf("CREATE TABLE held_%s (r %[1]s, label text)", axis.name))
		plan := explained(t, admin, fmt.Sprintf(`SELECT sum(kproxy.overlap(r, %[1]s, %[2]s)), count(*) FILTER (WHERE kproxy.possible(r, %[1]s, %[2]s))
			FROM held_%[3]s WHERE kproxy.possible(r, %[1]s, %[2]s) AND kproxy.possible(label, '10115') AND NOT kproxy.certain(label, '101*')
			  AND kproxy.overlap(label, '101*') > 0.1 AND NOT kproxy.certain(r, %[1]s, %[2]s)`, low, high, axis.name))
		if strings.Contains(plan, "kproxy.") {
			t.Errorf("%s:\n%s", axis.name, plan)
		}
	}
}

func explained(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN (VERBOSE, COSTS off) "+sql)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestHelpersAreAsTheCatalogCountsThem: a check looks for as many.
func TestHelpersAreAsTheCatalogCountsThem(t *testing.T) {
	t.Parallel()
	admin, _ := helping(t)
	rows, err := admin.Query(t.Context(), "SELECT proname::text, count(*)::int FROM pg_proc WHERE pronamespace = 'kproxy'::regnamespace GROUP BY 1 ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name  string
		Count int
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(catalog.Helpers()) {
		t.Errorf("helpers %v, want %v", found, catalog.Helpers())
	}
	for _, f := range found {
		if f.Count != catalog.HelperOverloads(f.Name) {
			t.Errorf("%s has %d overloads, and the catalog counts %d", f.Name, f.Count, catalog.HelperOverloads(f.Name))
		}
	}
}

// TestSetupTakesNobodysSchema: a schema of the helpers' name that is somebody else's stays.
func TestSetupTakesNobodysSchema(t *testing.T) {
	t.Parallel()
	for _, plant := range []string{"CREATE SCHEMA kproxy", "CREATE SCHEMA kproxy; CREATE TABLE kproxy.mine (a int)"} {
		admin, in := database(t)
		execute(t, admin, plant)
		fails(t, admin, in, "the schema kproxy, or something in it, does not belong")
		execute(t, admin, "ALTER SCHEMA kproxy RENAME TO theirs")
		apply(t, admin, in)
		execute(t, admin, "CREATE TABLE kproxy.mine (a int)")
		if err := provision.Apply(t.Context(), admin, in); err == nil || !strings.Contains(err.Error(), "does not belong") {
			t.Errorf("what is somebody else's in the schema: %v", err)
		}
	}
}
