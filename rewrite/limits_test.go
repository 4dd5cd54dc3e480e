package rewrite

import (
	"errors"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// deepTexts build trees whose depth grows with n.
var deepTexts = map[string]func(n int) string{
	"operators":      around("SELECT 1", "+1", ""),
	"concatenation":  around("SELECT 'a'", " || 'a'", ""),
	"casts":          around("SELECT 1", "::int", ""),
	"is null":        around("SELECT 1", " IS NULL", ""),
	"between":        around("SELECT 1", " BETWEEN 1 AND 2 IS NULL", ""),
	"collate":        around("SELECT 'a'", ` COLLATE "C"`, ""),
	"time zones":     around("SELECT now()", " AT TIME ZONE 'UTC'", ""),
	"joins":          around("SELECT * FROM wards", " CROSS JOIN wards", ""),
	"joins on":       around("SELECT * FROM wards", " JOIN wards ON true AND true OR (1, 2) = (1, 2)", ""),
	"unions":         around("SELECT 1, 2", " UNION SELECT 1, 2", ""),
	"not":            around("SELECT ", "NOT ", "true"),
	"minus":          around("SELECT ", "- ", "a"),
	"parentheses":    nested("SELECT ", "(", "1", ")"),
	"mixed and or":   nested("SELECT ", "(a AND b OR ", "c", ")"),
	"case when":      nested("SELECT ", "CASE WHEN ", "true", " THEN 1 END"),
	"case else":      nested("SELECT ", "CASE WHEN a THEN 1 ELSE ", "2", " END"),
	"case labels":    around("SELECT (a).case", " + (a).case.when.and.end", ""),
	"or labels":      around("SELECT (a).b", " + (a).or", ""),
	"when labels":    around("SELECT 1 case, (a).b", " + (a).when", ""),
	"bare case":      nested("SELECT ", "(SELECT 1 case, ", "2", ")"),
	"subselects":     nested("SELECT ", "(SELECT ", "1", ")"),
	"exists":         nested("SELECT ", "EXISTS (SELECT 1 WHERE ", "true", ")"),
	"in":             nested("SELECT ", "1 IN (SELECT 1 WHERE ", "true", ")"),
	"from":           nested("SELECT * FROM ", "(SELECT * FROM ", "wards", ") x"),
	"joined tables":  nested("SELECT * FROM ", "(", "wards", " CROSS JOIN wards)"),
	"with":           nested("", "WITH a AS (", "SELECT 1", ") SELECT 1"),
	"calls":          nested("SELECT ", "lower(", "'a'", ")"),
	"calls, commas":  nested("SELECT ", "concat(1, ", "'a'", ", 2)"),
	"arrays":         nested("SELECT ", "ARRAY[", "1", "]"),
	"subscripts":     nested("SELECT a", "[a", "", "]"),
	"indirections":   nested("SELECT ", "(", "a", ").b"),
	"grouping sets":  nested("SELECT 1 GROUP BY ", "GROUPING SETS (", "1", ")"),
	"windows":        nested("SELECT ", "count(1) OVER (ORDER BY ", "1", ")"),
	"rows":           nested("SELECT ", "ROW(1, ", "1", ")"),
	"explain cte":    nested("EXPLAIN ", "WITH a AS (", "SELECT 1", ") SELECT 1"),
	"not exists":     nested("SELECT ", "NOT EXISTS (SELECT WHERE ", "true", ")"),
	"xml":            nested("SELECT ", "xmlelement(name a, ", "1", ")"),
	"json":           nested("SELECT ", "json_array(", "1", ")"),
	"filter":         nested("SELECT ", "count(*) FILTER (WHERE ", "true", ")"),
	"quantified":     nested("SELECT ", "1 = ANY (ARRAY[", "1", "])"),
	"lateral":        nested("SELECT * FROM ", "LATERAL (SELECT * FROM wards a, ", "wards b", ") x"),
	"types":          around("SELECT 1", "::int[][]::numeric(1,2)", ""),
	"distinct from":  around("SELECT 1", " IS DISTINCT FROM 1 IS NULL", ""),
	"like escape":    around("SELECT a", " LIKE 'a' ESCAPE 'b' IS NULL", ""),
	"parenthesized":  nested("SELECT ", "((", "1", ") + 1)::int"),
	"not is null":    nested("SELECT ", "(NOT ", "true", ") IS NULL"),
	"execute":        nested("EXECUTE q (", "(", "1", ")"),
	"operator names": around("SELECT 1", " OPERATOR(pg_catalog.+) 1", ""),
}

func around(head, part, tail string) func(int) string {
	return func(n int) string { return head + strings.Repeat(part, n) + tail }
}

func nested(head, open, middle, closing string) func(int) string {
	return func(n int) string {
		text := head + strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
		if strings.HasPrefix(head, "EXECUTE") {
			text += ")"
		}
		return text
	}
}

func tooComplex(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.SQLState() == stateTooComplex
}

// TestDepthAtTheCap runs the deepest text of every kind that the guard lets pass,
// through parser and deparser: the process must survive. The next deeper one is
// refused.
func TestDepthAtTheCap(t *testing.T) {
	r := clinicRewriter()
	for name, text := range deepTexts {
		t.Run(name, func(t *testing.T) {
			over := sort.Search(20_000, func(n int) bool { return tooComplex(limitTokens(text(n), r.options)) })
			if over == 20_000 {
				t.Fatal("the depth is not bounded")
			}
			if over < 20 {
				t.Errorf("only %d levels pass", over-1)
			}
			if _, err := r.text(text(over)); !tooComplex(err) {
				t.Errorf("%d levels: %v, want %s", over, err, stateTooComplex)
			}
			out, err := r.text(text(over - 1))
			if failure := checkOutcome(text(over-1), out, err); failure != nil {
				t.Errorf("%d levels: %v", over-1, failure)
			}
			if tooComplex(err) {
				t.Errorf("%d levels: %v", over-1, err)
			}
		})
	}
}

// TestDepthOnASmallStack repeats it with stacks of a quarter of the usual size, in
// a process of its own, since a stack overflow in C cannot be recovered.
func TestDepthOnASmallStack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	command := exec.Command("/bin/sh", "-c", `ulimit -s 2048 && exec "$0" -test.run='^TestDepthAtTheCap$'`, os.Args[0])
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.2000s", err, output)
	}
}

// TestDepthOfShortTexts takes what the quick lexer vouches for past the guards: were it
// wrong, the parser would still survive on the usual stack.
func TestDepthOfShortTexts(t *testing.T) {
	const unguarded = "KPROXY_TEST_UNGUARDED"
	if os.Getenv(unguarded) == "" {
		command := exec.Command("/bin/sh", "-c", `ulimit -s 8192 && exec "$0" -test.run='^TestDepthOfShortTexts$'`, os.Args[0])
		command.Env = append(os.Environ(), unguarded+"=yes")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.2000s", err, output)
		}
		return
	}
	for name, text := range deepTexts {
		n := sort.Search(quickBytes, func(n int) bool { return len(text(n)) > quickBytes }) - 1
		tree, err := pg.Parse(text(n))
		if err != nil {
			t.Logf("%s, %d levels: %v", name, n, err)
			continue
		}
		if _, err := pg.Deparse(tree); err != nil {
			t.Logf("%s, %d levels: %v", name, n, err)
		}
	}
}

// TestLongListsPass: what is flat in PostgreSQL is not bounded by depth.
func TestLongListsPass(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for name, sql := range map[string]string{
		"in":        "SELECT * FROM patients WHERE age IN (0" + strings.Repeat(",1", 20_000) + ")",
		"values":    "VALUES (1, 'a', -1)" + strings.Repeat(", (1, 'a', -1)", 4_000),
		"and":       "SELECT * FROM patients WHERE a = 1" + strings.Repeat(" AND a = 1", 5_000),
		"or":        "SELECT * FROM patients WHERE a = 1" + strings.Repeat(" OR a = 1 AND b BETWEEN 1 AND 2", 3_000),
		"targets":   "SELECT a" + strings.Repeat(", a + 1", 1_600) + " FROM patients",
		"case arms": "SELECT CASE a" + strings.Repeat(" WHEN 1 + 2 THEN 'x' || 'y'", 2_000) + " END FROM patients",
		"from":      "SELECT 1 FROM wards w0" + strings.Repeat(", wards w1", 1_000),
		"ctes":      "WITH a AS (SELECT 1)" + strings.Repeat(", b AS (SELECT 1)", 1_000) + " SELECT 1",
		"joins":     "SELECT 1 FROM wards" + strings.Repeat(" JOIN wards ON a = b AND c = d", 180),
		"concat":    "SELECT 'a'" + strings.Repeat(" || 'a'", 180),
		"many":      strings.Repeat("SELECT 1;", 900),
		"array":     "SELECT ARRAY[[1, 2]" + strings.Repeat(", [1, 2]", 5_000) + "]",
	} {
		if _, err := r.text(sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileTexts: refused before the C scanner or the parser works on them.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for name, c := range map[string]struct{ sql, state string }{
		"bytes":            {strings.Repeat(" ", DefaultMaxStatementBytes+1), stateLimit},
		"tokens":           {"SELECT 1" + strings.Repeat(",1", DefaultMaxTokens), stateTooComplex},
		"statements":       {strings.Repeat("SELECT;", DefaultMaxStatements+1), stateLimit},
		"nul":              {"SELECT 'a\x00b'", stateEncoding},
		"utf-8":            {"SELECT '\xc3('", stateEncoding},
		"nested comments":  {strings.Repeat("/*", 20_000) + strings.Repeat("*/", 20_000), stateTooComplex},
		"operator run":     {"SELECT " + strings.Repeat("+", 100_000) + "1", stateTooComplex},
		"global":           {strings.Repeat("SELECT 1 INTO GLOBAL TEMP a;", 900), statePrivilege},
		"create global":    {strings.Repeat("CREATE GLOBAL TEMP TABLE a();", 900), statePrivilege},
		"terms":            {"SELECT 1" + strings.Repeat("+1", 30_000), stateTooComplex},
		"casts":            {"SELECT 1" + strings.Repeat("::int", 10_000), stateTooComplex},
		"open parentheses": {"SELECT " + strings.Repeat("(", 40_000), stateTooComplex},
		"unterminated":     {"SELECT '" + strings.Repeat("x", 100_000), stateSyntax},
		"dollars":          {"SELECT $a$" + strings.Repeat("$b$", 100_000), stateSyntax},
	} {
		_, err := r.text(c.sql)
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.SQLState() != c.state {
			t.Errorf("%s: %v, want %s", name, err, c.state)
		}
	}
}

// TestGuardOnLargestTexts: the guards come back from the largest texts, of any kind
// of token.
func TestGuardOnLargestTexts(t *testing.T) {
	t.Parallel()
	o := Options{}.withDefaults()
	for _, part := range []string{"/* ", "a ", "'a' ", "+ ", "1,", "\"a\".", "/**/"} {
		sql := strings.Repeat(part, DefaultMaxStatementBytes/len(part))
		if limitText(sql, o) == nil {
			_ = limitTokens(sql, o) // returns, whatever it says
		}
	}
}

// TestLongRunsAreFoundEverywhere puts runs that are just too long, and just not, at each
// distance from the bytes that longRun looks at, and alone or behind another.
func TestLongRunsAreFoundEverywhere(t *testing.T) {
	t.Parallel()
	rulers := []string{"", strings.Repeat("-", maxOperatorRun) + " "}
	for at := range 3 * maxOperatorRun {
		for _, before := range rulers {
			head := strings.Repeat("x", at) + before
			if i := longRun(head + strings.Repeat("*", maxOperatorRun) + "x"); i >= 0 {
				t.Fatalf("a run of %d at %d is too long at %d", maxOperatorRun, len(head), i)
			}
			for _, tail := range []string{"", "x", strings.Repeat("+", 2*maxOperatorRun)} {
				if i, want := longRun(head+strings.Repeat("*", maxOperatorRun+1)+tail), len(head)+maxOperatorRun; i != want {
					t.Fatalf("a run at %d is too long at %d, want %d", len(head), i, want)
				}
			}
		}
	}
}
