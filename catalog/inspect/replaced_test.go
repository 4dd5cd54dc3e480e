package inspect_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestWhatIsReplacedMeanwhileIsNoObstacle has the catalogs change beside the check, which
// reads them in several queries, and privileges partly as they are now. Each transaction
// leaves everything as it is to be; between its statements it is not.
func TestWhatIsReplacedMeanwhileIsNoObstacle(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	// Whoever replaces is the owner of all of it.
	execute(t, p.admin, p.fill("GRANT CREATE ON SCHEMA public TO {owner}; ALTER TABLE wards OWNER TO {owner}"))
	for _, c := range []struct {
		name         string
		transactions []string
	}{
		{"a table is halted, and heals", []string{
			"UPDATE kproxy_store.generation SET halted = 'a change was lost'; REVOKE SELECT ON kproxy_release_public.patients FROM {reader}",
			"UPDATE kproxy_store.generation SET halted = NULL; GRANT SELECT ON kproxy_release_public.patients TO {reader}",
		}},
		{"a release is replaced", []string{`
			DROP VIEW kproxy_release_public.patients;
			CREATE VIEW kproxy_release_public.patients AS SELECT age, age_range, diagnosis FROM kproxy_store.release_7;
			GRANT SELECT ON kproxy_release_public.patients TO {reader}`}},
		{"a listed relation is made again", []string{
			"DROP TABLE wards; CREATE TABLE wards (ward text PRIMARY KEY, beds int); GRANT REFERENCES ON wards TO {reader}",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.repeat(ctx, c.transactions) }()
			for range 5 {
				if errs := p.check().Errors(); len(errs) > 0 {
					t.Errorf("an obstacle:\n%s", errs)
					break
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// repeat runs transactions of the owner, all of them again and again until ctx ends.
func (p prepared) repeat(ctx context.Context, transactions []string) error {
	whole := context.WithoutCancel(ctx)
	conn, err := pgx.ConnectConfig(whole, p.admin.Config().Copy())
	if err != nil {
		return err
	}
	defer conn.Close(whole)
	for ctx.Err() == nil {
		for _, statements := range transactions {
			if _, err := conn.PgConn().Exec(whole, p.fill("BEGIN; SET LOCAL ROLE {owner}; "+statements+"; COMMIT")).ReadAll(); err != nil {
				return err
			}
		}
	}
	return nil
}
