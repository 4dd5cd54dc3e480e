package clients

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

// The work that clients written in Go have in common.
const (
	thirty = "SELECT * FROM patients WHERE visit <= 30 ORDER BY visit"
	// 55,000 rows of it are more than any buffer on the way holds.
	large = `SELECT n, p.visit, p.cost, p.admitted, p.remarks, p.tags, p.raw FROM patients p, generate_series(1, 110) n ORDER BY n, visit`
	// Enough rows of it for several messages and buffers.
	medium = `SELECT n, p.visit, p.cost, p.admitted, p.remarks, p.tags, p.raw FROM patients p, generate_series(1, 11) n ORDER BY n, visit`
	slow   = "SELECT count(*) FROM generate_series(1, 100000000000)"
)

// diary collects the steps of a client written in Go.
type diary struct{ steps []step }

// note does a piece of work and keeps what it returns, with its types.
func (d *diary) note(name string, work func() (any, error)) {
	value, err := work()
	text := fmt.Sprintf("%T %+v", value, value)
	if err != nil {
		text = fmt.Sprintf("%s, then ERROR %s", text, failure(err))
	}
	d.steps = append(d.steps, step{name, strings.ReplaceAll(text, "\n", `\n`)})
}

// failure is an error as a client can tell it from others.
func failure(err error) string {
	var server *pgconn.PgError
	var library *pq.Error
	switch {
	case errors.As(err, &server):
		return fmt.Sprintf("%s %s %s, position %d", server.Severity, server.Code, server.Message, server.Position)
	case errors.As(err, &library):
		return fmt.Sprintf("%s %s %s, position %s", library.Severity, library.Code, library.Message, library.Position)
	}
	return err.Error()
}

// digest sums up rows.
type digest struct {
	rows int
	sum  [sha256.Size]byte
}

func (d *digest) add(row []any) {
	d.rows++
	d.sum = sha256.Sum256(fmt.Appendf(d.sum[:], "%v", row))
}

func (d *digest) String() string { return fmt.Sprintf("%d rows, %.8x", d.rows, d.sum) }

// must ends the test if what the work needs fails.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
