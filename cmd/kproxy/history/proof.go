package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
)

// Proof is the result of the verifier for one table, as the private store keeps it. Like
// verify.TableReport, it holds no value of a row.
type Proof struct {
	At     time.Time          `json:"at"`
	Passed bool               `json:"passed"`
	Report verify.TableReport `json:"report"`
}

// State returns the proof in the model of package state, given the generation that readers see.
func (p Proof) State(shown int64) *state.Proof {
	s := state.Proof{At: p.At, Generation: p.Report.Generation, Earlier: p.Report.Generation != shown, Passed: p.Passed}
	for _, c := range p.Report.Checks {
		s.Checks = append(s.Checks, state.Check(c))
	}
	return &s
}

// recordProofs stores the results of the verifier in the private store.
func recordProofs(ctx context.Context, c *config.Config, report verify.Report) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := createTables(ctx, conn); err != nil {
		return err
	}
	for _, t := range report {
		i := slices.IndexFunc(c.Policy.Tables, func(p catalog.TablePolicy) bool { return p.Table.String() == t.Table })
		if i < 0 || t.Generation == 0 {
			continue // never published
		}
		name := c.Policy.Tables[i].Table
		text, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("keeping the proof of %s: %w", name, err)
		}
		if _, err := conn.Exec(ctx, "INSERT INTO kproxy_store.proof (table_schema, table_name, passed, report) VALUES ($1, $2, $3, $4)",
			name.Schema, name.Relation, t.Passed(), string(text)); err != nil {
			return fmt.Errorf("keeping the proof of %s: %w", name, err)
		}
		if err := trim(ctx, conn, "proof", name, keptProofs); err != nil {
			return err
		}
	}
	return nil
}

// LastProofs reads the last proof of each table. A table that was removed and added again can have
// a generation of the same number as before: a proof of the earlier one does not count.
func LastProofs(ctx context.Context, on upstream.Querier) (map[catalog.Name]Proof, error) {
	rows, err := on.Query(ctx, `SELECT DISTINCT ON (p.table_schema, p.table_name) p.table_schema, p.table_name, p.at, p.passed, p.report
		FROM kproxy_store.proof p LEFT JOIN kproxy_store.generation g USING (table_schema, table_name)
		WHERE g.generation IS DISTINCT FROM (p.report ->> 'generation')::bigint OR p.at >= g.created_at
		ORDER BY p.table_schema, p.table_name, p.id DESC`)
	proofs := make(map[catalog.Name]Proof)
	if upstream.MissingStore(err) {
		return proofs, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading proofs: %w", err)
	}
	var name catalog.Name
	var p Proof
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &p.At, &p.Passed, &text}, func() error {
		p.Report = verify.TableReport{}
		if err := json.Unmarshal(text, &p.Report); err != nil {
			return err
		}
		proofs[name] = p
		return nil
	})
	if err != nil && !upstream.MissingStore(err) {
		return nil, fmt.Errorf("reading proofs: %w", err)
	}
	return proofs, nil
}
