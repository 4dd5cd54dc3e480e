package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// poller reads all releases in one snapshot, again and again, as the reader role, and
// checks by brute force that each class satisfies the constraints.
type poller struct {
	*bench
	states *atomic.Int64
}

func (p *poller) run(ctx context.Context, rng *rand.Rand, stop <-chan struct{}) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for {
		pause(ctx, time.Duration(5+rng.IntN(60))*time.Millisecond)
		select {
		case <-stop:
			return nil
		default:
		}
		var err error
		if conn == nil || conn.IsClosed() {
			if conn, err = reconnect(ctx, p.readerDSN, ""); err != nil {
				return err
			}
		}
		if err := p.look(ctx, conn); err != nil && !passing(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (p *poller) look(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	looked := 0
	for _, t := range p.tables {
		var there bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", catalog.Published(t.Policy.Table).SQL()).Scan(&there); err != nil {
			return err
		}
		if !there {
			continue
		}
		looked++
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		rows, err := textRows(ctx, conn, fmt.Sprintf("SELECT %s FROM %s", quoted(names, ""), catalog.Published(t.Policy.Table).SQL()))
		if err != nil {
			return err
		}
		if err := checkSeen(t, rows); err != nil {
			return &mistake{fmt.Sprintf("a reader sees of %s: %v", t.Policy.Table, err)}
		}
	}
	if looked > 0 {
		p.states.Add(1)
	}
	return nil
}

// checkSeen checks what a reader sees of a table. The ledger's amounts have one sum, whichever commit is shown. Linked tables
// are left to the verifier.
func checkSeen(t catalog.Publication, rows [][]datum) error {
	switch {
	case t.Policy.Table == ledger().table():
		sum := 0
		for _, row := range rows {
			amount, err := strconv.Atoi(row[columnOf(t, "amount")].text)
			if err != nil {
				return err
			}
			sum += amount
		}
		if sum != ledgerSum || len(rows) != ledgerRows {
			return fmt.Errorf("%d rows with the sum %d, not %d with %d", len(rows), sum, ledgerRows, ledgerSum)
		}
		return nil
	case plain(t):
		return nil
	}
	return checkConstraints(t, rows)
}

// checkConstraints makes groups of the rows that look alike in the columns that a
// constraint is over, or are of one class where that is published, and has each checked.
func checkConstraints(p catalog.Publication, rows [][]datum) error {
	schema, err := p.NewSchema()
	if err != nil {
		return err
	}
	set, err := p.ConstraintSet(schema)
	if err != nil {
		return err
	}
	if len(set) != len(p.Policy.Constraints) {
		return fmt.Errorf("%d constraints are made of %d", len(set), len(p.Policy.Constraints))
	}
	sensitive := make([][]uint32, len(p.Sensitive))
	for a, s := range p.Sensitive {
		sensitive[a] = numbered(rows, columnOf(p, s.Column))
	}
	whole := anonymizertest.Group{Records: len(rows), Sensitive: sensitive}.Counted()
	for i, spec := range p.Policy.Constraints {
		for _, members := range groups(p, spec, rows) {
			class := anonymizertest.Group{Records: len(members), Sensitive: make([][]uint32, len(sensitive))}
			for a := range sensitive {
				for _, m := range members {
					class.Sensitive[a] = append(class.Sensitive[a], sensitive[a][m])
				}
			}
			if err := anonymizertest.CheckConstraints(class, whole, privacy.ConstraintSet{set[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// groups are the rows of each group that a constraint is about.
func groups(p catalog.Publication, spec privacy.Spec, rows [][]datum) map[string][]int {
	over := make(map[string]bool)
	for _, name := range spec.Over {
		over[name] = true
	}
	found := make(map[string][]int)
	for i, row := range rows {
		var look []datum
		for at, c := range p.Columns {
			alike := c.Generalized() && (len(over) == 0 || over[c.Source])
			if guarded(p) {
				alike = c.Part == catalog.ClassNumber
			}
			if alike {
				look = append(look, row[at])
			}
		}
		found[rowKey(look)] = append(found[rowKey(look)], i)
	}
	return found
}

// columnOf is where a source column is published as it is.
func columnOf(p catalog.Publication, source string) int {
	for i, c := range p.Columns {
		if c.Source == source && c.Part == catalog.Copy {
			return i
		}
	}
	return -1
}

// numbered gives equal values equal numbers.
func numbered(rows [][]datum, column int) []uint32 {
	numbers, codes := make(map[string]uint32), make([]uint32, len(rows))
	for i, row := range rows {
		key := rowKey(row[column : column+1])
		if _, known := numbers[key]; !known {
			numbers[key] = uint32(len(numbers))
		}
		codes[i] = numbers[key]
	}
	return codes
}
