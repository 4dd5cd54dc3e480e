package webconsole

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
)

// Table describes one table.
func (s *source) Table(ctx context.Context, name string) (console.Table, error) {
	c := s.config()
	i := slices.IndexFunc(c.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table.String() == name })
	if i < 0 {
		return console.Table{}, console.ErrUnknown
	}
	s.mutex.Lock()
	known := s.tables[name]
	if known == nil {
		known = &memo[console.Table]{}
		s.tables[name] = known
	}
	s.mutex.Unlock()
	own := s.process.Conditions()
	return known.get(ctx, own, func(ctx context.Context) (console.Table, error) {
		ctx, cancel := context.WithTimeout(ctx, pageTimeout)
		defer cancel()
		policy := c.Policy.Tables[i]
		t, err := readConsoleTable(ctx, c, policy, own[policy.Table])
		if err != nil && ctx.Err() == nil {
			last, _ := known.last()
			return unknownTable(last, c, policy, own[policy.Table], err), nil
		}
		if w := s.process.Work()[name]; err == nil {
			t.Work = w
		}
		return t, err
	})
}

// unknownTable returns what is known of a table while the private store cannot be read: its policy, this
// process's own condition of it, and what was read last.
func unknownTable(last console.Table, c *config.Config, policy catalog.TablePolicy, own status.Condition, err error) console.Table {
	t := last
	t.At, t.Unread = time.Now(), "What is published cannot be read: "+err.Error()
	r := unknownRelease(c, policy, own)
	r.Figures, r.FiguresAt, r.Proof, r.Loss, r.LossAt = last.Figures, last.FiguresAt, last.Proof, last.Loss, last.LossAt
	t.Release, t.K = r, smallestAllowed(policy)
	if t.Columns == nil {
		t.Columns = columnsOf(policy, nil, nil)
	}
	t.Preview = console.Preview{Reason: "What readers see cannot be read."}
	return t
}

func readConsoleTable(ctx context.Context, c *config.Config, policy catalog.TablePolicy, own status.Condition) (console.Table, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return console.Table{}, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	publications, problems, err := upstream.Publications(ctx, conn, c)
	if err != nil {
		return console.Table{}, err
	}
	kept, err := history.LastFigures(ctx, conn)
	if err != nil {
		return console.Table{}, err
	}
	t := console.Table{K: smallestAllowed(policy)}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return t, fmt.Errorf("reading the private store: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	stored, err := status.ReadKept(ctx, tx, policy, kept)
	if err != nil {
		return t, err
	}
	var publication *catalog.Publication
	if i := slices.IndexFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == policy.Table }); i >= 0 {
		publication = &publications[i]
	}
	stored.Settle(c.Policy.Released(policy), misfits(policy.Table, publication, problems), own)
	t.Release = keptRelease(c, policy, stored)
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&t.At); err != nil {
		return t, fmt.Errorf("asking for the time: %w", err)
	}
	t.Columns = columnsOf(policy, publication, addKept(&t, stored.Kept))
	if err := tx.Rollback(ctx); err != nil {
		return t, fmt.Errorf("reading the private store: %w", err)
	}
	// The tables read here may not exist, which would abort the transaction.
	if err := addRecorded(ctx, conn, policy.Table, stored.Shown, &t); err != nil {
		return t, err
	}
	t.Preview = preview(ctx, c, policy.Table, stored.State)
	explainPreview(&t.Preview, t.Columns, publication)
	return t, nil
}

// misfits returns the reasons why a table has no publication, as a check reports them. It returns none
// if the table has one.
func misfits(table catalog.Name, publication *catalog.Publication, problems []catalog.Problem) inspect.Report {
	if publication != nil {
		return nil
	}
	var report inspect.Report
	for _, p := range problems {
		if p.Table == table {
			report = append(report, inspect.Finding{Severity: inspect.Error, Table: p.Table, Column: p.Column, What: p.What, Fix: p.Fix})
		}
	}
	if len(report) == 0 {
		report = inspect.Report{{Severity: inspect.Error, Table: table, What: "the database has no such table", Fix: "see what 'kproxy check' says"}}
	}
	return report
}

// smallestAllowed returns the greatest k of the constraints.
func smallestAllowed(policy catalog.TablePolicy) int {
	k := 0
	for _, spec := range policy.Constraints {
		if spec.Model == privacy.K {
			k = max(k, spec.K)
		}
	}
	return k
}

// addKept adds what is kept of the release: sizes, risk and losses. The losses are nil if readers get nothing: a
// release that is not served puts nobody at risk.
func addKept(t *console.Table, kept *history.Figures) *history.Losses {
	if kept == nil || t.State != status.StatePublished || kept.Rows == 0 {
		t.Loss, t.LossAt = nil, nil
		return nil
	}
	counts := make(map[int]int64)
	for _, sizes := range kept.Sizes {
		var classes, rows int64
		for _, s := range sizes {
			counts[s.Rows] += s.Classes
			classes, rows = classes+s.Classes, rows+int64(s.Rows)*s.Classes
		}
		if rows > 0 { // the prosecutor's risk, of the part at the greatest
			t.Risk.Highest = max(t.Risk.Highest, 1/float64(sizes[0].Rows))
			t.Risk.Average = max(t.Risk.Average, float64(classes)/float64(rows))
		}
	}
	for size, classes := range counts {
		t.Sizes = append(t.Sizes, console.SizeCount{Size: size, Classes: classes})
	}
	slices.SortFunc(t.Sizes, func(a, b console.SizeCount) int { return a.Size - b.Size })
	if kept.Losses != nil {
		t.Measured = kept.Losses.Records
	}
	return kept.Losses
}

func addRecorded(ctx context.Context, conn *pgx.Conn, name catalog.Name, shown int64, t *console.Table) error {
	proofs, err := history.LastProofs(ctx, conn)
	if err != nil {
		return err
	}
	if p, known := proofs[name]; known {
		t.Proof = p.State(shown)
	}
	history, err := history.LossHistory(ctx, conn, name)
	for _, l := range history {
		t.History = append(t.History, console.Loss(l))
	}
	return err
}

// columnsOf returns each column's policy together with what is published of it.
func columnsOf(policy catalog.TablePolicy, p *catalog.Publication, loss *history.Losses) []console.Column {
	var columns []console.Column
	for _, c := range policy.Columns {
		column := console.Column{Name: c.Name, Role: c.Role.String(), Subject: c.Name == policy.Subject, Hierarchy: hierarchyText(c.Hierarchy)}
		if p != nil {
			for _, published := range p.Columns {
				if published.Source == c.Name {
					column.Published = append(column.Published, published.Name+" "+published.Type)
				}
			}
		}
		if loss != nil {
			if of, measured := loss.Columns[c.Name]; measured {
				column.Loss = &of
			}
		}
		columns = append(columns, column)
	}
	return columns
}

// hierarchyText describes how a column is generalized.
func hierarchyText(s *hierarchy.Spec) string {
	if s == nil {
		return ""
	}
	words := s.Kind.String()
	list := func(before string, n int, of func(int) string) {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = of(i)
		}
		if n > 0 {
			words += ", " + before + " " + strings.Join(parts, ", ")
		}
	}
	list("steps of", len(s.Steps), func(i int) string { return fmt.Sprint(s.Steps[i]) })
	list("by", len(s.Units), func(i int) string { return s.Units[i].String() })
	list("keeping", len(s.Keep), func(i int) string { return fmt.Sprint(s.Keep[i]) })
	if n := len(s.Order); n > 0 {
		words += fmt.Sprintf(", %d values in order", n)
	}
	if n := leaves(s.Taxonomy); n > 0 {
		words += fmt.Sprintf(", a taxonomy of %d values", n)
	}
	return words
}

func leaves(nodes []hierarchy.Node) int {
	n := 0
	for _, node := range nodes {
		if len(node.Children) == 0 {
			n++
		}
		n += leaves(node.Children)
	}
	return n
}

const (
	previewRows  = 8
	previewRunes = 120
)

// preview reads the first rows of a release as the reader role, so that it shows exactly what
// readers see. It does not read a withdrawn table.
func preview(ctx context.Context, c *config.Config, table catalog.Name, state string) console.Preview {
	if state != status.StatePublished {
		return console.Preview{Reason: "Readers get nothing of it at the moment."}
	}
	reader, err := upstream.SessionConfig(c, c.Upstream.Reader)
	if err != nil {
		return console.Preview{Reason: "The reader's connection cannot be used."}
	}
	reader.RuntimeParams["statement_timeout"] = "5s"
	reader.RuntimeParams["application_name"] = "kproxy"
	conn, err := pgconn.ConnectConfig(ctx, reader)
	if err != nil {
		return console.Preview{Reason: "The reader role cannot connect; 'kproxy check' says why."}
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	results, err := conn.Exec(ctx, fmt.Sprintf("SELECT * FROM %s LIMIT %d", catalog.Published(table).SQL(), previewRows)).ReadAll()
	if err != nil || len(results) != 1 {
		return console.Preview{Reason: "The reader role cannot read it (SQLSTATE " + upstream.SQLState(err) + "); 'kproxy check' says why."}
	}
	var p console.Preview
	for _, field := range results[0].FieldDescriptions {
		p.Columns = append(p.Columns, console.Shown{Name: field.Name})
	}
	for _, row := range results[0].Rows {
		shown := make([]*string, len(row))
		for i, value := range row {
			if value != nil {
				text := truncate(string(value))
				shown[i] = &text
			}
		}
		p.Rows = append(p.Rows, shown)
	}
	return p
}

// explainPreview adds to each published column the policy of its source.
func explainPreview(p *console.Preview, policies []console.Column, published *catalog.Publication) {
	if published == nil {
		return
	}
	for i, shown := range p.Columns {
		at := slices.IndexFunc(published.Columns, func(c catalog.PublishedColumn) bool { return c.Name == shown.Name })
		if at < 0 {
			continue
		}
		for _, c := range policies {
			if c.Name == published.Columns[at].Source {
				p.Columns[i].Role, p.Columns[i].Loss = c.Role, c.Loss
			}
		}
	}
}

// truncate cuts long texts.
func truncate(text string) string {
	if runes := []rune(text); len(runes) > previewRunes {
		return string(runes[:previewRunes]) + "…"
	}
	return text
}
