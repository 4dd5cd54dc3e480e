package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// connectedRow is a foreign key between two protected tables: which columns of Child refer
// to which of Parent, in order.
type connectedRow struct {
	Child      uint32
	Parent     uint32
	Columns    []string
	Referenced []string
}

// equalColumns reports columns of two tables with the same content: columns that agree row by
// row where a foreign key joins the tables, and, with or without one, columns that identify
// records or persons and have most of their values in common.
func equalColumns(ctx context.Context, conn *pgx.Conn, tables []*rawTable) (Report, error) {
	e := equality{told: make(map[[2]*rawColumn]bool)}
	byOID := make(map[uint32]*rawTable)
	var numbers []uint32
	for _, t := range tables {
		byOID[uint32(t.relation.OID)] = t
		numbers = append(numbers, uint32(t.relation.OID))
	}
	connections, err := collect[connectedRow](ctx, conn, "connected", numbers)
	if err != nil {
		return nil, err
	}
	for _, one := range connections {
		if err := e.compareRows(ctx, conn, byOID[one.Child], byOID[one.Parent], one); err != nil {
			return nil, err
		}
	}
	e.compareValues(tables)
	return e.report, nil
}

type equality struct {
	told   map[[2]*rawColumn]bool
	report Report
}

func (e *equality) tell(a, b *rawColumn, what string) {
	if e.told[[2]*rawColumn{a, b}] || e.told[[2]*rawColumn{b, a}] {
		return
	}
	e.told[[2]*rawColumn{a, b}] = true
	e.report = append(e.report, Finding{
		Severity: Warning, Code: CodeEqualColumns, Table: a.table.policy.Table, Column: a.column.Name,
		What: what + "; readers join the rows of both tables by it, and k holds for neither of them then",
		Fix:  "publish it in one of the tables only, or give it the role quasi-identifying in one of them",
	})
}

// comparedRecords bounds how many records of a table are joined with those that they refer to.
const comparedRecords = 10_000

// compareRows compares the columns of records that a foreign key joins.
func (e *equality) compareRows(ctx context.Context, conn *pgx.Conn, child, parent *rawTable, key connectedRow) error {
	if len(child.columns) == 0 || len(parent.columns) == 0 {
		return nil
	}
	columns := append(slices.Clone(child.columns), parent.columns...)
	hashes, on := make([]string, len(columns)), make([]string, len(key.Columns))
	for i, c := range columns {
		alias := "a"
		if i >= len(child.columns) {
			alias = "b"
		}
		hashes[i] = hashed(alias, c.column)
	}
	for i, column := range key.Columns {
		on[i] = fmt.Sprintf("a.%s = b.%s", catalog.QuoteIdentifier(column), catalog.QuoteIdentifier(key.Referenced[i]))
	}
	sampled := child.from()
	if child.records > comparedRecords {
		sampled += fmt.Sprintf(" TABLESAMPLE BERNOULLI (%g) REPEATABLE (0)", 100*comparedRecords/float64(child.records))
	}
	rows, err := conn.Query(ctx, fmt.Sprintf("SELECT ARRAY[%s] FROM (SELECT * FROM %s) a JOIN %s b ON %s", strings.Join(hashes, ", "), sampled, parent.from(), strings.Join(on, " AND ")))
	if err != nil {
		return fmt.Errorf("joining %s with %s: %w", child.policy.Table, parent.policy.Table, err)
	}
	joined, err := pgx.CollectRows(rows, pgx.RowTo[[]*int64])
	if err != nil {
		return fmt.Errorf("joining %s with %s: %w", child.policy.Table, parent.policy.Table, err)
	}
	for i, a := range child.columns {
		for j, b := range parent.columns {
			if observed, beyondChance := agreement(joined, i, len(child.columns)+j); beyondChance >= most {
				e.tell(a, b, fmt.Sprintf("is published and agrees with %s, which is published, too, in %.0f %% of the records that refer to it by %s",
					b.name(), 100*observed, strings.Join(key.Columns, ", ")))
			}
		}
	}
	return nil
}

// agreement is the share of rows whose values i and j are equal, and how far it exceeds
// chance: Cohen's kappa (A coefficient of agreement for nominal scales, 1960). Rows that lack one
// of the values are left out.
func agreement(rows [][]*int64, i, j int) (observed, beyondChance float64) {
	n, equal := 0, 0
	left, right := make(map[int64]int), make(map[int64]int)
	for _, row := range rows {
		a, b := row[i], row[j]
		if a == nil || b == nil {
			continue
		}
		n++
		left[*a]++
		right[*b]++
		if *a == *b {
			equal++
		}
	}
	if n < fewRecords {
		return 0, 0
	}
	chance := 0.0
	for value, times := range left {
		chance += float64(times) / float64(n) * float64(right[value]) / float64(n)
	}
	observed = float64(equal) / float64(n)
	if chance == 1 { // they never differ, and tell nothing
		return observed, 0
	}
	return observed, (observed - chance) / (1 - chance)
}

// compareValues compares the values of columns that can join records of any two tables. It looks each value
// up once, whatever the number of tables.
func (e *equality) compareValues(tables []*rawTable) {
	holding := make(map[int64][]*rawColumn)
	shared := make(map[[2]*rawColumn]int)
	for _, t := range tables {
		for _, c := range t.columns {
			if share, _ := c.distinguishing(); share < most && !c.gathers {
				continue
			}
			for _, hash := range c.hashes {
				for _, other := range holding[hash] {
					if other.table != t {
						shared[[2]*rawColumn{other, c}]++
					}
				}
				holding[hash] = append(holding[hash], c)
			}
		}
	}
	for _, pair := range inOrder(shared) {
		a, b := pair[0], pair[1]
		// Of the column with more values fewer are drawn: only they can be in common.
		up := bound(min(a.share, b.share))
		least := min(a.drawn(up), b.drawn(up))
		if share := float64(shared[pair]) / float64(max(1, least)); least >= fewRecords && share >= most {
			e.tell(a, b, fmt.Sprintf("is published and has %.0f %% of its values in common with %s, which is published, too, or that one with it, and few records, or those of one person, share a value",
				100*share, b.name()))
		}
	}
}

// inOrder sorts the pairs by the names of their columns.
func inOrder(pairs map[[2]*rawColumn]int) [][2]*rawColumn {
	all := make([][2]*rawColumn, 0, len(pairs))
	for pair := range pairs {
		all = append(all, pair)
	}
	slices.SortFunc(all, func(x, y [2]*rawColumn) int {
		return strings.Compare(x[0].name()+" "+x[1].name(), y[0].name()+" "+y[1].name())
	})
	return all
}

// drawn is how many values with a hash up to a bound were drawn.
func (c *rawColumn) drawn(up int64) int {
	n, found := slices.BinarySearch(c.hashes, up)
	if found {
		n++
	}
	return n
}
