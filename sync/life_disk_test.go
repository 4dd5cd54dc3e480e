package sync

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// boundedDisk is a small file system that the test's end takes away.
func boundedDisk(t *testing.T, size int64) *pgserver.Disk {
	t.Helper()
	d, err := pgserver.NewDisk(size)
	if errors.Is(err, pgserver.ErrNoDisk) {
		t.Skipf("a full disk cannot be tried: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestStoreIsFull has the private store on a disk of its own, which is full while tables
// are published, and while changes are applied.
func TestStoreIsFull(t *testing.T) {
	t.Parallel()
	d := boundedDisk(t, 48<<20)
	folder, err := d.Folder("store")
	if err != nil {
		t.Fatal(err)
	}
	server := ownServer(t, pgserver.Options{})
	b := newWard(t, server)
	b.quiet()
	owner := catalog.QuoteIdentifier(b.config.Owner.User)
	b.exec("CREATE TABLESPACE small LOCATION '" + folder + "'")
	b.exec("GRANT CREATE ON TABLESPACE small TO " + owner)
	b.exec("ALTER ROLE " + owner + " SET default_tablespace = small")
	full, free := func() {
		t.Helper()
		if err := d.Fill(); err != nil {
			t.Fatal(err)
		}
	}, func() {
		t.Helper()
		if err := d.Free(); err != nil {
			t.Fatal(err)
		}
	}
	full()
	l := b.start()
	l.eventually("it tells that the disk is full while a table is published", func() bool {
		status := l.Status()
		return strings.Contains(fmt.Sprintf("%s %s %+v", status.Reason, status.Fix, status.Tables), "disk is full")
	})
	free()
	l.inStep()

	before := b.shownRows("visits")
	full()
	b.script("INSERT INTO ward SELECT " + visit("i") + " FROM generate_series(1000, 6000) i")
	b.alter()
	status := l.told(Reconnecting, "53100")
	if !strings.Contains(status.Fix, "disk is full") {
		t.Errorf("the fix does not say what happened: %s", status.Fix)
	}
	for name, table := range status.Tables {
		if table.State != Published {
			t.Errorf("%s is %s while the disk is full", name, table.State)
		}
	}
	b.alter()
	free()
	l.inStep()
	b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
}

// TestServerIsFull fills the disk with all of the server, WAL included.
func TestServerIsFull(t *testing.T) {
	t.Parallel()
	d := boundedDisk(t, 160<<20)
	folder, err := d.Folder("data")
	if err != nil {
		t.Fatal(err)
	}
	server := ownServer(t, pgserver.Options{DataDir: folder, Settings: map[string]string{"max_wal_size": "32MB", "wal_recycle": "off"}})
	b := newWard(t, server)
	b.quiet()
	l := b.start()
	l.inStep()
	if err := d.Fill(); err != nil {
		t.Fatal(err)
	}
	for range 200 { // until the log cannot grow
		if _, err := b.source.Exec(t.Context(), "INSERT INTO ward SELECT "+visit("i")+" FROM generate_series((SELECT max(id) + 1 FROM ward), (SELECT max(id) + 500 FROM ward)) i"); err != nil {
			t.Logf("the server said: %v", err)
			break
		}
	}
	l.told(Reconnecting, "")
	if err := d.Free(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.source = b.connect()
	l.inStep()
	b.alter()
	l.inStep()
	l.stop()
}
