package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// surroundings are the environment and the files that a configuration speaks of.
type surroundings struct {
	lookupEnv func(name string) (string, bool)
	// readFile returns at most maxFileBytes + 1 bytes of a file.
	readFile func(path string) ([]byte, error)
}

func machine() *surroundings { return &surroundings{lookupEnv: os.LookupEnv, readFile: readFile} }

// Load reads a configuration file, and the passwords, certificates and
// taxonomies it speaks of. The error is an [Errors].
func Load(path string) (*Config, error) { return load(path, machine()) }

func load(path string, around *surroundings) (*Config, error) {
	text, err := around.readFile(path)
	if err != nil {
		return nil, Errors{{File: path, What: "cannot be read: " + cause(err), Fix: startFrom}}
	}
	return parse(path, text, around)
}

// Parse reads a configuration from its text. It looks at nothing else: no
// password is read, and [Secret.IsSet] is false for those of Upstream; a taxonomy
// in a file of its own is left empty. File is used in messages, and its folder is
// where relative paths start. The error is an [Errors].
func Parse(file string, text []byte) (*Config, error) { return parse(file, text, nil) }

func parse(path string, text []byte, around *surroundings) (*Config, error) {
	d := newDecoder(path, around)
	var f file
	if root := d.document(text); root != nil {
		fileSection().read(d, root, "the configuration", reflect.ValueOf(&f).Elem())
	}
	if err := d.problems.asError(path); err != nil {
		return nil, err
	}
	return &f.Config, nil
}

// beside resolves a path that a file speaks of.
func (d *decoder) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(d.file), path)
}

// contents reads a file that the configuration speaks of. It is false when the
// file is not to be looked at, or when it cannot be read, which is reported.
func (d *decoder) contents(n *yaml.Node, what, path string) ([]byte, bool) {
	if d.around == nil {
		return nil, false
	}
	text, err := d.around.readFile(path)
	if err != nil {
		d.wrong(n, what+" cannot be read: "+cause(err), "give the path of a readable file; a relative one starts at this file's folder")
		return nil, false
	}
	return text, true
}

// cause is the system's reason alone: a path in the wrong place could be a password.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return "input/output error"
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}
