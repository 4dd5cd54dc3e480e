package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// TestPgx has pgx work in each of the ways in which it executes queries.
func TestPgx(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			compare(t, "pgx_"+mode, func(t *testing.T, w way) []step {
				p := &pgxWork{ctx: t.Context(), url: w.url("default_query_exec_mode", mode, "channel_binding", "require")}
				p.conn = must[*pgx.Conn](t)(pgx.Connect(t.Context(), p.url))
				p.queries()
				p.failures()
				p.batches()
				p.copies()
				p.cancels()
				p.session()
				p.note("close", func() (any, error) { return nil, p.conn.Close(p.ctx) })
				p.note("pool", p.pool)
				return p.steps
			})
		})
	}
}

// pgxWork is the work of pgx.
type pgxWork struct {
	diary
	ctx  context.Context
	url  string
	conn *pgx.Conn
}

// querier is a connection, a transaction or a pool.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

func (p *pgxWork) rows(q querier, sql string, arguments ...any) (any, error) {
	rows, err := q.Query(p.ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	var columns []string
	for _, f := range rows.FieldDescriptions() {
		columns = append(columns, fmt.Sprintf("%s %d %d %d", f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier))
	}
	read, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (any, error) { return row.Values() })
	return fmt.Sprintf("%q %+v %s", columns, read, rows.CommandTag()), err
}

func (p *pgxWork) ask(name, sql string, arguments ...any) {
	p.note(name, func() (any, error) { return p.rows(p.conn, sql, arguments...) })
}

func (p *pgxWork) digest(q querier, sql string, arguments ...any) (any, error) {
	rows, err := q.Query(p.ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var d digest
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, err
		}
		d.add(values)
	}
	return d.String(), rows.Err()
}

func (p *pgxWork) queries() {
	p.ask("all types", thirty)
	p.ask("formats", thirty, pgx.QueryResultFormats{pgx.TextFormatCode})
	for i, parameter := range []struct {
		typ   string
		value any
	}{
		{"int2", int16(-3)},
		{"int4", 7},
		{"int8", int64(1) << 40},
		{"float8", -1.25},
		{"numeric", pgtype.Numeric{Exp: -2, Valid: true, Int: nil}},
		{"text", "ß'\\\"日本"},
		{"text", nil},
		{"bool", true},
		{"bytea", []byte{0, 39, 92}},
		{"date", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"timestamptz", time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC)},
		{"interval", 90 * time.Minute},
		{"int4[]", []int32{1, 2}},
		{"text[]", []string{"a", `b,{}"`}},
		{"uuid", "00000000-0000-4000-8000-000000000007"},
		{"jsonb", map[string]any{"a": []int{1}}},
		{"int4range", pgtype.Range[pgtype.Int4]{
			Lower: pgtype.Int4{Int32: 1, Valid: true}, Upper: pgtype.Int4{Int32: 5, Valid: true}, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true,
		}},
		{"mood", "good"},
		{"mood", "bad"},
		{"percentage", 7},
		{"percentage", 700},
		{"int4", "x"},
	} {
		p.ask(fmt.Sprintf("parameter %d", i), "SELECT $1::"+parameter.typ+", $1::"+parameter.typ+" IS NULL", parameter.value)
	}
	p.ask("filter", "SELECT visit, title FROM patients WHERE diagnosis = ANY($1) AND visit < $2 AND mood = $3 ORDER BY visit", []string{"I10", "C50"}, 60, "good")
	p.ask("named arguments", "SELECT count(*) FROM patients WHERE cost > @cost AND alive = @alive", pgx.NamedArgs{"cost": 100, "alive": true})
	for i := range 8 {
		p.ask(fmt.Sprintf("repeated %d", i), "SELECT title, cost, admitted FROM patients WHERE visit = $1", i)
	}
	p.note("many rows", func() (any, error) { return p.digest(p.conn, large) })
	p.note("rows left early", func() (any, error) {
		rows, err := p.conn.Query(p.ctx, medium)
		if err != nil {
			return nil, err
		}
		first := rows.Next()
		rows.Close()
		return first, rows.Err()
	})
	p.note("prepare", func() (any, error) {
		described, err := p.conn.Prepare(p.ctx, "by_visit", "SELECT * FROM patients WHERE visit = $1 AND mood = $2 AND tags @> $3")
		if err != nil {
			return nil, err
		}
		return described.ParamOIDs, nil
	})
	p.ask("prepared", "by_visit", 3, "low", []string{"a3"})
	p.note("deallocate", func() (any, error) { return nil, p.conn.Deallocate(p.ctx, "by_visit") })
	p.ask("deallocated", "by_visit", 3, "low", []string{})
	p.note("deallocate all", func() (any, error) { return nil, p.conn.DeallocateAll(p.ctx) })
	p.ask("after that", "SELECT title, cost, admitted FROM patients WHERE visit = $1", 5)
}

func (p *pgxWork) failures() {
	p.ask("unknown column", "SELECT nothing FROM patients WHERE visit = $1", 1)
	p.ask("unknown table", "SELECT * FROM nobody")
	p.ask("unknown schema", "SELECT * FROM elsewhere.nobody")
	p.ask("syntax error", "SELECT FROM WHERE")
	p.ask("division", "SELECT 1 / (visit - $1) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p", 300)
	p.ask("empty", "")
	p.ask("goes on", "SELECT count(*) FROM patients")
	p.note("transaction", func() (any, error) {
		tx, err := p.conn.BeginTx(p.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return nil, err
		}
		var seen []any
		for _, sql := range []string{"SELECT count(*) FROM patients", "SELECT 1 / 0", "SELECT 1"} {
			read, err := p.rows(tx, sql)
			seen = append(seen, read)
			if err != nil {
				seen = append(seen, failure(err))
			}
			seen = append(seen, string(p.conn.PgConn().TxStatus()))
		}
		return seen, tx.Commit(p.ctx)
	})
	p.note("savepoint", func() (any, error) {
		var seen []any
		err := pgx.BeginFunc(p.ctx, p.conn, func(tx pgx.Tx) error {
			inner := pgx.BeginFunc(p.ctx, tx, func(inner pgx.Tx) error {
				_, err := inner.Exec(p.ctx, "SELECT nothing FROM patients")
				return err
			})
			seen = append(seen, failure(inner))
			read, err := p.rows(tx, "SELECT count(*) FROM patients")
			seen = append(seen, read)
			return err
		})
		return seen, err
	})
}

func (p *pgxWork) batches() {
	batch := func(statements ...string) func() (any, error) {
		return func() (any, error) {
			var b pgx.Batch
			for i, sql := range statements {
				b.Queue(sql, i)
			}
			results := p.conn.SendBatch(p.ctx, &b)
			var seen []any
			for range statements {
				rows, err := results.Query()
				if err == nil {
					var read []any
					read, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (any, error) { return row.Values() })
					seen = append(seen, read)
				}
				if err != nil {
					seen = append(seen, failure(err))
				}
			}
			return seen, results.Close()
		}
	}
	p.note("batch", batch(slices.Repeat([]string{"SELECT $1::int + count(*) FROM patients"}, 30)...))
	p.note("failing batch", batch("SELECT $1::int", "SELECT 5 / ($1::int - 1)", "SELECT $1::int"))
	p.note("refused batch", batch("SELECT $1::int", "SELECT nothing FROM patients WHERE visit = $1", "SELECT $1::int"))
	p.note("batch again", batch("SELECT $1::int", "SELECT max(visit) FROM patients WHERE visit > $1"))
	p.note("pipeline", func() (any, error) {
		pipeline := p.conn.PgConn().StartPipeline(p.ctx)
		for _, sql := range []string{"SELECT 1", "SELECT 1 / 0", "SELECT 2"} {
			pipeline.SendQueryParams(sql, nil, nil, nil, nil)
		}
		pipeline.SendPipelineSync()
		pipeline.SendPrepare("piped", "SELECT count(*) FROM patients WHERE visit > $1", nil)
		pipeline.SendQueryPrepared("piped", [][]byte{[]byte("7")}, nil, nil)
		pipeline.SendDeallocate("piped")
		if err := pipeline.Sync(); err != nil {
			return nil, err
		}
		var seen []any
		for {
			result, err := pipeline.GetResults()
			switch result := result.(type) {
			case *pgconn.ResultReader:
				read := result.Read()
				seen = append(seen, fmt.Sprintf("%s %v", read.Rows, read.Err))
			case nil:
				if err == nil {
					return seen, pipeline.Close()
				}
				seen = append(seen, failure(err))
			default:
				seen = append(seen, fmt.Sprintf("%T", result))
			}
		}
	})
}

func (p *pgxWork) copies() {
	for _, form := range []string{"text", "csv", "binary"} {
		p.note("copy "+form, func() (any, error) {
			return p.copied("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT (FORMAT " + form + ")")
		})
	}
	p.note("copy large", func() (any, error) { return p.copied("COPY (" + large + ") TO STDOUT") })
	p.note("copy error", func() (any, error) {
		return p.copied("COPY (SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT")
	})
	p.note("copy in", func() (any, error) {
		return p.conn.CopyFrom(p.ctx, pgx.Identifier{"wards"}, []string{"ward", "beds"}, pgx.CopyFromRows([][]any{{"x", 1}}))
	})
	p.ask("after copies", "SELECT count(*) FROM patients")
}

func (p *pgxWork) copied(sql string) (any, error) {
	var b bytes.Buffer
	tag, err := p.conn.PgConn().CopyTo(p.ctx, &b, sql)
	return fmt.Sprintf("%s, %d bytes, %.8x", tag, b.Len(), sha256.Sum256(b.Bytes())), err
}

func (p *pgxWork) cancels() {
	p.note("cancel", func() (any, error) {
		done := make(chan error)
		go func() {
			time.Sleep(300 * time.Millisecond)
			done <- p.conn.PgConn().CancelRequest(p.ctx)
		}()
		_, err := p.conn.Exec(p.ctx, slow)
		return nil, errors.Join(err, <-done)
	})
	p.ask("after cancel", "SELECT count(*) FROM patients")
	p.note("canceled context", func() (any, error) {
		conn, err := pgx.Connect(p.ctx, p.url)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(p.ctx, 300*time.Millisecond)
		defer cancel()
		_, err = conn.Exec(ctx, slow)
		return fmt.Sprint(errors.Is(err, context.DeadlineExceeded), conn.IsClosed()), conn.Close(p.ctx)
	})
}

func (p *pgxWork) session() {
	p.note("notices", func() (any, error) {
		config, err := pgx.ParseConfig(p.url)
		if err != nil {
			return nil, err
		}
		var seen []string
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { seen = append(seen, n.Severity+n.Code+n.Message) }
		conn, err := pgx.ConnectConfig(p.ctx, config)
		if err != nil {
			return nil, err
		}
		_, err = conn.Exec(p.ctx, "COMMIT")
		return &seen, errors.Join(err, conn.Close(p.ctx))
	})
	p.note("settings", func() (any, error) { return p.conn.Exec(p.ctx, "SET TimeZone = 'Asia/Kolkata'") })
	p.ask("in that zone", "SELECT admitted, admitted::text, day, span FROM patients WHERE visit = 3")
	p.note("parameter", func() (any, error) { return p.conn.PgConn().ParameterStatus("TimeZone"), nil })
	p.note("reset", func() (any, error) { return p.conn.Exec(p.ctx, "RESET ALL") })
	p.note("several", func() (any, error) {
		results, err := p.conn.PgConn().Exec(p.ctx, "SELECT 1; SELECT count(*) FROM patients; VALUES (1), (2)").ReadAll()
		var seen []any
		for _, r := range results {
			seen = append(seen, fmt.Sprintf("%s %s", r.CommandTag, r.Rows))
		}
		return seen, err
	})
	p.note("load types", func() (any, error) {
		types, err := p.conn.LoadTypes(p.ctx, []string{"mood", "percentage"})
		var names []string
		for _, typ := range types {
			names = append(names, fmt.Sprintf("%s %T", typ.Name, typ.Codec))
		}
		return names, err
	})
	p.note("load composite", func() (any, error) {
		typ, err := p.conn.LoadType(p.ctx, "address")
		if err != nil {
			return nil, err
		}
		composite, ok := typ.Codec.(*pgtype.CompositeCodec)
		if !ok {
			return nil, fmt.Errorf("a codec of type %T", typ.Codec)
		}
		var fields []string
		for _, f := range composite.Fields {
			fields = append(fields, f.Name+" "+f.Type.Name)
		}
		return fields, nil
	})
	p.note("listen", func() (any, error) { return p.conn.Exec(p.ctx, "LISTEN channel") })
	p.note("large object", func() (any, error) {
		err := pgx.BeginFunc(p.ctx, p.conn, func(tx pgx.Tx) error {
			objects := tx.LargeObjects()
			_, err := objects.Open(p.ctx, 1, pgx.LargeObjectModeRead)
			return err
		})
		return nil, err
	})
	p.note("ping", func() (any, error) { return nil, p.conn.Ping(p.ctx) })
}

func (p *pgxWork) pool() (any, error) {
	pool, err := pgxpool.New(p.ctx, p.url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	seen := make([]any, 24)
	failures := make(chan error, len(seen))
	for i := range seen {
		go func() {
			var err error
			seen[i], err = p.rows(pool, "SELECT $1::int + count(*) FROM patients", i)
			failures <- err
		}()
	}
	for range seen {
		err = errors.Join(err, <-failures)
	}
	return seen, err
}
