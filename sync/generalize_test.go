package sync

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestRangeTextIsHonest lets the server read the ranges: each must hold both of
// its bounds' values, also at the ends of its type.
func TestRangeTextIsHonest(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	tests := []struct{ rangeType, element, lower, upper, want string }{
		{"int4range", "int4", "20", "29", "[20,30)"},
		{"int4range", "int4", "-2147483648", "2147483647", "[-2147483648,)"},
		{"int4range", "int4", "2147483647", "2147483647", "[2147483647,)"},
		{"int8range", "int8", "-9223372036854775808", "9223372036854775807", "[-9223372036854775808,)"},
		{"numrange", "numeric", "-0.5", "1e3", "[-0.5,1000]"},
		{"daterange", "date", "2024-01-01", "2024-01-31", "[2024-01-01,2024-02-01)"},
		{"daterange", "date", "0044-03-15 BC", "0001-01-01", `["0044-03-15 BC",0001-01-02)`},
		{"daterange", "date", "4713-11-24 BC", "5874897-12-31", `["4713-11-24 BC",)`},
		{"tsrange", "timestamp", "2024-01-01 00:00:00", "2024-01-01 12:30:00.5", `["2024-01-01 00:00:00","2024-01-01 12:30:00.5"]`},
		{"tstzrange", "timestamptz", "2024-01-01 00:00:00+00", "2024-01-02 00:00:00+00", `["2024-01-01 00:00:00+00","2024-01-02 00:00:00+00"]`},
	}
	if _, err := conn.Exec(ctx, "SET timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		text := catalog.RangeText(test.rangeType, test.lower, test.upper)
		var got string
		var honest bool
		sql := "SELECT r::text, r @> $2::text::" + test.element + " AND r @> $3::text::" + test.element +
			" FROM (SELECT $1::text::" + test.rangeType + " AS r) AS x"
		if err := conn.QueryRow(ctx, sql, text, test.lower, test.upper).Scan(&got, &honest); err != nil {
			t.Errorf("%s %s: %v", test.rangeType, text, err)
			continue
		}
		if got != test.want || !honest {
			t.Errorf("%s %s is %s, want %s; holds its bounds: %t", test.rangeType, text, got, test.want, honest)
		}
		column := catalog.PublishedColumn{Type: test.rangeType, Part: catalog.Range}
		if output, shown := column.Output(hierarchy.Spec{}, hierarchy.Generalization{Lower: test.lower, Upper: test.upper}); !shown || output != got && test.upper != "1e3" {
			t.Errorf("%s %s is %s, and written %s without a server", test.rangeType, text, got, output)
		}
	}
}
