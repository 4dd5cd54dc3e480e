package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// rows are what a query returned, as texts.
type rows struct {
	column map[string]int
	values [][]*string
}

func (r rows) at(i int, column string) *string { return r.values[i][r.column[column]] }

// text is a value in which NULL is a value of its own.
func (r rows) text(i int, column string) string {
	if v := r.at(i, column); v != nil {
		return "=" + *v
	}
	return ""
}

// readRows reads a whole table in one statement.
func readRows(ctx context.Context, conn *pgx.Conn, table string) (rows, error) {
	got := rows{column: map[string]int{}}
	result, err := conn.Query(ctx, "SELECT * FROM "+table, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return got, err
	}
	defer result.Close()
	for i, f := range result.FieldDescriptions() {
		got.column[f.Name] = i
	}
	for result.Next() {
		row := make([]*string, len(got.column))
		for i, raw := range result.RawValues() {
			if raw != nil {
				text := string(raw)
				row[i] = &text
			}
		}
		got.values = append(got.values, row)
	}
	return got, result.Err()
}

// classes gathers rows that are alike in what is published of the columns.
func (p protected) classes(published rows, over []string) map[string][]int {
	var shown []string
	for _, c := range p.columns {
		for _, name := range over {
			if c.name == name {
				shown = append(shown, c.shown...)
			}
		}
	}
	classes := map[string][]int{}
	for i := range published.values {
		var key strings.Builder
		for _, name := range shown {
			fmt.Fprintf(&key, "%q,", published.text(i, name))
		}
		classes[key.String()] = append(classes[key.String()], i)
	}
	return classes
}

// spreadOf counts persons, and those who have each value of the column, if any.
// Persons are numbered by ref; nil persons are the rows themselves.
func spreadOf(published rows, class []int, of string, persons map[string]string) spread {
	all := map[string]bool{}
	having := map[string]map[string]bool{}
	for _, i := range class {
		person := published.text(i, "ref")
		if persons != nil {
			person = persons[person]
		}
		all[person] = true
		if of == "" {
			continue
		}
		value := strings.TrimPrefix(published.text(i, of), "=")
		if having[value] == nil {
			having[value] = map[string]bool{}
		}
		having[value][person] = true
	}
	s := spread{persons: len(all), values: map[string]int{}, who: all, having: having}
	shares := 0
	for value, who := range having {
		s.values[value] = len(who)
		shares += len(who)
	}
	s.single = shares == len(all)
	return s
}

// keeps checks every promise over the published rows.
func (p protected) keeps(published rows, persons map[string]string) error {
	everything := make([]int, len(published.values))
	for i := range everything {
		everything[i] = i
	}
	for _, promise := range p.promises {
		groupings := [][]string{promise.over}
		if promise.over == nil {
			groupings = p.parts
		}
		whole := spreadOf(published, everything, promise.of, persons)
		for _, over := range groupings {
			for key, class := range p.classes(published, over) {
				if s := spreadOf(published, class, promise.of, persons); !promise.kept(s, whole) {
					return fmt.Errorf("%s: %s does not hold of the %d rows %s: %v in %v", p.name, promise.says, len(class), key, s, whole)
				}
			}
		}
	}
	return nil
}

// accounts checks that every row of the source is published, and truly.
func (p protected) accounts(published, source rows) error {
	if len(published.values) != len(source.values) {
		return fmt.Errorf("%s: %d rows are published of %d", p.name, len(published.values), len(source.values))
	}
	at := map[string]int{}
	for i := range source.values {
		at[source.text(i, "ref")] = i
	}
	for i := range published.values {
		from, exists := at[published.text(i, "ref")]
		if !exists {
			return fmt.Errorf("%s: a row is published twice, or is not in the source", p.name)
		}
		delete(at, published.text(i, "ref"))
		for _, c := range p.columns {
			value := source.at(from, c.name)
			switch {
			case c.policy == "":
				if _, shown := published.column[c.name]; shown {
					return fmt.Errorf("%s: column %s is published", p.name, c.name)
				}
			case c.shown == nil:
				if published.text(i, c.name) != source.text(from, c.name) {
					return fmt.Errorf("%s: %s is not as in the source", p.name, c.name)
				}
			default:
				if last := c.shown[len(c.shown)-1]; !c.covers(published.at(i, last), value) {
					return fmt.Errorf("%s: %s is published as %q and was %q", p.name, c.name, published.text(i, last), source.text(from, c.name))
				}
			}
		}
	}
	return nil
}

// holds compares what clients read with the source, in which nothing may be
// written meanwhile, and has kproxy prove it as well.
func (s *site) holds(t *testing.T, tables []protected) {
	t.Helper()
	conn, client := connect(t, s.admin), connect(t, s.url())
	for _, p := range tables {
		eventually(t, "the private store holds the rows of "+p.name, func() bool {
			missing, surplus, err := s.drift(t, conn, p.name, p.stored())
			if err != nil {
				t.Fatalf("comparing store and source: %v", err)
			}
			return missing == 0 && surplus == 0
		})
		source, err := readRows(t.Context(), conn, p.name)
		if err != nil {
			t.Fatal(err)
		}
		published, err := readRows(t.Context(), client, p.name)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		var persons map[string]string
		if p.subject != "" {
			persons = map[string]string{}
			for i := range source.values {
				persons[source.text(i, "ref")] = source.text(i, p.subject)
			}
		}
		classes := len(p.classes(published, p.parts[0]))
		t.Logf("%s: %d rows in %d classes", p.name, len(published.values), classes)
		if classes < 2 {
			t.Errorf("%s: all rows are alike, which shows nothing", p.name)
		}
		if err := errors.Join(p.accounts(published, source), p.keeps(published, persons)); err != nil {
			t.Error(err)
		}
	}
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestPolicies protects tables by everything that a policy can say, changes them,
// kills kproxy meanwhile, and checks what is published by brute force.
func TestPolicies(t *testing.T) {
	t.Parallel()
	const seed, transactions = 31, 50
	t.Logf("seed %d", seed)
	tables := policyTables()
	s := newSite(t, protectedSite(siteOptions{server: ownServer(t, pgserver.Options{}), tables: unmeetable}, seed, 120, tables, unmeetableSource))
	s.write(t, "jobs.csv", jobs)
	s.kproxy(t, "setup").must(t)
	if o := s.kproxy(t, "check").must(t); !strings.Contains(o.stdout, "ok: 6 of 9 protected tables") {
		t.Errorf("check wrote %q", o.stdout)
	}
	p := s.serve(t)
	s.holds(t, tables)
	testUnmeetable(t, s, p)
	stop := watchAll(t, s, tables)
	change(t, s, tables, seed, 1, transactions, false)()
	s.holds(t, tables)
	done := change(t, s, tables, seed, 2, transactions, false)
	p.end(t, syscall.SIGKILL)
	s.serve(t)
	done()
	s.holds(t, tables)
	change(t, s, tables, seed, 3, transactions, true)()
	s.holds(t, tables)
	stop()
}
