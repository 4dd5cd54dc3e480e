// Package inspect reads a PostgreSQL server: its relations for the catalog, its
// settings, and whether it is fit to publish from.
//
// Entry points:
//   - [Relations]: the relations of the database as types of package catalog.
//   - [Views], [Readables], [Definitions]: views over protected tables, readable relations,
//     and how their definitions are written.
//   - [ViewSources], [Widenings]: what views over protected tables read,
//     and whether their published forms show too much.
//   - [Server]: version, settings and free slots.
//   - [Check]: everything that stands in the way of publishing, at once, and whether clients'
//     sessions could reach a raw row; it is repeated while serving.
//   - [Publish]: the published shapes of the tables that a policy protects.
//   - [Advise]: what a policy allows but its operator may not have meant.
//
// Every function reads one snapshot. Catalogs are read in a fixed number of
// queries, whatever the number of relations. PostgreSQL's chapters "System
// Catalogs", "Database Roles" and "Rules and Privileges" are the sources.
package inspect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// query is the text of a file of folder sql.
func query(name string) string {
	text, err := sqlFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		// The empty statement makes the caller's Query fail with a clear error
		// of the number of columns; a test reads every file.
		return ""
	}
	return string(text)
}

// readingSettings pin how the server writes definitions: other sessions read the constants in them.
var readingSettings = func() string {
	set := "; SET LOCAL client_encoding = 'UTF8'; SET LOCAL lc_monetary = 'C'; SET LOCAL jit = off"
	for _, name := range slices.Sorted(maps.Keys(catalog.TextForms)) {
		set += "; SET LOCAL " + name + " = " + catalog.TextForms[name]
	}
	return set
}()

// reading runs read on one snapshot and leaves the connection's state as it
// was, inside of a transaction of the caller's or without one. Names in results
// are qualified, since the search path is pg_catalog; compiling the queries would
// take longer than running them.
func reading(ctx context.Context, conn *pgx.Conn, read func() error) (err error) {
	begin, end := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "ROLLBACK"
	if conn.PgConn().TxStatus() == 'T' {
		begin, end = "SAVEPOINT kproxy_inspect", "ROLLBACK TO SAVEPOINT kproxy_inspect; RELEASE SAVEPOINT kproxy_inspect"
	}
	if _, err := conn.PgConn().Exec(ctx, begin+readingSettings).ReadAll(); err != nil {
		return fmt.Errorf("beginning to read the catalogs: %w", err)
	}
	defer func() {
		if _, failed := conn.PgConn().Exec(context.WithoutCancel(ctx), end).ReadAll(); failed != nil {
			err = errors.Join(err, fmt.Errorf("ending to read the catalogs: %w", failed))
		}
	}()
	return read()
}

// readingAgain is reading that begins again where an object was dropped meanwhile. read must then
// discard what it found before.
func readingAgain(ctx context.Context, conn *pgx.Conn, read func() error) error {
	attempts := 5
	if conn.PgConn().TxStatus() == 'T' {
		attempts = 1 // its snapshot may stay the same
	}
	for {
		err := reading(ctx, conn, read)
		if attempts--; attempts == 0 || !isGone(err) {
			return err
		}
	}
}

// isGone reports whether something in the snapshot was dropped before PostgreSQL's functions,
// which do not go by the snapshot, described it.
func isGone(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && refused.Code == "XX000" &&
		(strings.HasPrefix(refused.Message, "could not open relation with OID") || strings.HasPrefix(refused.Message, "cache lookup failed for"))
}

// collect runs the named query and scans each row into a T by its columns' names.
func collect[T any](ctx context.Context, conn *pgx.Conn, name string, arguments ...any) ([]T, error) {
	rows, err := conn.Query(ctx, query(name), arguments...)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogs (%s): %w", name, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("reading the catalogs (%s): %w", name, err)
	}
	return found, nil
}
