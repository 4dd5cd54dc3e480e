package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Most mutants are compiled together, for linking takes longer than most tests: beside each
// function stand copies of it, one for each mutant, and the function begins by calling the
// one whose number an environment variable holds.

// variable names the mutant that a program is to be.
const variable = "KPROXY_MUTANT"

// chosen reads it, in one of the package's files; imports are what that needs.
const (
	imports = `; import mutantOS "os"; import mutantNumber "strconv"`
	chosen  = `
var chosenMutant, _ = mutantNumber.Atoi(mutantOS.Getenv("` + variable + `"))
`
)

// together compiles the package with the mutants in it, and notes the number of each that
// the program has: a function whose parameters have no names cannot pass them on.
func (r *runner) together(ctx context.Context, mutants []mutant) (program string, err error) {
	replace := map[string]string{}
	add := func(full string, text []byte) error {
		name := filepath.Join(r.folder, "together_"+filepath.Base(full))
		replace[full] = name
		return os.WriteFile(name, text, 0o600)
	}
	r.numbers = map[mutant]int{}
	for _, f := range r.pkg.files {
		if text := r.withCopies(f, mutants); text != nil {
			err = errors.Join(err, add(f.full, text))
		}
	}
	overlay, failure := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err = errors.Join(err, failure); err != nil {
		return "", err
	}
	list := filepath.Join(r.folder, "together.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(r.folder, "together.test")
	if _, err := command(ctx, r.pkg.folder, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", program, "."); err != nil {
		return "", err
	}
	quick := r.quick()
	if output, err := r.execute(ctx, program, 0, "-test.run", "^("+quick+")$"); err != nil {
		return "", fmt.Errorf("with copies of functions beside them, tests fail: %w\n%s", err, output)
	}
	return program, nil
}

// quick are the tests that take little time, at least one.
func (r *runner) quick() (pattern string) {
	var sum time.Duration
	for _, t := range r.tests {
		if sum += t.Took; pattern != "" && sum > 10*time.Second {
			break
		}
		pattern += "|" + t.Pattern
	}
	return strings.TrimPrefix(pattern, "|")
}

// insertion is a text that is added to a file at a byte.
type insertion struct {
	at   int
	text string
}

// withCopies is a file with copies of its functions after it, or nil where there are none.
func (r *runner) withCopies(f *file, mutants []mutant) []byte {
	var insertions []insertion
	for _, d := range f.tree.Decls {
		if function, is := d.(*ast.FuncDecl); is && function.Body != nil {
			insertions = append(insertions, r.copies(f, function, mutants)...)
		}
	}
	if len(insertions) == 0 {
		return nil
	}
	if !r.reads {
		r.reads = true
		end := r.pkg.fset.Position(f.tree.Name.End()).Offset
		insertions = append(insertions, insertion{end, imports}, insertion{len(f.source), chosen})
	}
	slices.SortStableFunc(insertions, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var text []byte
	last := 0
	for _, i := range insertions {
		text = append(append(text, f.source[last:i.at]...), i.text...)
		last = i.at
	}
	return append(text, f.source[last:]...)
}

// copies are a function's, one for each of its mutants, and what chooses among them; none
// where the function cannot call them.
func (r *runner) copies(f *file, function *ast.FuncDecl, mutants []mutant) (insertions []insertion) {
	call, passes := forward(function)
	if !passes {
		return nil
	}
	offset := func(at token.Pos) int { return r.pkg.fset.Position(at).Offset }
	from, name, body, to := offset(function.Type.Func), offset(function.Name.End()), offset(function.Body.Lbrace), offset(function.End())
	var cases strings.Builder
	for _, m := range mutants {
		if m.file != f || m.start <= body || to <= m.start {
			continue
		}
		number := len(r.numbers) + 1
		r.numbers[m] = number
		suffix := fmt.Sprintf("Mutant%d", number)
		text := slices.Concat(f.source[from:name], []byte(suffix), f.source[name:m.start], []byte(m.to), f.source[m.end:to])
		insertions = append(insertions, insertion{len(f.source), "\n" + string(text) + "\n"})
		fmt.Fprintf(&cases, "case %d: %s; ", number, call(suffix))
	}
	if cases.Len() == 0 {
		return nil
	}
	return append(insertions, insertion{body + 1, " switch chosenMutant { " + cases.String() + "}; "})
}

// forward makes the statement with which a function calls the copy whose name has a suffix,
// if it can.
func forward(f *ast.FuncDecl) (call func(suffix string) string, passes bool) {
	if f.Type.TypeParams != nil || f.Recv == nil && (f.Name.Name == "init" || f.Name.Name == "main") {
		return nil, false
	}
	receiver := ""
	if f.Recv != nil {
		names := f.Recv.List[0].Names
		if len(names) != 1 || names[0].Name == "_" {
			return nil, false
		}
		receiver = names[0].Name + "."
	}
	var arguments []string
	for _, field := range f.Type.Params.List {
		if len(field.Names) == 0 {
			return nil, false
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				return nil, false
			}
			argument := name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				argument += "..."
			}
			arguments = append(arguments, argument)
		}
	}
	return func(suffix string) string {
		text := receiver + f.Name.Name + suffix + "(" + strings.Join(arguments, ", ") + ")"
		if f.Type.Results == nil {
			return text + "; return"
		}
		return "return " + text
	}, true
}
