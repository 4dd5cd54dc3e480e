// Package history proves releases and measures their information loss, and keeps the results in
// the private store.
package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Process is the running kproxy whose releases are proved and measured.
type Process struct {
	Logger *slog.Logger
	// Config returns the configuration in force.
	Config func() *config.Config
	// Replication returns the status of replication.
	Replication func() ksync.Status
	// Published reports whether readers can read a table's release.
	Published func(table catalog.Name) bool
}

// The owner creates these tables when the first row is stored. keptProofs and keptLosses bound the
// rows per protected table.
const (
	tablesSQL = `CREATE TABLE IF NOT EXISTS kproxy_store.proof (
		id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		table_schema text NOT NULL,
		table_name   text NOT NULL,
		at           timestamptz NOT NULL DEFAULT now(),
		passed       boolean NOT NULL,
		report       jsonb NOT NULL);
	CREATE TABLE IF NOT EXISTS kproxy_store.loss (
		id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		table_schema text NOT NULL,
		table_name   text NOT NULL,
		at           timestamptz NOT NULL DEFAULT now(),
		generation   bigint NOT NULL,
		loss         double precision NOT NULL,
		cause        text NOT NULL);
	CREATE TABLE IF NOT EXISTS kproxy_store.figures (
		table_schema text NOT NULL,
		table_name   text NOT NULL,
		figures      jsonb NOT NULL,
		PRIMARY KEY (table_schema, table_name))`
	keptProofs = 100
	keptLosses = 1000

	uniqueViolation = "23505"
)

// createTables creates the tables. Two processes that do so at the same time can conflict even with
// IF NOT EXISTS; the second attempt then finds them.
func createTables(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.PgConn().Exec(ctx, tablesSQL).ReadAll()
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == uniqueViolation {
		_, err = conn.PgConn().Exec(ctx, tablesSQL).ReadAll()
	}
	if err != nil {
		return fmt.Errorf("preparing the private store for proofs: %w", upstream.Unprepared(err))
	}
	return nil
}

// trim removes all but the last rows of a table.
func trim(ctx context.Context, conn *pgx.Conn, relation string, name catalog.Name, kept int) error {
	sql := fmt.Sprintf(`DELETE FROM kproxy_store.%[1]s WHERE table_schema = $1 AND table_name = $2 AND id <= (
		SELECT id FROM kproxy_store.%[1]s WHERE table_schema = $1 AND table_name = $2 ORDER BY id DESC OFFSET $3 LIMIT 1)`, relation)
	if _, err := conn.Exec(ctx, sql, name.Schema, name.Relation, kept); err != nil {
		return fmt.Errorf("forgetting old figures of %s: %w", name, err)
	}
	return nil
}
