package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lines counts lines of Go.
type lines struct {
	files, code, comments, tests int
}

func (l *lines) add(other lines) {
	l.files += other.files
	l.code += other.code
	l.comments += other.comments
	l.tests += other.tests
}

// shape is how large a type is.
type shape struct {
	name            string // with its package's folder
	methods, fields int
}

// module is what is counted of all packages of a module.
type module struct {
	packages map[string]*lines // by folder
	types    map[string]*shape
	product  []string // files, without tests and what serves them
}

// read counts the files below a folder.
func read(root string) (*module, error) {
	m := &module{packages: make(map[string]*lines), types: make(map[string]*shape)}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || path != root && strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return m.count(filepath.ToSlash(path), source)
	})
	slices.Sort(m.product)
	return m, err
}

// rigs are the folders of what serves tests and measuring alone.
var rigs = []string{"integration/", "internal/bench/", "internal/pgserver/", "sync/torture/", "proxy/chaos/", "anonymizer/anonymizertest/"}

// count takes a file in.
func (m *module) count(path string, source []byte) error {
	folder := filepath.Dir(path)
	if m.packages[folder] == nil {
		m.packages[folder] = &lines{}
	}
	code, comments := countLines(source)
	if strings.HasSuffix(path, "_test.go") {
		m.packages[folder].add(lines{files: 1, tests: code})
		return nil
	}
	m.packages[folder].add(lines{files: 1, code: code, comments: comments})
	if slices.ContainsFunc(rigs, func(rig string) bool { return strings.HasPrefix(path, rig) }) {
		return nil
	}
	m.product = append(m.product, path)
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		m.declare(folder, declaration)
	}
	return nil
}

// countLines counts lines with code, and lines with nothing but comments.
func countLines(source []byte) (code, comments int) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	last, lastComment := 0, 0
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return code, comments
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue // the end of a line
		}
		first := file.Line(pos)
		end := first + strings.Count(text, "\n")
		switch {
		case kind != token.COMMENT:
			code += max(0, end-max(first-1, last))
			last = max(last, end)
		case first > last:
			comments += max(0, end-max(first-1, lastComment))
			lastComment = max(lastComment, end)
		}
	}
}

// shape is that of a type of a folder.
func (m *module) shape(folder, name string) *shape {
	key := folder + "." + name
	if m.types[key] == nil {
		m.types[key] = &shape{name: key}
	}
	return m.types[key]
}

// declare takes the fields of structures and the methods in.
func (m *module) declare(folder string, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return
		}
		if receiver := receiverName(d.Recv.List[0].Type); receiver != "" {
			m.shape(folder, receiver).methods++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, is := spec.(*ast.TypeSpec); is {
				if structure, is := t.Type.(*ast.StructType); is {
					m.shape(folder, t.Name.Name).fields += fields(structure)
				}
			}
		}
	}
}

// fields counts the fields of a structure; embedded ones are one each.
func fields(structure *ast.StructType) (n int) {
	for _, field := range structure.Fields.List {
		n += max(1, len(field.Names))
	}
	return n
}

// receiverName is the type that a method belongs to.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// write writes the tables.
func (m *module) write(page *strings.Builder) {
	page.WriteString(`# Structure

` + "`make structure`" + ` writes this page: how the code is distributed, and what may have grown too large.
[ARCHITECTURE.md](../ARCHITECTURE.md) says what the packages are for.

## Lines of Go by package

Lines with code; lines with comments alone; lines with code of tests.

| Package | Files | Code | Comments | Tests |
| --- | ---: | ---: | ---: | ---: |
`)
	var all lines
	for _, folder := range slices.Sorted(maps.Keys(m.packages)) {
		l := m.packages[folder]
		all.add(*l)
		fmt.Fprintf(page, "| %s | %d | %d | %d | %d |\n", folder, l.files, l.code, l.comments, l.tests)
	}
	fmt.Fprintf(page, "| all | %d | %d | %d | %d |\n", all.files, all.code, all.comments, all.tests)
	shapes := slices.Collect(maps.Values(m.types))
	byFields := func(s *shape) int { return s.fields }
	byMethods := func(s *shape) int { return s.methods }
	writeTypes(page, "by methods", shapes, byMethods, byFields)
	writeTypes(page, "by fields", shapes, byFields, byMethods)
}

// writeTypes lists the largest types of the product by a measure, and by another one where that is
// the same.
func writeTypes(page *strings.Builder, by string, shapes []*shape, first, second func(*shape) int) {
	slices.SortFunc(shapes, func(a, b *shape) int {
		for _, measure := range []func(*shape) int{first, second} {
			if d := measure(b) - measure(a); d != 0 {
				return d
			}
		}
		return strings.Compare(a.name, b.name)
	})
	fmt.Fprintf(page, "\n## Largest types of the product, %s\n\n| Type | Methods | Fields |\n| --- | ---: | ---: |\n", by)
	for _, s := range shapes[:min(largest, len(shapes))] {
		fmt.Fprintf(page, "| %s | %d | %d |\n", s.name, s.methods, s.fields)
	}
}
