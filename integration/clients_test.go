package integration

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func testPsqlReads(t *testing.T, s *site) {
	o := psql(t, s.url(),
		`SELECT count(*) FROM patients;`,
		`SELECT sum(n) FROM (SELECT chapter, count(*) AS n FROM patients JOIN icd10 ON code = diagnosis GROUP BY chapter) c;`,
		`SELECT count(*) FROM public.patients p JOIN wards w USING (ward);`,
		`\copy (SELECT count(*) FROM patients) TO STDOUT`,
		`SELECT count(*) AS n FROM patients \gset`, `\echo n is :n`,
		`\set FETCH_COUNT 100`, `SELECT 'f' FROM patients;`,
	).must(t)
	want := "600\n600\n600\n600\nn is 600\n" + strings.Repeat("f\n", patients)
	if o.stdout != want {
		t.Errorf("psql wrote:\n%s", o.stdout)
	}
}

// testExecutionModes runs one query with parameters in every way pgx knows.
func testExecutionModes(t *testing.T, s *site) {
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connect(t, s.url("default_query_exec_mode="+map[pgx.QueryExecMode]string{
				pgx.QueryExecModeCacheStatement: "cache_statement", pgx.QueryExecModeCacheDescribe: "cache_describe",
				pgx.QueryExecModeDescribeExec: "describe_exec", pgx.QueryExecModeExec: "exec",
				pgx.QueryExecModeSimpleProtocol: "simple_protocol",
			}[mode]))
			const grouped = `SELECT i.chapter, count(*), min(p.birth_date), avg(p.cost)::float8
				FROM patients p JOIN icd10 i ON i.code = p.diagnosis WHERE p.cost > $1 AND p.sex <> $2 GROUP BY 1`
			for range 2 {
				rows, err := conn.Query(t.Context(), grouped, 100, "X")
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for rows.Next() {
					if _, err := rows.Values(); err != nil {
						t.Error(err)
					}
					n++
				}
				if rows.Err() != nil || n < 2 {
					t.Errorf("%d rows, %v", n, rows.Err())
				}
			}
			var refused *pgconn.PgError
			if _, err := conn.Exec(t.Context(), "SELECT name FROM patients WHERE cost > $1", 100); !errors.As(err, &refused) || refused.Code != "42703" {
				t.Errorf("a hidden column: %v", err)
			}
			if got := scalar[int](t, conn, "SELECT 41 + $1::int", 1); got != 42 {
				t.Errorf("after the refusal: %d", got)
			}
		})
	}
}

func testPrepared(t *testing.T, s *site) {
	conn := connect(t, s.url())
	if _, err := conn.Prepare(t.Context(), "by_ward", "SELECT count(*) FROM patients WHERE ward = $1"); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, ward := range []string{"Cardiology", "Surgery", "nowhere"} {
		total += scalar[int](t, conn, "by_ward", ward)
	}
	if total == 0 || total >= patients {
		t.Errorf("%d patients in two wards", total)
	}
	o := psql(t, s.url(),
		`PREPARE q(numeric) AS SELECT count(*) > 0 FROM patients WHERE cost > $1;`, `EXECUTE q(10);`,
		`EXPLAIN (COSTS OFF) EXECUTE q(10);`, `DEALLOCATE q;`).must(t)
	if !strings.HasPrefix(o.stdout, "t\n") || strings.Contains(o.stdout, "kproxy") {
		t.Errorf("psql wrote:\n%s", o.stdout)
	}
	batch := &pgx.Batch{}
	for i := range 20 {
		batch.Queue("SELECT count(*) + $1::int FROM patients", i)
	}
	results := conn.SendBatch(t.Context(), batch)
	for i := range 20 {
		var n int
		if err := results.QueryRow().Scan(&n); err != nil || n != patients+i {
			t.Errorf("statement %d of the pipeline: %d, %v", i, n, err)
		}
	}
	if err := results.Close(); err != nil {
		t.Error(err)
	}
}

func testCursors(t *testing.T, s *site) {
	conn := connect(t, s.url())
	execute(t, conn, "BEGIN")
	execute(t, conn, "DECLARE c SCROLL CURSOR FOR SELECT diagnosis, cost FROM patients ORDER BY cost")
	seen := 0
	for {
		tag, err := conn.Exec(t.Context(), "FETCH 100 FROM c")
		if err != nil {
			t.Fatal(err)
		}
		if tag.RowsAffected() == 0 {
			break
		}
		seen += int(tag.RowsAffected())
	}
	execute(t, conn, "MOVE BACKWARD ALL FROM c")
	execute(t, conn, "CLOSE c")
	execute(t, conn, "COMMIT")
	if seen != patients {
		t.Errorf("the cursor gave %d rows", seen)
	}
}

func testCopy(t *testing.T, s *site) {
	conn := connect(t, s.url()).PgConn()
	copied := func(sql string) []byte {
		var b bytes.Buffer
		if _, err := conn.CopyTo(t.Context(), &b, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		return b.Bytes()
	}
	if n := bytes.Count(copied("COPY patients TO STDOUT"), []byte("\n")); n != patients {
		t.Errorf("text: %d lines", n)
	}
	records, err := csv.NewReader(bytes.NewReader(copied("COPY patients (sex, ward, cost) TO STDOUT WITH (FORMAT csv, HEADER)"))).ReadAll()
	if err != nil || len(records) != patients+1 || strings.Join(records[0], " ") != "sex ward cost" {
		t.Errorf("CSV: %d records, %v", len(records), err)
	}
	if b := copied("COPY (SELECT birth_date, cost FROM patients) TO STDOUT (FORMAT binary)"); !bytes.HasPrefix(b, []byte("PGCOPY\n\xff\r\n\x00")) {
		t.Errorf("binary: %.20q", b)
	}
	if _, err := conn.CopyTo(t.Context(), &bytes.Buffer{}, "COPY patients (name) TO STDOUT"); err == nil {
		t.Error("a hidden column was copied")
	}
	if _, err := conn.CopyFrom(t.Context(), strings.NewReader("x"), "COPY patients FROM STDIN"); err == nil {
		t.Error("COPY FROM was accepted")
	}
	if _, err := conn.Exec(t.Context(), "SELECT 1").ReadAll(); err != nil {
		t.Errorf("after COPY: %v", err)
	}
}

func testSeveralStatements(t *testing.T, s *site) {
	conn := connect(t, s.url()).PgConn()
	results, err := conn.Exec(t.Context(), "SELECT 1; SELECT count(*) FROM patients; ; VALUES (1), (2)").ReadAll()
	if err != nil || len(results) != 3 || len(results[2].Rows) != 2 || string(results[1].Rows[0][0]) != "600" {
		t.Errorf("%d results, %v", len(results), err)
	}
	results, err = conn.Exec(t.Context(), "SELECT 1; DELETE FROM patients; SELECT 2").ReadAll()
	if len(results) > 0 && len(results[0].Rows) > 0 || err == nil {
		t.Errorf("one of several statements is refused: %d results, %v", len(results), err)
	}
}

func testTransactions(t *testing.T, s *site) {
	conn := connect(t, s.url())
	execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	execute(t, conn, "SAVEPOINT a")
	if _, err := conn.Exec(t.Context(), "SELECT name FROM patients"); err == nil {
		t.Fatal("a hidden column was read")
	}
	if status := conn.PgConn().TxStatus(); status != 'E' {
		t.Errorf("after a refusal the transaction is in state %q", status)
	}
	var failed *pgconn.PgError
	if _, err := conn.Exec(t.Context(), "SELECT 1"); !errors.As(err, &failed) || failed.Code != "25P02" {
		t.Errorf("in a failed transaction: %v", err)
	}
	execute(t, conn, "ROLLBACK TO a")
	if n := scalar[int](t, conn, "SELECT count(*) FROM patients"); n != patients {
		t.Errorf("%d patients", n)
	}
	execute(t, conn, "COMMIT")
	// Drivers ask for it with each transaction; it stays read-only all the same.
	execute(t, conn, "BEGIN READ WRITE")
	if got := scalar[string](t, conn, "SHOW transaction_read_only"); got != "on" {
		t.Errorf("READ WRITE makes transaction_read_only %s", got)
	}
	execute(t, conn, "COMMIT")
	if status := conn.PgConn().TxStatus(); status != 'I' {
		t.Errorf("at the end the session is in state %q", status)
	}
}

func testCancel(t *testing.T, s *site) {
	conn := connect(t, s.url())
	done := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().Exec(context.Background(), "SELECT count(*) FROM generate_series(1, 100000000000)").ReadAll()
		done <- err
	}()
	// A cancel request that comes before the statement runs is lost, as in PostgreSQL.
	var err error
	eventually(t, "the statement ends", func() bool {
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	var canceled *pgconn.PgError
	if !errors.As(err, &canceled) || canceled.Code != "57014" {
		t.Errorf("the canceled statement: %v", err)
	}
	// A late request may hit the next statement.
	eventually(t, "the session goes on", func() bool {
		_, err := conn.Exec(t.Context(), "SELECT 1")
		return err == nil
	})
}
