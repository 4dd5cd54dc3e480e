package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// TestJSONLog has each kind of value that is logged written for programs.
func TestJSONLog(t *testing.T) {
	t.Parallel()
	for format, want := range map[config.LogFormat]string{
		config.LogJSON: `"level":"WARN","msg":"m","relation":"public.patients","remote":"127.0.0.1:5","rule":1,"pause_seconds":0.25,` +
			`"error":"wrong","position":"0/1","addresses":"10.0.0.0/8"}`,
		config.LogText: `level=WARN msg=m relation=public.patients remote=127.0.0.1:5 rule=1 pause=250ms error=wrong position=0/1 addresses=10.0.0.0/8`,
	} {
		var text bytes.Buffer
		log := newLogger(&text, config.Log{Format: format}, slog.LevelInfo)
		log.With("relation", catalog.Name{Schema: "public", Relation: "patients"}).Warn("m", "remote", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5},
			"rule", 1, "pause", 250*time.Millisecond, "error", errors.New("wrong"), "position", "0/1", "addresses", netip.MustParsePrefix("10.0.0.0/8"))
		if !strings.HasSuffix(strings.TrimSpace(text.String()), want) {
			t.Errorf("%s: %s", format, text.String())
		}
	}
}

// TestNamesDoNotTurnTheLog has names with characters that change the direction of text, which logs in both
// forms, and JSON that commands write, show as escapes. Programs read them as they were.
func TestNamesDoNotTurnTheLog(t *testing.T) {
	t.Parallel()
	const turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
	const name = "pat" + turning + "ients"
	for _, format := range []config.LogFormat{config.LogJSON, config.LogText} {
		var text bytes.Buffer
		log := newLogger(&text, config.Log{Format: format}, slog.LevelInfo)
		log.With("user", name).Warn("m "+name, "relation", catalog.Name{Schema: "public", Relation: name}, "error", errors.New(name))
		if strings.ContainsAny(text.String(), turning) || strings.Count(text.String(), `\u202e`) != 4 {
			t.Errorf("%s: %q", format, text.String())
		}
		if format == config.LogText {
			continue
		}
		var read struct{ User, Relation, Error string }
		if err := json.Unmarshal(text.Bytes(), &read); err != nil || read.User != name || read.Error != name || !strings.Contains(read.Relation, name) {
			t.Errorf("%+v, %v", read, err)
		}
	}
	var text bytes.Buffer
	if err := writeJSON(&text, map[string]string{name: name}); err != nil || strings.ContainsAny(text.String(), turning) {
		t.Errorf("%q, %v", text.String(), err)
	}
}

// TestAttributesOfTheLogAreDocumented holds the names of attributes in all calls of loggers to
// the list in docs/observe.md.
func TestAttributesOfTheLogAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Attribute | Meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := make(map[string]bool)
	for line := range strings.Lines(table) {
		for _, name := range strings.Split(strings.Split(line, "|")[1], ",") {
			documented[strings.TrimSpace(name)] = true
		}
	}
	logged := loggedAttributes(t)
	for name, where := range logged {
		if !documented[name] {
			t.Errorf("%s: the attribute %q is not in docs/observe.md", where, name)
		}
	}
	for name := range documented {
		if logged[name] == "" {
			t.Errorf("docs/observe.md has %q, which nothing logs", name)
		}
	}
}

// loggedAttributes are the names of attributes that the program logs, with a place of each.
func loggedAttributes(t *testing.T) map[string]string {
	t.Helper()
	l := logCalls{t: t, files: token.NewFileSet(), found: make(map[string]string)}
	for _, folder := range []string{"cmd", "catalog", "internal", "proxy", "rewrite", "sync"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains([]string{"bench", "pgserver", "eval", "chaos", "torture"}, entry.Name()):
				return filepath.SkipDir
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(l.files, path, nil, 0)
			if err == nil {
				ast.Inspect(file, l.visit)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if l.calls < 100 {
		t.Errorf("only %d calls of loggers are found", l.calls)
	}
	return l.found
}

// logCalls collects the attributes of calls of loggers.
type logCalls struct {
	t     *testing.T
	files *token.FileSet
	calls int
	found map[string]string
}

// before is how many arguments a method of a logger has before attributes.
var before = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "Log": 3, "Note": 4}

// isLogger is what variables and fields are called that are loggers, and of package repeats.
var isLogger = regexp.MustCompile(`^([lL]og|[lL]ogger|repeats)$`)

func (l *logCalls) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		l.call(n)
	case *ast.CompositeLit: // attributes that a call gets as a list
		if array, ok := n.Type.(*ast.ArrayType); ok && isNamed(array.Elt, "any") && len(n.Elts) > 0 && literal(n.Elts[0]) != "" {
			l.attributes(n.Elts)
		}
	case *ast.Field:
		if star, ok := n.Type.(*ast.StarExpr); ok && isNamed(star.X, "Logger") {
			for _, name := range n.Names {
				if !isLogger.MatchString(name.Name) {
					l.t.Errorf("%s: a logger is called %s", l.files.Position(n.Pos()), name.Name)
				}
			}
		}
	}
	return true
}

func (l *logCalls) call(c *ast.CallExpr) {
	if isNamed(c.Fun, "append") && len(c.Args) > 2 && literal(c.Args[1]) != "" {
		l.attributes(c.Args[1:])
		return
	}
	method, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if isNamed(method.X, "slog") && len(c.Args) == 2 && literal(c.Args[0]) != "" {
		l.attributes(c.Args)
		return
	}
	on := method.X
	if field, ok := on.(*ast.SelectorExpr); ok {
		on = field.Sel
	}
	name, ok := on.(*ast.Ident)
	first, known := before[method.Sel.Name]
	if !ok || !known || !isLogger.MatchString(name.Name) || len(c.Args) < first {
		return
	}
	l.calls++
	arguments := c.Args[first:]
	if c.Ellipsis.IsValid() {
		arguments = arguments[:len(arguments)-1] // it is looked at where it is made
	}
	l.attributes(arguments)
}

// attributes takes names and values in turn, or calls that return both.
func (l *logCalls) attributes(of []ast.Expr) {
	for i := 0; i < len(of); i++ {
		place := l.files.Position(of[i].Pos()).String()
		if _, attribute := of[i].(*ast.CallExpr); attribute {
			continue
		}
		name := literal(of[i])
		if !attributeName.MatchString(name) {
			l.t.Errorf("%s: the name of an attribute is no word that a reader of JSON can go by: %q", place, name)
		}
		l.found[name] = place
		i++
	}
}

var attributeName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// isNamed tells whether an expression is a name, be it of another package.
func isNamed(e ast.Expr, name string) bool {
	if of, ok := e.(*ast.SelectorExpr); ok {
		e = of.Sel
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// literal is the value of a string, "" of all else.
func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	return ""
}
