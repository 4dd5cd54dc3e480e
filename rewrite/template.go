package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// template is the rewriting of all texts that differ in some literals only. Why it is
// one stands in DESIGN.md.
type template struct {
	// statement is what all of them become, but for its text, which has nothing where
	// a literal belongs.
	statement *Statement
	// places are where, in the order of that text.
	places []place
}

// place is where a literal goes.
type place struct {
	at      int // byte offset in the template's text
	literal int // index among the literals of the client's text
}

// form is a client's text as the cache of templates sees it.
type form struct {
	literals []literal
	// key is the text with literals replaced.
	key []byte
}

// forms are used again: finding a template is the path that texts with new literals
// take.
var forms = sync.Pool{New: func() any { return new(form) }}

// maxKeptBytes is the greatest key, in bytes, whose memory is kept for the next text.
const maxKeptBytes = 64 << 10

func (f *form) release() {
	if cap(f.key) <= maxKeptBytes {
		forms.Put(f)
	}
}

// read finds the text's literals; it is false where the text can have no template.
func (f *form) read(sql string) bool {
	found, ok := literals(sql, f.literals)
	if ok {
		f.literals = found
	}
	return ok
}

// replace makes the key of a text in which some literals, or none, stay as they are.
// A replaced one becomes a NUL, which no text has, and its class.
func (f *form) replace(sql string, verbatim []bool) []byte {
	f.key = f.key[:0]
	from := 0
	for i, l := range f.literals {
		if verbatim != nil && verbatim[i] {
			continue
		}
		f.key = append(f.key, sql[from:l.start]...)
		f.key = append(f.key, 0, byte(l.class))
		from = l.end
	}
	f.key = append(f.key, sql[from:]...)
	return f.key
}

// templated finds the template by which to rewrite a text; nil if there is none.
func (r *Rewriter) templated(v *version, session, sql string, f *form) *template {
	e := v.cache.getForm(literalForm, session, f.replace(sql, nil))
	if e != nil && e.template == nil && slices.Contains(e.verbatim, false) {
		e = v.cache.getForm(templateForm, session, f.replace(sql, e.verbatim))
	}
	if e == nil || e.template == nil || limitText(sql, r.options) != nil {
		return nil
	}
	return e.template
}

// fill puts a text's literals into the template's text.
func (t *template) fill(sql string, literals []literal) string {
	size := len(t.statement.SQL)
	for _, p := range t.places {
		size += literals[p.literal].end - literals[p.literal].start
	}
	var b strings.Builder
	b.Grow(size)
	from := 0
	for _, p := range t.places {
		b.WriteString(t.statement.SQL[from:p.at])
		b.WriteString(sql[literals[p.literal].start:literals[p.literal].end])
		from = p.at
	}
	b.WriteString(t.statement.SQL[from:])
	return b.String()
}

// learn makes a template for a text that was just rewritten, once a second one of its
// form comes by: most texts never come with other literals.
func (r *Rewriter) learn(v *version, s *Session, session, sql string, f *form, done *rewriting) {
	key := f.replace(sql, nil)
	known := v.cache.getForm(literalForm, session, key)
	if known == nil {
		v.cache.put(&entry{kind: literalForm, session: session, text: string(key)})
		return
	}
	if known.verbatim != nil {
		if known.template != nil || !slices.Contains(known.verbatim, false) {
			return
		}
		key := f.replace(sql, known.verbatim)
		if v.cache.getForm(templateForm, session, key) == nil {
			v.cache.put(&entry{kind: templateForm, session: session, text: string(key)})
			return
		}
	}
	verbatim, made := r.template(v, s, sql, f.literals, known.verbatim, done)
	learned := &entry{kind: literalForm, session: session, text: string(f.replace(sql, nil)), verbatim: verbatim}
	if made != nil && !slices.Contains(verbatim, true) {
		learned.template = made
	}
	v.cache.put(learned)
	if made != nil && learned.template == nil {
		v.cache.put(&entry{kind: templateForm, session: session, text: string(f.replace(sql, verbatim)), template: made})
	}
}

// template makes the template of a text and says which literals stay as they are:
// those that did before, those on whose value the rewriting depended and those that
// are no constant of the tree. All do where there is no template.
func (r *Rewriter) template(v *version, s *Session, sql string, of []literal, before []bool, done *rewriting) ([]bool, *template) {
	none := slices.Repeat([]bool{true}, len(of))
	if !selects(done.tree) || done.statement.Effects != nil {
		return none, nil
	}
	verbatim := dependent(done.tree, sql, of)
	for i := range before {
		verbatim[i] = verbatim[i] || before[i]
	}
	if !slices.Contains(verbatim, false) {
		return none, nil
	}
	// Once more with literals that stand nowhere else: where they turn up, the
	// client's belong.
	marked, places := sentinels(sql, of, verbatim)
	again, err := r.rewrite(marked, s, v.snapshot)
	if err != nil || !again.statement.sameExceptSQL(done.statement) {
		return none, nil
	}
	for i, fixed := range dependent(again.tree, marked, places) {
		if fixed && !verbatim[i] {
			return none, nil
		}
	}
	t := cut(again.statement, marked, places, verbatim)
	if t == nil || t.fill(sql, of) != done.statement.SQL {
		return none, nil
	}
	return verbatim, t
}

// sameExceptSQL reports whether two texts' rewritings are the same but for their SQL.
func (s *Statement) sameExceptSQL(other *Statement) bool {
	return slices.Equal(s.Reads, other.Reads) && slices.Equal(s.Calls, other.Calls) && s.Effects == nil && other.Effects == nil && s.Plans == other.Plans && s.Look == other.Look && s.FromClasses == other.FromClasses && s.Traceless == other.Traceless
}

// selects says whether all statements are queries. The others have a grammar of their
// own around constants, and do not come in thousands.
func selects(tree *pg.ParseResult) bool {
	for _, raw := range tree.GetStmts() {
		if raw.GetStmt().GetSelectStmt() == nil {
			return false
		}
	}
	return true
}

// dependent says which literals are not the very constants of a checked tree, in
// their places and with their values, or were looked at.
func dependent(tree *pg.ParseResult, sql string, of []literal) []bool {
	at := make(map[int32]int, len(of))
	for i, l := range of {
		at[int32(l.start)] = i
	}
	plain := make([]int, len(of))
	eachConstant(tree.ProtoReflect(), func(c *pg.A_Const) {
		i, ok := at[c.GetLocation()]
		if !ok {
			return
		}
		plain[i]++
		if !of[i].is(c, sql) {
			plain[i]++ // not once, then
		}
	})
	verbatim := make([]bool, len(of))
	for i, times := range plain {
		verbatim[i] = times != 1
	}
	return verbatim
}

func eachConstant(m protoreflect.Message, visit func(*pg.A_Const)) {
	if c, ok := m.Interface().(*pg.A_Const); ok {
		visit(c)
		return
	}
	_ = each(m, func(inner protoreflect.Message) error { eachConstant(inner, visit); return nil })
}

// is says whether the constant is what the literal says.
func (l literal) is(c *pg.A_Const, sql string) bool {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return l.class == classInteger && strconv.Itoa(int(v.Ival.GetIval())) == l.value(sql)
	case *pg.A_Const_Fval:
		return l.class == classDecimal && v.Fval.GetFval() == l.value(sql)
	case *pg.A_Const_Sval:
		return l.class == classString && v.Sval.GetSval() == l.value(sql)
	}
	return false
}

// The beginnings of sentinels: literals of which each stands once in a text. They look
// like the most usual literals, words among them, so that what is written in another
// way is noticed.
const (
	sentinelInteger = "8170"
	sentinelDecimal = "6180"
	sentinelString  = "kproxyliteral"
)

// sentinel is the literal of a class that takes the place of the client's i-th.
func sentinel(of class, i int) string {
	switch of {
	case classInteger:
		return fmt.Sprintf("%s%05d", sentinelInteger, i)
	case classDecimal:
		return fmt.Sprintf("%s%05d.5", sentinelDecimal, i)
	}
	return fmt.Sprintf("'%s%05d'", sentinelString, i)
}

// sentinels is the text with sentinels in the place of literals that are not verbatim,
// and where its literals stand.
func sentinels(sql string, of []literal, verbatim []bool) (string, []literal) {
	var b strings.Builder
	places := slices.Clone(of)
	from := 0
	for i, l := range of {
		b.WriteString(sql[from:l.start])
		places[i].start = b.Len()
		if verbatim[i] {
			b.WriteString(sql[l.start:l.end])
		} else {
			b.WriteString(sentinel(l.class, i))
		}
		places[i].end = b.Len()
		from = l.end
	}
	b.WriteString(sql[from:])
	return b.String(), places
}

// cut takes the sentinels out of a rewritten text; nil unless each stands there once,
// as a literal of its class.
func cut(s *Statement, marked string, places []literal, verbatim []bool) *template {
	written, ok := literals(s.SQL, nil)
	if !ok {
		return nil
	}
	index := make(map[string]int)
	for i, l := range places {
		if !verbatim[i] {
			index[marked[l.start:l.end]] = i
		}
	}
	statement := *s
	t := &template{statement: &statement}
	var b strings.Builder
	from := 0
	for _, l := range written {
		text := s.SQL[l.start:l.end]
		i, ok := index[text]
		if !ok || l.class != places[i].class {
			continue
		}
		delete(index, text)
		b.WriteString(s.SQL[from:l.start])
		t.places = append(t.places, place{at: b.Len(), literal: i})
		from = l.end
	}
	b.WriteString(s.SQL[from:])
	statement.SQL = b.String()
	if len(index) != 0 || strings.Contains(statement.SQL, sentinelInteger) ||
		strings.Contains(statement.SQL, sentinelDecimal) || strings.Contains(statement.SQL, sentinelString) {
		return nil
	}
	return t
}
