package sync

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func pinned(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for name, setting := range sessionSettings {
		if _, err := conn.Exec(t.Context(), "SELECT set_config($1, $2, false)", name, setting); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// declarable says whether the server has a type: before PostgreSQL 15 the scale of a
// numeric had to be between 0 and its precision.
func declarable(t *testing.T, sqlType string) bool {
	t.Helper()
	var precision, scale int
	_, err := fmt.Sscanf(sqlType, "numeric(%d,%d)", &precision, &scale)
	if major := pgtest.Shared(t).Version().Major; err == nil && (scale < 0 || scale > precision) && major < 15 {
		t.Logf("left out: PostgreSQL %d has no %s", major, sqlType)
		return false
	}
	return true
}

// TestRepresentable lets the server read what stands for a class.
func TestRepresentable(t *testing.T) {
	t.Parallel()
	conn := pinned(t)
	for _, test := range []struct {
		sqlType, text, lower, upper string
		halfOpen                    bool
		want                        string
	}{
		{"smallint", "34999", "30000", "39999", false, "32767"},
		{"smallint", "-34999", "", "", false, "-32768"},
		{"smallint", "-5", "-10", "0", false, "-5"},
		{"integer", "2147484999", "", "", false, "2147483647"},
		{"integer", "-2147484999", "", "", false, "-2147483648"},
		{"bigint", "2147484999", "", "", false, "2147484999"},
		{"numeric(5,2)", "5000", "0", "10000", true, "999.99"},
		{"numeric(5,2)", "-1e3", "", "", false, "-999.99"},
		{"numeric(5,2)", "34.5", "30", "39", false, "34.50"},
		{"numeric(4,0)", "10000", "", "", false, "9999"},
		{"numeric(4,0)", "10.5", "10", "11", false, "11"},
		{"numeric(4,0)", "-10.5", "-11", "-10", false, "-11"},
		{"numeric(4,0)", "-0.4", "-1", "0", false, "0"},
		{"numeric(4,0)", "3.5", "3", "4", true, "3"},
		{"numeric(4,0)", "1.05", "0.9", "1.2", true, "1"},
		{"numeric(4,0)", "0.15", "-0.5", "0.8", true, "0"},
		{"numeric(4,0)", "0.95", "0.8", "1.1", true, "1"},
		{"numeric(4,0)", "7.2", "7.1", "8.3", false, "8"},
		{"numeric(3,3)", "1", "", "", false, "0.999"},
		{"numeric(3,5)", "0.05", "0", "0.1", true, "0.00999"},
		{"numeric(5,-2)", "50000000", "0", "100000000", true, "9999900"},
		{"numeric(5,-2)", "150", "100", "200", false, "200"},
		{"numeric(5,-2)", "-149.9", "", "", false, "-100"},
		{"numeric", "1e30", "", "", false, "1e30"},
		{"real", "7e-46", "0", "1e-45", false, "0"},
		{"real", "-7e-46", "", "", false, "0"},
		{"real", "1e-45", "", "", false, "1e-45"},
		{"real", "3.4028235e38", "", "", false, "3.4028235e+38"},
		{"real", "5e38", "", "", false, "3.4028235e+38"},
		{"real", "16777217", "", "", false, "1.6777216e+07"},
		{"real", "99999.905", "99999.9", "99999.91", true, "99999.9"},
		{"real", "1.00000017881393432617187500001", "", "", false, "1.0000002"}, // its nearest float64 lies between two reals
		{"date", "2024-01-31", "2024-01-01", "2024-03-01", false, "2024-01-31"},
		{"timestamp without time zone", "2024-01-31 00:00:00.123456", "", "", false, "2024-01-31 00:00:00.123456"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:10.5", "2000-01-01 00:00:10", "2000-01-01 00:00:11", false, "2000-01-01 00:00:11"},
		{"timestamp(0) without time zone", "1999-12-31 23:59:58.5", "", "", false, "1999-12-31 23:59:58"},
		{"timestamp(3) without time zone", "1999-12-31 23:59:59.9996", "", "", false, "2000-01-01 00:00:00"},
		{"timestamp(0) without time zone", "2024-02-29 23:59:59.7", "2024-02-29 00:00:00", "2024-02-29 23:59:59.999999", false, "2024-02-29 23:59:59"},
		{"timestamp(2) with time zone", "0044-03-15 12:00:00.125+00 BC", "", "", false, "0044-03-15 12:00:00.12+00 BC"},
		{"timestamp(1) with time zone", "12024-03-15 12:00:00.15+00", "", "", false, "12024-03-15 12:00:00.2+00"},
		{"timestamp(0) with time zone", "0001-12-31 23:59:59.4+00 BC", "", "", false, "0001-12-31 23:59:59+00 BC"},
	} {
		within := catalog.Bounds{Lower: test.lower, Upper: test.upper, HalfOpen: test.halfOpen}
		got := catalog.Representable(test.sqlType, test.text, within)
		if got != test.want {
			t.Errorf("%s %s within %v became %s, %s expected", test.sqlType, test.text, within, got, test.want)
		}
		if again := catalog.Representable(test.sqlType, got, within); again != got {
			t.Errorf("%s %s became %s and then %s", test.sqlType, test.text, got, again)
		}
		if !declarable(t, test.sqlType) {
			continue
		}
		var stored string
		if err := conn.QueryRow(t.Context(), "SELECT ($1::text::"+test.sqlType+")::text", got).Scan(&stored); err != nil {
			t.Errorf("%s %s became %s: %v", test.sqlType, test.text, got, err)
		} else if stored != got && test.sqlType != "numeric" {
			t.Errorf("%s %s became %s and is stored as %s", test.sqlType, test.text, got, stored)
		}
	}
}

// TestRepresentableIsWhatIsStored takes random values of random types: without
// bounds the server makes the same of the value itself.
func TestRepresentableIsWhatIsStored(t *testing.T) {
	t.Parallel()
	conn := pinned(t)
	r := rand.New(rand.NewPCG(1, 15))
	instants, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp})
	if err != nil {
		t.Fatal(err)
	}
	zoned, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ})
	if err != nil {
		t.Fatal(err)
	}
	var types, sent, texts []string
	try := func(sqlType, text string) {
		types, sent, texts = append(types, sqlType), append(sent, text), append(texts, catalog.Representable(sqlType, text, catalog.Bounds{}))
	}
	for range 3000 {
		precision := 1 + r.IntN(12)
		scale := r.IntN(20) - 5
		units := r.Int64N(int64(math.Pow10(precision))) - int64(math.Pow10(precision))/2
		value := float64(units) / 4 * math.Pow10(-scale) // with halves
		try(fmt.Sprintf("numeric(%d,%d)", precision, scale), strconv.FormatFloat(value, 'g', -1, 64))
		single := float64(math.Float32frombits(r.Uint32()&0x7effffff | 1<<10))
		try("real", strconv.FormatFloat(single*(1+r.Float64()/1e7), 'g', 1+r.IntN(17), 64))
		digits := r.IntN(7)
		at := (r.Int64N(800e15) - 100e15) / []int64{1, 5, 50, 500, 5000, 50000, 500000}[r.IntN(7)] * []int64{1, 5, 50, 500, 5000, 50000, 500000}[r.IntN(7)]
		try(fmt.Sprintf("timestamp(%d) without time zone", digits), instants.Generalize([]hierarchy.Cell{float64(at)}).Value)
		try(fmt.Sprintf("timestamp(%d) with time zone", digits), zoned.Generalize([]hierarchy.Cell{float64(at)}).Value)
	}
	for i, text := range texts {
		if !declarable(t, types[i]) {
			continue
		}
		var stored, directly string
		var equal bool
		err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT a::text, b::text, a = b FROM (SELECT $1::text::%[1]s AS a, $2::text::%[1]s AS b) x", types[i]), text, sent[i]).Scan(&stored, &directly, &equal)
		if err != nil {
			t.Errorf("%s %s: %v", types[i], sent[i], err)
			continue
		}
		if stored != text || !equal {
			t.Errorf("%s %s becomes %s, of which %s is stored; the server makes it %s", types[i], sent[i], text, stored, directly)
		}
	}
}
