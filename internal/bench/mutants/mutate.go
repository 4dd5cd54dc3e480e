package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is a package with the text of one node replaced.
type mutant struct {
	file       *file
	function   string // with the type of its receiver, as in lineage.Apply
	line       int
	start, end int // bytes of the file
	to         string
}

// source is the mutant's file.
func (m mutant) source() []byte {
	return slices.Concat(m.file.source[:m.start], []byte(m.to), m.file.source[m.end:])
}

// change is what distinguishes the mutant, on one line.
func (m mutant) change() string {
	to := m.to
	if to == "" {
		to = "nothing"
	}
	return oneLine(string(m.file.source[m.start:m.end])) + " -> " + oneLine(to)
}

// where is the line in which the changed node begins.
func (m mutant) where() string {
	before, after := m.file.source[:m.start], m.file.source[m.start:]
	rest, _, _ := bytes.Cut(after, []byte("\n"))
	return oneLine(string(before[bytes.LastIndexByte(before, '\n')+1:]) + string(rest))
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s\n\t%s\n\t%s", m.file.name, m.line, m.function, m.where(), m.change())
}

// oneLine is a text with its white space as single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// operators are what takes the place of each operator.
var operators = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.GEQ: {token.GTR, token.LSS},
	token.GTR: {token.GEQ, token.LEQ}, token.LEQ: {token.LSS, token.GTR},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.AND_ASSIGN: {token.OR_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// collector finds the mutants of a file. Some of them may not compile.
type collector struct {
	pkg      *pkg
	file     *file
	function string
	fails    map[*ast.ReturnStmt]bool // returns what is known to be an error
	mutants  []mutant
}

// mutants are all of the package, in the order of its text.
func (p *pkg) mutants() []mutant {
	var all []mutant
	for _, f := range p.files {
		c := collector{pkg: p, file: f, fails: map[*ast.ReturnStmt]bool{}}
		for _, d := range f.tree.Decls {
			if function, is := d.(*ast.FuncDecl); is && function.Body != nil {
				c.function = nameOf(function)
				ast.Inspect(function.Body, c.visit)
			}
		}
		all = append(all, c.mutants...)
	}
	return all
}

// nameOf is a function's name after that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
			continue
		case *ast.IndexExpr:
			receiver = t.X
			continue
		case *ast.IndexListExpr:
			receiver = t.X
			continue
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
}

// visit adds the mutants of a node and reports whether what is below it has any.
func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.DeferStmt:
		return false // what is released at the end is seldom seen by a test
	case *ast.CallExpr:
		if c.tells(n) {
			return false
		}
		c.arguments(n)
	case *ast.BinaryExpr:
		c.operator(n, n.OpPos, n.Op)
		if n.Op == token.LAND || n.Op == token.LOR {
			c.replace(n, c.text(n.X))
			c.replace(n, c.text(n.Y))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB {
			c.replace(n, c.text(n.X))
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			c.replace(n, "("+n.Value+" + 1)")
		}
	case *ast.IfStmt:
		c.negated(n.Cond)
		if c.isFailure(n.Cond) {
			c.fail(n.Body)
		}
	case *ast.ReturnStmt:
		for _, result := range c.read(n) {
			c.result(result)
			ast.Inspect(result, c.visit)
		}
		return false
	case *ast.IncDecStmt:
		c.operator(n, n.TokPos, n.Tok)
	case *ast.BranchStmt:
		if n.Label == nil {
			c.operator(n, n.Pos(), n.Tok)
		}
	case *ast.AssignStmt:
		c.operator(n, n.TokPos, n.Tok)
		if n.Tok != token.DEFINE && !slices.ContainsFunc(n.Lhs, isBlank) {
			c.replace(n, "")
		}
	case *ast.SendStmt:
		c.replace(n, "")
	case *ast.ExprStmt:
		if call, is := n.X.(*ast.CallExpr); !is || !c.tells(call) {
			c.replace(n, "")
		}
	}
	return true
}

// read are the results of a return that callers read: beside what is known to be an error,
// nobody reads the others.
func (c *collector) read(n *ast.ReturnStmt) []ast.Expr {
	last := len(n.Results) - 1
	if last < 1 || c.pkg.info.Types[n.Results[last]].IsNil() || !isError(c.pkg.info.Types[n.Results[last]].Type) {
		return n.Results
	}
	if c.fails[n] || c.makesError(n.Results[last]) {
		return n.Results[last:]
	}
	return n.Results
}

// isFailure reports whether a condition is that a variable holds an error.
func (c *collector) isFailure(condition ast.Expr) bool {
	compared, is := ast.Unparen(condition).(*ast.BinaryExpr)
	if !is || compared.Op != token.NEQ || !c.pkg.info.Types[compared.Y].IsNil() {
		return false
	}
	_, is = compared.X.(*ast.Ident)
	return is && isError(c.pkg.info.Types[compared.X].Type)
}

// fail notes the return at the end of what is done about an error.
func (c *collector) fail(body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	if last, is := body.List[len(body.List)-1].(*ast.ReturnStmt); is {
		c.fails[last] = true
	}
}

// makesError reports whether an expression of an error's type is a call that always returns one.
func (c *collector) makesError(e ast.Expr) bool {
	call, is := ast.Unparen(e).(*ast.CallExpr)
	if !is {
		return false
	}
	_, concrete := c.pkg.info.Types[e].Type.(*types.Pointer)
	return concrete || c.tells(call)
}

// isError reports whether a type is that of errors or one of them.
func isError(t types.Type) bool {
	basic, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return t != nil && types.Implements(t, basic)
}

func isBlank(e ast.Expr) bool {
	name, is := e.(*ast.Ident)
	return is && name.Name == "_"
}

// tells reports whether a call makes a text for people: an error, a panic or a line of a log.
// Infinity, of which only the sign counts, is left out as well.
func (c *collector) tells(call *ast.CallExpr) bool {
	var name *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return false
	}
	switch object := c.pkg.info.Uses[name].(type) {
	case *types.Builtin:
		return object.Name() == "panic"
	case *types.Func:
		switch full := object.FullName(); full {
		case "fmt.Errorf", "errors.New", "math.Inf":
			return true
		default:
			return strings.HasPrefix(full, "(*log/slog.Logger).")
		}
	}
	return false
}

// arguments replaces variables and fields that are given to a call.
func (c *collector) arguments(call *ast.CallExpr) {
	for _, argument := range call.Args {
		switch argument.(type) {
		case *ast.Ident, *ast.SelectorExpr:
		default:
			continue
		}
		seen := c.pkg.info.Types[argument]
		if seen.Value != nil || seen.Type == nil {
			continue
		}
		switch basic, _ := seen.Type.Underlying().(*types.Basic); {
		case basic == nil:
		case basic.Info()&types.IsNumeric != 0:
			c.replace(argument, "0")
		case basic.Info()&types.IsBoolean != 0:
			c.replace(argument, "!"+c.text(argument))
		}
	}
}

// result replaces what a function returns.
func (c *collector) result(e ast.Expr) {
	seen := c.pkg.info.Types[e]
	if seen.IsNil() || seen.Type == nil {
		return
	}
	switch t := seen.Type.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Info()&types.IsBoolean != 0 && seen.Value != nil:
			c.replace(e, fmt.Sprint(!constant.BoolVal(seen.Value)))
		case t.Info()&types.IsBoolean != 0:
			c.negated(e)
		case t.Info()&types.IsNumeric != 0 && (seen.Value == nil || constant.Sign(seen.Value) != 0):
			c.replace(e, "0")
		case t.Info()&types.IsString != 0 && seen.Value == nil:
			c.replace(e, `""`)
		}
	case *types.Interface, *types.Slice, *types.Map, *types.Pointer:
		c.replace(e, "nil")
	}
}

// negated replaces a condition by its opposite, where no operator of its own is replaced.
func (c *collector) negated(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return
		}
	}
	c.replace(e, "!("+c.text(e)+")")
}

// operator replaces the operator of a node by each that takes its place.
func (c *collector) operator(n ast.Node, at token.Pos, op token.Token) {
	before, after := c.text(n)[:at-n.Pos()], c.text(n)[int(at-n.Pos())+len(op.String()):]
	for _, other := range operators[op] {
		c.replace(n, before+other.String()+after)
	}
}

func (c *collector) text(n ast.Node) string {
	return string(c.file.source[c.offset(n.Pos()):c.offset(n.End())])
}

func (c *collector) offset(p token.Pos) int { return c.pkg.fset.Position(p).Offset }

func (c *collector) replace(n ast.Node, to string) {
	c.mutants = append(c.mutants, mutant{
		file: c.file, function: c.function, line: c.pkg.fset.Position(n.Pos()).Line,
		start: c.offset(n.Pos()), end: c.offset(n.End()), to: to,
	})
}
