package check

import (
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

// TestConnections warns of limits that the server does not have, and never takes all of them.
func TestConnections(t *testing.T) {
	t.Parallel()
	for _, has := range []int{1, 20, 97, 1000} {
		if spare := Spare(has); spare < 5 || has > 25 && spare > has-16 {
			t.Errorf("of %d connections, %d are for sessions", has, spare)
		}
		for limit, warns := range map[int]bool{0: false, has: false, has + 1: true} {
			c := &config.Config{Limits: config.Limits{MaxConnections: limit}}
			if found := checkConnections(c, has); len(found) > 0 != warns {
				t.Errorf("%d of %d: %v", limit, has, found)
			}
		}
	}
	several := &config.Config{Limits: config.Limits{MaxConnections: 500}}
	several.Upstream.Reader.Hosts = []config.Server{{Host: "a"}, {Host: "b"}}
	if found := checkConnections(several, 97); len(found) > 0 {
		t.Errorf("several servers: %v", found)
	}
}
