package pool

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestMistakesInConfig(t *testing.T) {
	t.Parallel()
	one, two := fakeRole(t), fakeRole(t, "one", "two")
	other := fakeRole(t)
	other.Database = "elsewhere"
	for want, c := range map[string]Config{
		"the main role is missing":        {},
		"a cap is negative":               {Roles: map[string]*pgconn.Config{"": one}, Options: Options{MaxConnections: -1}},
		"a time is negative":              {Roles: map[string]*pgconn.Config{"": one}, Options: Options{QueueTimeout: -1}},
		"must be at least 2s":             {Roles: map[string]*pgconn.Config{"": two}, Options: Options{MaxStaleness: 1}},
		"Prefer is for several servers":   {Roles: map[string]*pgconn.Config{"": one}, Options: Options{Prefer: OnlyStandby}},
		"need references":                 {Roles: map[string]*pgconn.Config{"": two}},
		"which is none of its values":     {Roles: map[string]*pgconn.Config{"": two}, Options: Options{Prefer: 7}},
		`role "x" names other servers`:    {Roles: map[string]*pgconn.Config{"": one, "x": two}},
		`role "x" is on another database`: {Roles: map[string]*pgconn.Config{"": one, "x": other}},
		`role "x" has no connection`:      {Roles: map[string]*pgconn.Config{"": one, "x": nil}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
