package pgserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the unprivileged user that a server runs as when the caller is
// root, whom PostgreSQL refuses. A nil owner is the caller, who is not root.
type owner struct {
	name     string
	uid, gid uint32
}

// unprivileged picks the user postgres or, where there is none, nobody.
func unprivileged() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return &owner{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("running PostgreSQL as an unprivileged user: there is neither a user postgres nor nobody")
}

// credential is what a child process is started with.
func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: o.uid, Gid: o.gid}
}

// own hands a file or folder over.
func (o *owner) own(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, int(o.uid), int(o.gid))
}

// ownAll hands a data folder with all that is in it over.
func (o *owner) ownAll(dir string) error {
	if o == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, o.own(path))
	})
}

// reaches reports whether the user may pass through a folder and all folders
// above it.
func (o *owner) reaches(dir string) bool {
	if o == nil {
		return true
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || !o.enters(info) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// enters reports whether the user may pass through one folder.
func (o *owner) enters(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch {
	case stat.Uid == o.uid:
		return info.Mode()&0o100 != 0
	case stat.Gid == o.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

// String is empty for the caller and " as NAME" for another user.
func (o *owner) String() string {
	if o == nil {
		return ""
	}
	return " as " + o.name
}
