package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// codeNarrowing is a column that is published as it is, follows from a quasi-identifier, and
// distinguishes values of it that are published alike: a district of a postcode.
const codeNarrowing = "narrows-quasi-identifier"

const (
	// narrowingSample is the number of records, or persons, that are read of a table.
	narrowingSample = 20_000
	// narrowingSeed makes samples reproducible.
	narrowingSeed = 1
	// narrowingShare is the share of pairs of records with the same published value, 0 to 1, from
	// which on a column that distinguishes them is reported.
	narrowingShare = 0.01
)

// Narrowing warns about columns that are published as they are, follow from a quasi-identifier of
// their table, and show more of it than is published. It leaves out what the policy acknowledges,
// and columns about which earlier findings say something graver. It reads a sample of each table
// once.
func Narrowing(ctx context.Context, tx pgx.Tx, policies catalog.Policy, relations []catalog.Relation, earlier inspect.Report) (inspect.Report, error) {
	var report inspect.Report
	for _, policy := range policies.Protecting().Tables {
		columns := unacknowledged(policy, earlier)
		publications, problems, err := inspect.Publish(ctx, tx.Conn(), catalog.Policy{Tables: []catalog.TablePolicy{policy}}, relations)
		if err != nil {
			return nil, err
		}
		if len(columns) == 0 || len(problems) > 0 || len(publications) != 1 {
			continue
		}
		n, err := readNarrowing(ctx, tx, publications[0], columns)
		if err != nil {
			return nil, fmt.Errorf("reading records of %s: %w", policy.Table, upstream.WithoutValues(err))
		}
		report = append(report, n.judge()...)
	}
	return report, nil
}

// adviseNarrowing is Narrowing in a transaction of its own.
func adviseNarrowing(ctx context.Context, conn *pgx.Conn, c *config.Config, relations []catalog.Relation, earlier inspect.Report) (report inspect.Report, err error) {
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		report, err = Narrowing(ctx, tx, c.Policy, relations, earlier)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("comparing published columns with quasi-identifiers: %w", err)
	}
	return report, nil
}

// unacknowledged are the columns that a policy publishes as they are, and of which nothing is said
// yet.
func unacknowledged(policy catalog.TablePolicy, earlier inspect.Report) []string {
	var columns []string
	for _, c := range slices.Concat(policy.ByRole(catalog.Sensitive), policy.ByRole(catalog.Insensitive)) {
		if !slices.Contains(policy.Joinable, c.Name) &&
			!slices.ContainsFunc(earlier, func(f inspect.Finding) bool { return f.Table == policy.Table && f.Column == c.Name }) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// narrowing is a sample of a table, by which its published columns are compared with its
// quasi-identifiers.
type narrowing struct {
	policy     catalog.TablePolicy
	attributes []anonymizer.Attribute
	cells      [][]hierarchy.Cell // by attribute and record
	texts      [][]string         // likewise
	columns    []string
	values     [][]string // by column and record
	present    [][]bool   // likewise; false for NULL
	// share is that of the table's records that were read, above 0 to 1.
	share float64
}

// readNarrowing reads a sample of records, or one record each of a sample of persons: the
// records of a person are alike in what does not change, whether or not it follows from anything.
func readNarrowing(ctx context.Context, tx pgx.Tx, publication catalog.Publication, columns []string) (*narrowing, error) {
	attributes, err := publication.NewAttributes()
	if err != nil {
		return nil, err
	}
	n := &narrowing{
		policy: publication.Policy, attributes: attributes, cells: make([][]hierarchy.Cell, len(attributes)), texts: make([][]string, len(attributes)),
		columns: columns, values: make([][]string, len(columns)), present: make([][]bool, len(columns)),
	}
	source := sample.Source{Relation: publication.Relation, Subject: publication.Policy.Subject}
	for _, a := range attributes {
		source.Columns = append(source.Columns, a.Name)
	}
	source.Columns = append(source.Columns, columns...)
	if source.Subject != "" {
		source.Columns = append(source.Columns, source.Subject)
	}
	read, met := 0, make(map[string]bool)
	total, err := source.Read(ctx, tx, narrowingSample, narrowingSeed, nil, func(record [][]byte) {
		read++
		if source.Subject != "" {
			person := string(record[len(record)-1])
			if met[person] {
				return
			}
			met[person] = true
		}
		n.add(record)
	})
	n.share = float64(max(1, read)) / float64(max(1, total))
	return n, err
}

// add takes the texts of a record's attributes and columns, nil for NULL.
func (n *narrowing) add(record [][]byte) {
	for a, attribute := range n.attributes {
		cell := hierarchy.OffScale()
		if record[a] != nil {
			cell = attribute.Hierarchy.Encode(string(record[a]))
		}
		n.cells[a], n.texts[a] = append(n.cells[a], cell), append(n.texts[a], string(record[a]))
	}
	for c := range n.columns {
		text := record[len(n.attributes)+c]
		n.values[c] = append(n.values[c], string(text))
		n.present[c] = append(n.present[c], text != nil)
	}
}

// judge reports the columns that show more of quasi-identifiers than these publish.
func (n *narrowing) judge() (report inspect.Report) {
	axes := make([]narrowingAxis, len(n.attributes))
	for a := range axes {
		axes[a] = n.axis(a)
	}
	widths := n.widths(axes)
	for c, column := range n.columns {
		var names []string
		most := 0.0
		for a, attribute := range n.attributes {
			told := max(n.pair(a, c, axes[a]).told(n.share, widths[a]), n.presence(a, c, axes[a]).told(n.share, widths[a]))
			if told >= narrowingShare {
				names, most = append(names, attribute.Name), max(most, told)
			}
		}
		if len(names) == 0 {
			continue
		}
		of := strings.Join(names, ", ")
		report = append(report, inspect.Finding{
			Severity: inspect.Warning, Code: codeNarrowing, Table: n.policy.Table, Column: column,
			What: fmt.Sprintf("is published and follows from %s, and shows more of it than is published: by an estimate, %.0f %% of the pairs of records with the same published value differ in it; someone who knows %s may be left with fewer records than k",
				of, 100*most, of),
			Fix: fmt.Sprintf("give it the role quasi-identifying with a hierarchy, or identifying; or, if readers may know it, write into the table's policy: acknowledge: {joinable: [%s]}", column),
		})
	}
	return report
}

// widths estimate the share of the table's records, 0 to 1, over which a class of k records
// extends in the order of each attribute: all attributes are divided alike, and one that has few
// values no further than into these, which is 0.
func (n *narrowing) widths(axes []narrowingAxis) []float64 {
	k := 2
	for _, constraint := range n.policy.Constraints {
		if constraint.Model == privacy.K {
			k = max(k, constraint.K)
		}
	}
	records := float64(len(n.cells[0]))
	class := min(1, float64(k)*n.share/max(1, records))
	finest := make([]float64, len(axes)) // the share of the narrowest class
	order := make([]int, len(axes))
	for a, x := range axes {
		labels := 1
		if len(x.finest) > 0 {
			labels += slices.Max(x.finest)
		}
		finest[a], order[a] = 1/float64(labels), a
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(finest[b], finest[a]) })
	widths := make([]float64, len(axes))
	for i, a := range order {
		width := math.Pow(class, 1/float64(len(order)-i))
		if width > finest[a] {
			widths[a] = width
		}
		class = min(1, class/max(width, finest[a]))
	}
	return widths
}
