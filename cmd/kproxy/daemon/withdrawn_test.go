package daemon

import (
	"errors"
	"testing"
)

// TestWithdrawnAtServer tells errors of what is withdrawn from others of the same states.
func TestWithdrawnAtServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ state, message, want string }{
		{"42501", "permission denied for view people", `table "people" is not published now`},
		{"42501", "permission denied for function f", ""},
		{"42P01", `relation "kproxy_release_public.people" does not exist`, `table "public.people" is not published now`},
		{"42P01", `relation "people" does not exist`, ""},
		{"22P02", `invalid input syntax for type boolean: "a composite type has fields that were not accepted"`, "a composite type has fields that were not accepted"},
		{"22P02", `ungültige Eingabesyntax für Typ boolean: »a partition or child table is not as it was accepted«`, "a partition or child table is not as it was accepted"},
		{"22P02", `invalid input syntax for type boolean: "a table has become a partition or child of another one, or was rewritten since the transaction began"`, "a table has become a partition or child of another one, or was rewritten since the transaction began"},
		{"XX000", "could not find attribute -6 in subquery targetlist", "a table has become a view"},
		{"XX000", "could not find attribute -7 in subquery targetlist", ""},
		{"22P02", `invalid input syntax for type boolean: "what"`, ""},
	} {
		err := withdrawnAtServer(c.state, c.message)
		if err == nil && c.want == "" {
			continue
		}
		refused := (interface {
			SQLState() string
			Hint() string
		})(nil)
		if !errors.As(err, &refused) || err.Error() != c.want || refused.SQLState() != "55000" || refused.Hint() == "" {
			t.Errorf("%s %s is %v", c.state, c.message, err)
		}
	}
}
