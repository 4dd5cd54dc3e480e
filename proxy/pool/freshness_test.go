package pool

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestHostsThatAreGoneAreNotFresh has a reload name another server.
func TestHostsThatAreGoneAreNotFresh(t *testing.T) {
	t.Parallel()
	f := newFakeWorld(t, 1)
	p := f.newPool(Config{})
	defer p.Close()
	get := func() *Link {
		l, err := obtain(t.Context(), p, Want{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	stays := get()
	for _, host := range []string{"one", "two", "one"} {
		before := get()
		if err := p.Reconfigure(Config{Roles: map[string]*pgconn.Config{"": fakeRole(t, host)}}); err != nil {
			t.Fatal(err)
		}
		if same := before.conn.host == p.hosts.all[0]; before.Fresh() != same {
			t.Errorf("fresh %v of a host that stays %v", before.Fresh(), same)
		}
		before.Release('I')
	}
	if stays.Fresh() {
		t.Error("a host that was gone is fresh for a session from before")
	}
	if now := get(); !now.Fresh() {
		t.Error("a new session is not fresh")
	}
}
