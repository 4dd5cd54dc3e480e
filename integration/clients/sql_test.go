package clients

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	"github.com/lib/pq"
)

// TestDatabaseSQL has database/sql work with both of its drivers.
func TestDatabaseSQL(t *testing.T) {
	t.Parallel()
	for _, o := range []struct {
		name, driver string
		parameters   []string
	}{
		{"sql_pgx", "pgx", nil},
		{"sql_pq", "postgres", nil},
		{"sql_pq_binary", "postgres", []string{"binary_parameters", "yes"}},
	} {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			compare(t, o.name, func(t *testing.T, w way) []step {
				db := must[*sql.DB](t)(sql.Open(o.driver, w.url(o.parameters...)))
				d := &sqlWork{ctx: t.Context(), db: db}
				d.queries()
				d.transactions()
				d.sessions()
				if o.driver == "postgres" {
					d.pqAlone(w)
				}
				d.note("close", func() (any, error) { return nil, db.Close() })
				return d.steps
			})
		})
	}
}

// sqlWork is the work of database/sql.
type sqlWork struct {
	diary
	ctx context.Context
	db  *sql.DB
}

// sqlQuerier is a pool, a connection, a transaction.
type sqlQuerier interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
}

func (d *sqlWork) rows(q sqlQuerier, query string, arguments ...any) (any, error) {
	rows, err := q.QueryContext(d.ctx, query, arguments...)
	if err != nil {
		return nil, err
	}
	return readRows(rows, true)
}

// readRows reads all results; whole says whether as values or as a digest.
func readRows(rows *sql.Rows, whole bool) (_ any, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	var seen []any
	for _, typ := range types {
		seen = append(seen, typ.Name()+" "+typ.DatabaseTypeName())
	}
	var sum digest
	for {
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			row := make([]any, len(columns))
			targets := make([]any, len(columns))
			for i := range row {
				targets[i] = &row[i]
			}
			if err := rows.Scan(targets...); err != nil {
				return nil, err
			}
			for i := range row {
				row[i] = fmt.Sprintf("%T %v", row[i], row[i])
			}
			if sum.add(row); whole {
				seen = append(seen, row)
			}
		}
		if !rows.NextResultSet() {
			return fmt.Sprintf("%v %s", seen, &sum), rows.Err()
		}
	}
}

func (d *sqlWork) ask(name, query string, arguments ...any) {
	d.note(name, func() (any, error) { return d.rows(d.db, query, arguments...) })
}

func (d *sqlWork) execute(name, query string, arguments ...any) {
	d.note(name, func() (any, error) {
		result, err := d.db.ExecContext(d.ctx, query, arguments...)
		if err != nil {
			return nil, err
		}
		return result.RowsAffected()
	})
}

func (d *sqlWork) queries() {
	d.ask("all types", thirty)
	for i, parameter := range []struct {
		typ   string
		value any
	}{
		{"int4", 7},
		{"int8", int64(1) << 40},
		{"float8", -1.25},
		{"numeric", "12.50"},
		{"text", "ß'\\\"日本"},
		{"text", nil},
		{"bool", true},
		{"bytea", []byte{0, 39, 92}},
		{"date", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"timestamptz", time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC)},
		{"int4[]", pq.Array([]int64{1, 2})},
		{"text[]", pq.Array([]string{"a", `b,{}"`})},
		{"uuid", "00000000-0000-4000-8000-000000000007"},
		{"mood", "good"},
		{"mood", "bad"},
		{"int4", sql.NullInt64{}},
		{"int4", "x"},
	} {
		d.ask(fmt.Sprintf("parameter %d", i), "SELECT $1::"+parameter.typ, parameter.value)
	}
	d.ask("filter", "SELECT visit, title FROM patients WHERE diagnosis = $1 AND visit < $2 AND mood = $3 ORDER BY visit", "I10", 90, "good")
	d.note("prepared", func() (any, error) {
		statement, err := d.db.PrepareContext(d.ctx, "SELECT title, cost, admitted FROM patients WHERE visit = $1")
		if err != nil {
			return nil, err
		}
		var seen []any
		for i := range 10 {
			rows, err := statement.QueryContext(d.ctx, i)
			if err != nil {
				return nil, err
			}
			read, err := readRows(rows, true)
			if err != nil {
				return nil, err
			}
			seen = append(seen, read)
		}
		return seen, statement.Close()
	})
	d.note("many rows", func() (any, error) {
		rows, err := d.db.QueryContext(d.ctx, large)
		if err != nil {
			return nil, err
		}
		return readRows(rows, false)
	})
	d.ask("unknown column", "SELECT nothing FROM patients WHERE visit = $1", 1)
	d.ask("syntax error", "SELECT FROM WHERE")
	d.ask("division", "SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p")
	d.ask("empty", "")
	d.execute("write", "DELETE FROM wards WHERE ward = $1", "x")
	d.ask("goes on", "SELECT count(*) FROM patients")
}

func (d *sqlWork) transactions() {
	d.note("transaction", func() (any, error) {
		tx, err := d.db.BeginTx(d.ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return nil, err
		}
		var seen []any
		for _, query := range []string{"SELECT count(*) FROM patients", "SAVEPOINT a", "SELECT 1 / 0", "SELECT 1", "ROLLBACK TO a", "SELECT max(visit) FROM patients"} {
			read, err := d.rows(tx, query)
			seen = append(seen, read)
			if err != nil {
				seen = append(seen, failure(err))
			}
		}
		return seen, tx.Commit()
	})
	d.note("failed commit", func() (any, error) {
		tx, err := d.db.BeginTx(d.ctx, nil)
		if err != nil {
			return nil, err
		}
		_, err = d.rows(tx, "SELECT 1 / 0")
		return failure(err), tx.Commit()
	})
	d.note("rollback", func() (any, error) {
		tx, err := d.db.BeginTx(d.ctx, nil)
		if err != nil {
			return nil, err
		}
		read, err := d.rows(tx, "SELECT count(*) FROM patients")
		return read, errors.Join(err, tx.Rollback())
	})
	d.note("canceled context", func() (any, error) {
		ctx, cancel := context.WithTimeout(d.ctx, 300*time.Millisecond)
		defer cancel()
		_, err := d.db.ExecContext(ctx, slow)
		return err != nil && ctx.Err() != nil, nil
	})
	d.ask("after that", "SELECT count(*) FROM patients")
}

func (d *sqlWork) sessions() {
	d.note("one connection", func() (any, error) {
		conn, err := d.db.Conn(d.ctx)
		if err != nil {
			return nil, err
		}
		var seen []any
		for _, query := range []string{"SET TimeZone = 'Asia/Kolkata'", "SELECT admitted, admitted::text FROM patients WHERE visit = 3", "RESET ALL", "SHOW TimeZone"} {
			read, err := d.rows(conn, query)
			if err != nil {
				return nil, err
			}
			seen = append(seen, read)
		}
		return seen, conn.Close()
	})
	d.note("together", func() (any, error) {
		d.db.SetMaxOpenConns(4)
		seen := make([]any, 24)
		failures := make(chan error, len(seen))
		for i := range seen {
			go func() {
				var err error
				seen[i], err = d.rows(d.db, "SELECT $1::int + count(*) FROM patients", i)
				failures <- err
			}()
		}
		var err error
		for range seen {
			err = errors.Join(err, <-failures)
		}
		return seen, err
	})
	d.execute("listen", "LISTEN channel")
}

// pqAlone uses what lib/pq has beside database/sql.
func (d *sqlWork) pqAlone(w way) {
	d.ask("several", "SELECT 1; SELECT count(*) FROM patients; VALUES (1), (2)")
	d.note("notices", func() (any, error) {
		connector, err := pq.NewConnector(w.url())
		if err != nil {
			return nil, err
		}
		var seen []string
		db := sql.OpenDB(pq.ConnectorWithNoticeHandler(connector, func(n *pq.Error) { seen = append(seen, fmt.Sprint(n.Severity, n.Code, n.Message)) }))
		_, err = db.ExecContext(d.ctx, "COMMIT")
		return &seen, errors.Join(err, db.Close())
	})
	d.note("copy in", func() (any, error) {
		tx, err := d.db.BeginTx(d.ctx, nil)
		if err != nil {
			return nil, err
		}
		_, err = tx.PrepareContext(d.ctx, pq.CopyIn("wards", "ward"))
		return nil, errors.Join(err, tx.Rollback())
	})
	d.note("listener", func() (any, error) {
		events := make(chan pq.ListenerEventType, 10)
		listener := pq.NewListener(w.url(), time.Second, time.Second, func(event pq.ListenerEventType, _ error) { events <- event })
		if event := <-events; event != pq.ListenerEventConnected {
			return event, listener.Close()
		}
		err := listener.Listen("channel")
		return nil, errors.Join(err, listener.Close())
	})
}
