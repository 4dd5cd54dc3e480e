package sync

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestRepresentableIsReadable lets the server read what stands for a class.
func TestRepresentableIsReadable(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, test := range []struct{ sqlType, text, want string }{
		{"smallint", "34999", "32767"},
		{"smallint", "-34999", "-32768"},
		{"smallint", "-5", "-5"},
		{"integer", "2147484999", "2147483647"},
		{"integer", "-2147484999", "-2147483648"},
		{"bigint", "2147484999", "2147484999"},
		{"numeric(5,2)", "5000", "999.99"},
		{"numeric(5,2)", "-1e3", "-999.99"},
		{"numeric(5,2)", "34.5", "34.5"},
		{"numeric(4,0)", "10000", "9999"},
		{"numeric(3,3)", "1", "0.999"},
		{"numeric", "1e30", "1e30"},
		{"real", "7e-46", "0"},
		{"real", "1e-45", "1e-45"},
		{"real", "3.4028235e38", "3.4028235e+38"},
		{"real", "5e38", "3.4028235e+38"},
		{"real", "16777217", "1.6777216e+07"},
		{"date", "2024-01-31", "2024-01-31"},
	} {
		got := representable(test.sqlType, test.text)
		if got != test.want {
			t.Errorf("%s %s became %s, %s expected", test.sqlType, test.text, got, test.want)
		}
		if _, err := conn.Exec(ctx, "SELECT $1::text::"+test.sqlType, got); err != nil {
			t.Errorf("%s %s became %s: %v", test.sqlType, test.text, got, err)
		}
	}
}
