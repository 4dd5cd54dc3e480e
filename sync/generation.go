package sync

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// generation is one table's row of kproxy_store.generation.
type generation struct {
	number     int64
	digest     string
	nextClass  incremental.ClassID
	nextRecord incremental.RecordID
	updates    string // the mode of updates it was made for
	withheld   int
	why        string        // nothing is published; see TableStatus.Reason
	returned   int           // see TableStatus.Returned
	secret     []byte        // see returning; nil before a record has left
	lsn        pglogrepl.LSN // changes whose commit lies before are in the store
	shows      pglogrepl.LSN // from here on it is shown; 0 where it is
	previous   int64         // what readers see until then; 0 for nothing
	halted     string        // why it needs the operator
	fix        string
	consent    bool   // only an explicit request of the operator ends that
	heals      bool   // it ends when the table is again what was accepted
	asked      string // by the operator: askRebuild, askResync or nothing
	noted      string // by kproxy itself, likewise
	definition string
	audiences  string // see storedAudiences
	promise    string // of the release that readers see, as text; empty where it is not known
	lineage    string // catalog.Lineage as text; empty where there is none, or it is not known
}

// What an operator can ask for.
const (
	askRebuild = "rebuild"
	askResync  = "resync"
)

// status is the status of a table by its row in the store; visible says whether readers may have what
// it shows (see layout.visible), and fits whether the generation was made for the configured policy.
func (g generation) status(visible, fits bool) TableStatus {
	status := TableStatus{Generation: g.number, Withheld: g.withheld, Reason: g.why, Preparing: g.asked != ""}
	// While a generation catches up, what is told of audiences is of it, and they may see an earlier one.
	if g.audiences != "" && g.shows == 0 && json.Unmarshal([]byte(g.audiences), &status.Audiences) != nil {
		status.Audiences = nil // those who see nothing of it are refused
	}
	if g.halted != "" { // whatever is noted waits until the table is looked at afresh
		status.State, status.Problem, status.Fix = Halted, g.halted, g.fix
		return status
	}
	status.Preparing = status.Preparing || g.noted != "" || fits && g.shows != 0
	if visible {
		status.State = Published
	}
	return status
}

// generations reads what the store holds, and the last number given.
func (s *store) generations(ctx context.Context) (map[catalog.Name]generation, error) {
	rows, err := s.conn.Query(ctx, `SELECT table_schema, table_name, generation, policy_digest, next_class, next_record, coalesce(updates, ''), withheld,
		coalesce(lsn, (SELECT max(lsn) FROM kproxy_store.position), '0/0')::text, coalesce(shows, '0/0')::text, coalesce(previous, 0),
		coalesce(halted, ''), coalesce(halted_fix, ''), needs_consent, heals, coalesce(asked, ''), coalesce(noted, ''), definition, coalesce(withheld_why, ''), returned, hash_key, coalesce(promise, ''), coalesce(audiences, ''), coalesce(lineage, '')
		FROM kproxy_store.generation`)
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	found := make(map[catalog.Name]generation)
	var name catalog.Name
	var g generation
	_, err = pgx.ForEachRow(rows, []any{
		&name.Schema, &name.Relation, &g.number, &g.digest, &g.nextClass, &g.nextRecord, &g.updates, &g.withheld,
		&g.lsn, &g.shows, &g.previous, &g.halted, &g.fix, &g.consent, &g.heals, &g.asked, &g.noted, &g.definition, &g.why, &g.returned, &g.secret, &g.promise, &g.audiences, &g.lineage,
	}, func() error {
		found[name] = g
		s.lastGeneration = max(s.lastGeneration, g.number)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	return found, nil
}

// record records a new generation of the table, and the position from which on it is shown.
func (t *table) record(ctx context.Context, tx pgx.Tx) error {
	if err := forgetDeparted(ctx, tx, t.layout.name(), t.release.generation); err != nil {
		return err
	}
	lineage, err := t.layout.storedLineage()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO kproxy_store.generation
		(table_schema, table_name, generation, policy_digest, next_class, next_record, updates, lsn, shows, previous, definition, lineage)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::pg_lsn, $9::text::pg_lsn, $10, $11, $12)
		ON CONFLICT (table_schema, table_name) DO UPDATE SET generation = excluded.generation, policy_digest = excluded.policy_digest,
			updates = excluded.updates, lsn = excluded.lsn, shows = excluded.shows, previous = excluded.previous, definition = excluded.definition, lineage = excluded.lineage, returned = 0, hash_key = NULL,
			halted = NULL, halted_fix = NULL, needs_consent = false, asked = NULL, noted = NULL, created_at = now()`,
		t.layout.name().Schema, t.layout.name().Relation, t.release.generation, t.layout.digest, int64(t.mode.nextClass()), int64(t.nextRecord),
		t.layout.publication.Policy.Updates.Mode.String(), t.release.position.String(), storedLSN(t.release.showAt), storedNumber(t.release.previous), t.definition.text(), lineage)
	if err != nil {
		return fmt.Errorf("recording the generation of %s: %w", t.layout.name(), err)
	}
	return nil
}

// forgetDeparted deletes the hashes of deleted records of a table's generation, which is replaced
// or dropped.
func forgetDeparted(ctx context.Context, on executor, name catalog.Name, next int64) error {
	_, err := on.Exec(ctx, `WITH made AS (SELECT $3::bigint AS generation UNION SELECT generation FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2),
		vanished AS (DELETE FROM kproxy_store.vanished USING made WHERE vanished.generation = made.generation)
		DELETE FROM kproxy_store.departed USING made WHERE departed.generation = made.generation`, name.Schema, name.Relation, next)
	if err != nil {
		return fmt.Errorf("forgetting who has left %s: %w", name, err)
	}
	return nil
}

// storedLSN is a position in the store: NULL is none.
func storedLSN(lsn pglogrepl.LSN) *string {
	if lsn == 0 {
		return nil
	}
	text := lsn.String()
	return &text
}

// show points the published view at the table's generation and drops the earlier ones.
// It comes last, because from here on readers have to wait for the commit.
func (s *store) show(ctx context.Context, tx pgx.Tx, t *table, making []int64) error {
	promise, err := t.layout.promise.text()
	if err == nil {
		_, err = tx.Exec(ctx, "UPDATE kproxy_store.generation SET shows = NULL, previous = NULL, promise = $3 WHERE table_schema = $1 AND table_name = $2",
			t.layout.name().Schema, t.layout.name().Relation, promise)
	}
	if err != nil {
		return fmt.Errorf("recording that %s is shown: %w", t.layout.name(), err)
	}
	if err := t.layout.view().put(ctx, tx, t.shownRelease()); err != nil {
		return fmt.Errorf("creating the published view of %s: %w", t.layout.name(), err)
	}
	var shown []string
	for i := range t.layout.audiences {
		a := &t.layout.audiences[i]
		if a.unseen || a.removed {
			continue
		}
		if err := a.view().put(ctx, tx, t.shownFor(a)); err != nil {
			return fmt.Errorf("creating the published view of %s for %s: %w", t.layout.name(), a.name, err)
		}
		shown = append(shown, a.name)
	}
	if err := hideFromOthers(ctx, tx, t.layout.name(), shown); err != nil {
		return err
	}
	if err := s.grant(ctx, tx, t, true); err != nil {
		return err
	}
	return s.dropOrphans(ctx, tx, making)
}

// dropOrphans drops the tables of generations that are not recorded: earlier ones, and those
// that a dead process was making. Those that a job is making are kept.
func (s *store) dropOrphans(ctx context.Context, tx pgx.Tx, making []int64) error {
	rows, err := tx.Query(ctx, `SELECT c.relname::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'kproxy_store'::pg_catalog.regnamespace AND c.relkind IN ('r', 'p')
		AND c.relname ~ '^(records|stored|release|cellweight|followed|parted|packed|copied|summary|source|member|class[0-9]*)(_[a-z][a-z0-9]*)?_[0-9]+$'
		AND substring(c.relname::text from '[0-9]+$')::bigint NOT IN (
			SELECT generation FROM kproxy_store.generation UNION ALL
			SELECT previous FROM kproxy_store.generation WHERE previous IS NOT NULL)
		AND substring(c.relname::text from '[0-9]+$')::bigint <> ALL ($1::bigint[])`, making)
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	orphans, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	for _, name := range orphans {
		// The views on it go with it: a release that unpacks it, and those of earlier versions.
		if _, err := tx.Exec(ctx, "DROP TABLE "+catalog.Name{Schema: catalog.StoreSchema, Relation: name}.SQL()+" CASCADE"); err != nil {
			return fmt.Errorf("dropping an earlier generation: %w", err)
		}
	}
	if s.sealed {
		return forgetKeys(ctx, tx, making)
	}
	return nil
}

// making are the numbers of the generations that jobs are making or have made.
func (s *session) making() []int64 {
	numbers := []int64{}
	for _, j := range s.jobs {
		numbers = append(numbers, j.generation)
	}
	return numbers
}
