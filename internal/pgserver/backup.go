package pgserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// Backup is a copy of a server's data folder as it was at one moment. Any
// number of servers may be started from it, one after the other or side by
// side; see Options.Backup.
type Backup struct {
	dir  string
	opts Options // the server's, with what a copy of it needs
}

// Backup copies the data folder into dir, which is made unless it is there and
// must be empty. The server stands still for as long as that takes, a fraction
// of a second for a small cluster and seconds for a gigabyte; sessions survive
// that. Only under Linux can a running server be copied, elsewhere it must have
// been killed; a cluster with tablespaces cannot be copied. The caller removes
// dir.
func (s *Server) Backup(ctx context.Context, dir string) (*Backup, error) {
	dir, err := emptyFolder(dir)
	if err == nil {
		err = s.snapshot(ctx, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("making a backup: %w", err)
	}
	return &Backup{dir: dir, opts: s.heritage()}, nil
}

// heritage is what a copy of the server has in common with it.
func (s *Server) heritage() Options {
	return Options{
		BinDir:    s.binaries.Dir,
		Settings:  maps.Clone(s.opts.Settings),
		Durable:   s.opts.Durable,
		Superuser: s.opts.Superuser,
		Password:  s.opts.Password,
	}
}

// inherit completes the options of a copy: the superuser is the original's, the
// rest gives way to what the caller wants.
func (o Options) inherit(original Options) Options {
	o.Superuser, o.Password = original.Superuser, original.Password
	o.Durable = o.Durable || original.Durable
	if o.BinDir == "" {
		o.BinDir = original.BinDir
	}
	settings := maps.Clone(original.Settings)
	if settings == nil {
		settings = make(map[string]string)
	}
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	return o
}

// restore fills the data folder from the backup.
func (s *Server) restore(ctx context.Context) error {
	if s.folder.initialized() {
		return fmt.Errorf("restoring a backup: there is a cluster in %s", s.folder.data)
	}
	if _, err := emptyFolder(s.folder.data); err != nil {
		return fmt.Errorf("restoring a backup: %w", err)
	}
	err := copyCluster(ctx, s.opts.Backup.dir, s.folder.data)
	if err == nil && !s.opts.SameTimeline {
		// There is no archive to restore from: all the log is in the backup.
		s.opts.Settings["restore_command"] = "false"
		err = errors.Join(dropSlots(s.folder.data), s.signal(recoverySignal))
	}
	if err == nil {
		err = s.owner.ownAll(s.folder.data)
	}
	if err != nil {
		return fmt.Errorf("restoring a backup: %w", err)
	}
	return nil
}

// signal leaves an empty file that tells the server how to recover.
func (s *Server) signal(name string) error {
	return os.WriteFile(filepath.Join(s.folder.data, name), nil, 0o600)
}
