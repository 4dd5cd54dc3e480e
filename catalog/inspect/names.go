package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Codes of the findings about names under which the database has nothing.
const (
	CodeTableMissing    = "table-missing"
	CodeReadableMissing = "readable-missing"
	CodeFunctionMissing = "function-missing"
)

// FixReadableMissing is what to do about a readable name that is like no other of the database.
const FixReadableMissing = "correct its name, or take it off readable"

// Names reports every name of the policy under which the database has nothing of that
// kind, with what was probably meant. It needs neither of kproxy's roles.
func Names(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (Report, error) {
	var report Report
	err := reading(ctx, conn, func() error {
		there, err := readNames(ctx, conn)
		report = there.missing(policy)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking the policy's names up: %w", err)
	}
	return report, nil
}

// existing are the names of a database, each in order.
type existing struct {
	relations, functions []catalog.Name
	// whole are the relations that are no partitions: nobody means a part where there was a whole,
	// which has been renamed perhaps.
	whole []catalog.Name
}

type existingRow struct {
	Schema  string
	Name    string
	Routine bool
	Part    bool
}

func readNames(ctx context.Context, conn *pgx.Conn) (existing, error) {
	rows, err := collect[existingRow](ctx, conn, "names")
	var there existing
	for _, row := range rows {
		name := catalog.Name{Schema: row.Schema, Relation: row.Name}
		switch {
		case catalog.IsOwn(row.Schema):
		case row.Routine:
			there.functions = append(there.functions, name)
		default:
			there.relations = append(there.relations, name)
			if !row.Part {
				there.whole = append(there.whole, name)
			}
		}
	}
	return there, err
}

// missing reports the names that are not there.
func (e existing) missing(policy catalog.Policy) Report {
	relations, functions := known(e.relations), known(e.functions)
	var report Report
	relation := func(code, otherwise string, name catalog.Name) {
		switch near := nearest(name, e.whole); {
		case relations[name]:
		case functions[name]:
			report.add(Error, code, name, "is a function, not a relation", "list it under functions")
		case near != none:
			report.add(Error, code, name, "there is no such relation", "did you mean "+near.String()+"?")
		default:
			report.add(Error, code, name, "there is no such relation", otherwise)
		}
	}
	for _, t := range policy.Tables {
		relation(CodeTableMissing, "correct its name in the policy", t.Table)
	}
	for _, name := range policy.Readable {
		relation(CodeReadableMissing, FixReadableMissing, name)
	}
	for _, name := range policy.Functions {
		switch near := nearest(name, e.functions); {
		case functions[name]:
		case relations[name]:
			report.add(Error, CodeFunctionMissing, name, "is a relation, not a function", "take it off functions; a relation is listed under readable, if analysts may read it as it is")
		case near != none:
			report.add(Error, CodeFunctionMissing, name, "there is no such function", "did you mean "+near.String()+"?")
		default:
			report.add(Error, CodeFunctionMissing, name, "there is no such function", "correct its name, or take it off functions")
		}
	}
	return report
}

func known(names []catalog.Name) map[catalog.Name]bool {
	known := make(map[catalog.Name]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	return known
}

// nearest is the name that was probably meant: one in the same schema that is a few
// single edits away, or else the only one of that relation in another schema. It is
// none where nothing is near.
func nearest(name catalog.Name, names []catalog.Name) catalog.Name {
	best, distance := none, (len(name.Relation)+2)/3+1
	var elsewhere []catalog.Name
	for _, n := range names {
		switch {
		case n == name:
			return none
		case n.Relation == name.Relation:
			elsewhere = append(elsewhere, n)
		case n.Schema == name.Schema && within(n.Relation, name.Relation, distance-1):
			if d := edits(n.Relation, name.Relation); d < distance && d < len(n.Relation) {
				best, distance = n, d
			}
		}
	}
	if best == none && len(elsewhere) == 1 {
		return elsewhere[0]
	}
	return best
}

// within says whether the lengths allow so few edits.
func within(a, b string, edits int) bool { return max(len(a)-len(b), len(b)-len(a)) <= edits }

// edits is the least number of bytes to insert, delete or substitute to make one name of
// the other, neighbors that are swapped counted once (Damerau 1964).
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			substituted := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				substituted++
			}
			rows[i][j] = min(substituted, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// checkNames wants the policy's names to be there.
func (c *checker) checkNames() error {
	there, err := readNames(c.ctx, c.conn)
	c.report = append(c.report, there.missing(c.in.Policy)...)
	return err
}

// incomplete says whether a protected table is not there: then it is not known what shows
// its rows, and what names it cannot be run.
func (c *checker) incomplete() bool {
	return slices.ContainsFunc(c.report, func(f Finding) bool { return f.Code == CodeTableMissing })
}
