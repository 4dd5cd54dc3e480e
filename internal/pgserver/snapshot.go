package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	// slotsFolder holds the replication slots' state (PostgreSQL, chapter
	// "Database File Layout").
	slotsFolder = "pg_replslot"
	// tablespaces holds a symbolic link for each tablespace.
	tablespaces = "pg_tblspc"
)

// left are the files of the data folder that a copy does without: a running
// postmaster's, and those that make a server a standby.
var left = []string{"postmaster.pid", "postmaster.opts", standbySignal, recoverySignal}

// The files that tell a server how to recover (PostgreSQL, section "Recovering
// Using a Continuous Archive Backup").
const (
	standbySignal  = "standby.signal"
	recoverySignal = "recovery.signal"
)

// snapshot copies the data folder as it is at one moment: all of the server's
// processes are halted meanwhile. The copy is what a crash at that moment would
// have left (PostgreSQL, section "File System Level Backup": a consistent
// snapshot), so that any of its recoveries can start from it. A server that
// does not run is copied as it is.
func (s *Server) snapshot(ctx context.Context, dir string) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("the server was stopped for good")
	}
	if s.running != nil && !s.running.paused {
		if err := s.running.pause(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.running.resume()) }()
	}
	return copyCluster(ctx, s.folder.data, dir)
}

// copyCluster copies a data folder into an empty one.
func copyCluster(ctx context.Context, from, to string) error {
	outside, err := os.ReadDir(filepath.Join(from, tablespaces))
	if err != nil {
		return err
	}
	if len(outside) > 0 {
		return errors.New("the cluster has tablespaces outside of its data folder")
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case name == ".", slices.Contains(left, name):
			return nil
		case entry.IsDir():
			return os.Mkdir(target, 0o700)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder", name)
		default:
			return copyFile(path, target)
		}
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// dropSlots removes the replication slots of a cluster that does not run.
func dropSlots(data string) error {
	slots, err := os.ReadDir(filepath.Join(data, slotsFolder))
	if err != nil {
		return err
	}
	for _, slot := range slots {
		if err := os.RemoveAll(filepath.Join(data, slotsFolder, slot.Name())); err != nil {
			return err
		}
	}
	return nil
}

// emptyFolder makes a folder unless it is there, and refuses one with content.
func emptyFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return dir, err
}
