package pool

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestSilentHostsAreToldFromStaleOnes has hosts that must show something, and do not.
func TestSilentHostsAreToldFromStaleOnes(t *testing.T) {
	t.Parallel()
	f := newFakeWorld(t, 1)
	p := f.newPool(Config{})
	defer p.Close()
	first, err := obtain(t.Context(), p, Want{})
	if err != nil {
		t.Fatal(err)
	}
	first.Release('I')
	h := p.hosts.all[0]
	h.behind.Store(true)
	refusedWith := func(silent bool, trouble error) error {
		h.silent, h.trouble = silent, trouble
		link, err := obtain(t.Context(), p, Want{})
		if err == nil {
			link.Release('I')
			t.Fatal("a session is served")
		}
		return err
	}
	if err := refusedWith(false, nil); !errors.Is(err, errNotFresh) {
		t.Error(err)
	}
	if err := refusedWith(true, nil); !errors.Is(err, errNotFresh) { // it was not asked yet
		t.Error(err)
	}
	trouble := &pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter"}
	err = refusedWith(true, trouble)
	if !errors.Is(err, errSilent) || !strings.Contains(err.Error(), trouble.Message) || errors.As(err, new(*pgconn.PgError)) {
		t.Errorf("%v; the reason is for the log alone", err)
	}
	if err := h.notFresh(errNotFresh); !errors.Is(err, errNotFresh) {
		t.Errorf("of another host that is stale it says %v", err)
	}
}
