package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// pkg is a package as it is in the tree, with its types.
type pkg struct {
	path   string // import path
	module string // path of its module
	folder string
	fset   *token.FileSet
	files  []*file
	info   *types.Info
	config types.Config
}

// file is a file of a package without its tests.
type file struct {
	name   string // within the module
	full   string
	source []byte
	tree   *ast.File
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Path, Dir string }
}

// load reads the packages that match patterns.
func load(ctx context.Context, patterns []string) ([]*pkg, error) {
	if len(patterns) == 0 {
		return nil, errors.New("no packages are named")
	}
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module", "--"}, patterns...)
	output, err := command(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var wanted []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly && l.Module != nil {
			wanted = append(wanted, l)
		}
	}
	var packages []*pkg
	for _, l := range wanted {
		p, err := read(l, exports)
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// read parses a package and finds its types; exports are the files in which the compiler
// left those of the packages that it imports.
func read(l listed, exports map[string]string) (*pkg, error) {
	p := &pkg{path: l.ImportPath, module: l.Module.Path, folder: l.Dir, fset: token.NewFileSet()}
	p.config.Importer = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, name := range l.GoFiles {
		full := filepath.Join(l.Dir, name)
		source, err := os.ReadFile(full)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(p.fset, full, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		within, err := filepath.Rel(l.Module.Dir, full)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, &file{name: filepath.ToSlash(within), full: full, source: source, tree: tree})
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	_, err := p.config.Check(p.path, p.fset, p.trees(nil, nil), p.info)
	return p, err
}

// trees are the package's files, with another tree in place of one of them.
func (p *pkg) trees(instead *file, tree *ast.File) (trees []*ast.File) {
	for _, f := range p.files {
		if f == instead {
			trees = append(trees, tree)
		} else {
			trees = append(trees, f.tree)
		}
	}
	return trees
}

// compiles reports whether the package does with a mutant in it.
func (p *pkg) compiles(m mutant) bool {
	tree, err := parser.ParseFile(p.fset, m.file.full, m.source(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	_, err = p.config.Check(p.path, p.fset, p.trees(m.file, tree), nil)
	return err == nil
}

// command runs the Go command in a folder and returns what it printed.
func command(ctx context.Context, folder string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	var failure bytes.Buffer
	cmd.Stderr = &failure
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(append(output, failure.Bytes()...)))
	}
	return output, nil
}
