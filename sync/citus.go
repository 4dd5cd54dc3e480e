package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// A release can be spread over the workers of Citus: what readers scan, packed_<n>, by its classes. The private store stays on
// the coordinator, so that no worker has anything that is not published but the numbers of classes and records, a start
// reads and divides records as on one server, and position and records are committed where the transaction is decided.
// docs/distributed.md has the reasons, and what Citus refuses.

// distributable refuses a table whose release Citus cannot spread: that of an immediate table with one part, for
// one audience, is packed, and a mirrored one stays on the coordinator.
func distributable(p catalog.Publication) error {
	refuse := func(what string) error {
		return fmt.Errorf("sync: table %s %s, which is not distributed over Citus", p.Policy.Table, what)
	}
	t, err := newTable(p)
	switch {
	case err != nil:
		return nil // whoever makes the table tells
	case t.layout.isMirrored():
		return nil
	case t.layout.isGuarded():
		return refuse("has guarded updates")
	case t.layout.isLinked():
		return refuse("is released with other tables of persons")
	case len(t.layout.audiences) > 0:
		return refuse("is released for audiences")
	case len(t.parts) > 1:
		return refuse("has quasi-identifiers in several parts")
	}
	return nil
}

// spreadByCitus distributes packed rows. Citus runs what a query needs of them on the workers in the role of the
// session, whatever a view's owner may do, so that the reader may read them there. On the coordinator it may not:
// there the statements of clients begin, and views alone lead to the rows.
func spreadByCitus(reader string) spreading {
	return func(table, column string) []string {
		if column == recordColumn {
			return nil
		}
		role := catalog.QuoteIdentifier(reader)
		return append([]string{
			fmt.Sprintf("SELECT pg_catalog.create_distributed_table(%s, %s, colocate_with => 'none')", catalog.QuoteLiteral(table), catalog.QuoteLiteral(column)),
		}, grantOnWorkers(table, role)...)
	}
}

// grantOnWorkers lets a role read a distributed table on the workers, and not on the coordinator.
func grantOnWorkers(table, role string) []string {
	return []string{
		"GRANT USAGE ON SCHEMA " + catalog.StoreSchema + " TO " + role,
		"GRANT SELECT ON " + table + " TO " + role,
		"SET LOCAL citus.enable_ddl_propagation = off",
		"REVOKE SELECT ON " + table + " FROM " + role,
		"REVOKE USAGE ON SCHEMA " + catalog.StoreSchema + " FROM " + role,
		"SET LOCAL citus.enable_ddl_propagation = on",
	}
}

// spreadMembers has the type of members on every worker.
func (p *publisher) spreadMembers(members string) []string {
	if !p.config.Distribute {
		return nil
	}
	return []string{"SELECT pg_catalog.create_reference_table(" + catalog.QuoteLiteral(members) + ")"}
}

// unsettled is told while a worker holds what was committed on the coordinator.
const unsettled = "a worker has not committed yet what its coordinator has: it cannot be reached, or is held up"

// distributed are the tables of the store whose rows are on the workers.
const distributed = `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_dist_partition d JOIN pg_catalog.pg_class c ON c.oid = d.logicalrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'kproxy_store' AND d.partmethod = 'h' ORDER BY 1`

// grantWorkers grants on the workers what readers read there: a shard that was moved to another worker has the grants of
// the coordinator, which are none.
func (s *store) grantWorkers(ctx context.Context) error {
	rows, err := s.conn.Query(ctx, distributed)
	if err != nil {
		return fmt.Errorf("listing the distributed tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("listing the distributed tables: %w", err)
	}
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		for _, table := range tables {
			for _, statement := range grantOnWorkers(table, catalog.QuoteIdentifier(s.reader)) {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return fmt.Errorf("granting %s on the workers: %w", table, err)
				}
			}
		}
		return nil
	})
}

// settleWorkers has every worker commit what the coordinator has committed, and take back what it has not, before the
// store is read: a worker that was away, or a coordinator that was ended, between the two phases of a commit leaves transactions
// prepared.
func (s *store) settleWorkers(ctx context.Context) error {
	var pending int
	_, err := s.conn.Exec(ctx, "SELECT pg_catalog.recover_prepared_transactions()")
	if err == nil {
		err = s.conn.QueryRow(ctx, "SELECT count(*) FROM pg_catalog.pg_dist_transaction").Scan(&pending)
	}
	if err != nil {
		return fmt.Errorf("settling the workers' transactions: %w", err)
	}
	if pending > 0 {
		return &pgconn.PgError{Severity: "ERROR", Code: "55006", Message: unsettled}
	}
	return nil
}
