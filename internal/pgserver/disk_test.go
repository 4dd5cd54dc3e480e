package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// disk mounts a file system that the test's end takes away.
func disk(t *testing.T, size int64) *Disk {
	t.Helper()
	d, err := NewDisk(size)
	if errors.Is(err, ErrNoDisk) {
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

func folderOn(t *testing.T, d *Disk, name string) string {
	t.Helper()
	dir, err := d.Folder(name)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// growth is more than any disk of these tests has free.
const growth = "INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 100000)"

// fail runs a statement that must fail and returns the error.
func fail(t *testing.T, s *Server, sql string) error {
	t.Helper()
	err := s.session(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	})
	if err == nil {
		t.Fatalf("%s succeeded", sql)
	}
	return err
}

// TestTableOnAFullDisk fills a disk that holds a tablespace: the statement
// fails and the server lives.
func TestTableOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := disk(t, 16<<20)
	s := start(t, Options{})
	execute(t, s, "CREATE TABLESPACE small LOCATION '"+folderOn(t, d, "tables")+"'")
	execute(t, s, "CREATE TABLE t (x text) TABLESPACE small")
	pid := s.PID()
	if err := d.Fill(); err != nil {
		t.Fatal(err)
	}
	var refused *pgconn.PgError
	if err := fail(t, s, growth); !errors.As(err, &refused) || refused.Code != "53100" {
		t.Errorf("on a full disk: %v", err)
	}
	for range 2 {
		if err := d.Free(); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, s, "INSERT INTO t VALUES ('it fits')")
	if s.PID() != pid {
		t.Error("the server was restarted")
	}
}

// TestServerOnAFullDisk fills the disk with the data folder and the log: the
// server ends, and goes on without loss.
func TestServerOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := disk(t, 128<<20)
	s := start(t, Options{DataDir: folderOn(t, d, "data"), Settings: map[string]string{"max_wal_size": "32MB", "wal_recycle": "off"}})
	execute(t, s, "CREATE TABLE t (x text)")
	execute(t, s, "INSERT INTO t VALUES ('kept')")
	if err := d.Fill(); err != nil {
		t.Fatal(err)
	}
	_ = fail(t, s, growth)
	if err := d.Free(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, s, "INSERT INTO t VALUES ('added')")
	if got := query(t, s, "SELECT string_agg(x, ' ' ORDER BY x) FROM t"); got != "added kept" {
		t.Errorf("after the disk was freed: %.100s", got)
	}
	if err := s.Stop(); err != nil { // before the disk goes
		t.Fatal(err)
	}
}

func TestDiskIsBoundedAndGoes(t *testing.T) {
	t.Parallel()
	d := disk(t, 1<<20)
	if err := d.Fill(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folderOn(t, d, "more"), "file"), make([]byte, 4096), 0o600); err == nil {
		t.Error("a full disk takes more")
	}
	info, err := os.Stat(filepath.Join(d.mount.dir, ballast))
	if err != nil || info.Size() > 1<<20 || info.Size() < 1<<19 {
		t.Errorf("the disk of 1 MB holds %v (%v)", info.Size(), err)
	}
}

// TestDiskLeftBehindIsSwept leaves a disk as a process that was killed would.
func TestDiskLeftBehindIsSwept(t *testing.T) {
	t.Parallel()
	d, err := NewDisk(1 << 20)
	if errors.Is(err, ErrNoDisk) {
		t.Skipf("a disk cannot be tried: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	folderOn(t, d, "left")
	if os.Geteuid() != 0 {
		if err := d.mount.remove(); err != nil { // its keeper ends with this process
			t.Fatal(err)
		}
	}
	if err := d.folder.lock.Close(); err != nil {
		t.Fatal(err)
	}
	// A server that another test starts meanwhile is, between fork and exec, a
	// process that shares the lock.
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		sweep(filepath.Dir(d.folder.root))
		if _, err := os.Stat(d.folder.root); os.IsNotExist(err) {
			return
		}
	}
	t.Error("it was not swept")
}
