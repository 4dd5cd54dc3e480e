package rewrite

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The defaults of Options. The figures behind the last two are in DESIGN.md.
const (
	DefaultCacheBytes        = 16 << 20
	DefaultMaxStatementBytes = 1 << 20
	DefaultMaxTokens         = 50_000
	DefaultMaxStatements     = 1000
	DefaultMaxDepth          = 200
)

// NoCache is for Options.CacheBytes.
const NoCache = -1

// Options are the limits of a Rewriter; zero means the default.
type Options struct {
	// Database is the name that may stand before a schema (db.schema.table).
	// Empty refuses every such name.
	Database string
	// CacheBytes bounds the cache of rewritten texts, refusals and templates (16 MiB);
	// NoCache keeps none.
	CacheBytes int
	// MaxStatementBytes bounds one query text (1 MiB).
	MaxStatementBytes int
	// MaxTokens bounds the tokens of one query text (50,000): an IN list of some
	// 25,000 constants. The cost grows as they do, some 2 us
	// and 300 bytes a token.
	MaxTokens int
	// MaxStatements bounds the statements in one query text (1,000).
	MaxStatements int
	// MaxDepth bounds nesting, in the unit of depth.go (200): operators in a row,
	// joins, set operations, parentheses. Above some 1,000 the parser, which is C,
	// may run out of an 8 MiB stack and end the process.
	MaxDepth int
	// Pinned are the names of settings that the operator has fixed, such as
	// statement_timeout: sessions cannot set them to another value.
	Pinned []string
	// TemporaryTables lets sessions make temporary tables, fill and read them.
	TemporaryTables bool
	// WithoutClasses has all questions asked of published relations, none of the summaries of
	// their classes.
	WithoutClasses bool
}

func (o Options) withDefaults() Options {
	set := func(value *int, fallback int) {
		if *value <= 0 {
			*value = fallback
		}
	}
	if o.CacheBytes != NoCache {
		set(&o.CacheBytes, DefaultCacheBytes)
	}
	set(&o.MaxStatementBytes, DefaultMaxStatementBytes)
	set(&o.MaxTokens, DefaultMaxTokens)
	set(&o.MaxStatements, DefaultMaxStatements)
	set(&o.MaxDepth, DefaultMaxDepth)
	return o
}

// Rewriter rewrites clients' statements. It is safe for concurrent use.
type Rewriter struct {
	options Options
	// pinned are Options.Pinned in lower case.
	pinned map[string]bool
	// parsers bounds the threads that are inside the C parser at once.
	parsers chan struct{}
	// evictions are those of all caches.
	evictions atomic.Uint64
	current   atomic.Pointer[version]
}

// version is a snapshot with the outcomes that hold under it, so that both are
// replaced at once.
type version struct {
	snapshot *catalog.Snapshot
	cache    *cache
}

// New returns a Rewriter that knows no relation until SetSnapshot.
func New(o Options) *Rewriter {
	o = o.withDefaults()
	r := &Rewriter{options: o, pinned: make(map[string]bool), parsers: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for _, name := range o.Pinned {
		r.pinned[strings.ToLower(name)] = true
	}
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{}, nil, nil))
	return r
}

// SetSnapshot replaces what names resolve to and empties the cache.
func (r *Rewriter) SetSnapshot(s *catalog.Snapshot) {
	r.current.Store(&version{snapshot: s, cache: newCache(r.options.CacheBytes, &r.evictions)})
}

// Statement is a client's text as it is to be run. It is shared and must not be
// changed.
type Statement struct {
	// SQL is the text to send; it may hold several statements or none.
	SQL string
	// Reads are the protected and readable tables that the text reads, each once, in
	// the clients' names with their schemas.
	Reads []catalog.Name
	// ReadNames are Reads as text, as Name.String writes them.
	ReadNames []string
	// Calls are the functions that it may call of those that the operator lists, each once,
	// as Name.String writes them.
	Calls []string
	// Effects are what the text's statements do to the session once they have run, one
	// for each statement; nil where none does anything to it.
	Effects []Effect
	// Plans says that rows of its results are plans, which are to be shown through
	// ScrubPlan.
	Plans bool
	// Uses are the names of the prepared statements and cursors that EXECUTE, FETCH and
	// MOVE in the text reach, as the server reads them.
	Uses []string
	// Makes are the names that PREPARE and DECLARE in the text give, one for each of these
	// statements, as the server reads them.
	Makes []string
	// Look is a query that shows whether an answer to the text is still valid; "" if no answer is
	// kept. See look in keep.go.
	Look string
	// FromClasses says that something in it is asked of the summary of classes; see classes.go.
	FromClasses bool
	// Shape is the text without anything in it that is the client's own: no constants,
	// comments, aliases; see shape.go.
	Shape string
	// Traceless says that nothing of it can stay in the session that DISCARD ALL might
	// miss: it changes no setting, makes no temporary object, and calls no function that is
	// not PostgreSQL's own, nor one with a memory.
	Traceless bool
}

// Rewrite returns what to run in place of a text that the client sends in a session.
// The error is a *Refusal.
func (r *Rewriter) Rewrite(sql string, s *Session) (*Statement, error) {
	v := r.current.Load()
	session := s.cacheKey(v.snapshot)
	f := forms.Get().(*form)
	defer f.release()
	o, t, literal := r.recall(v, session, sql, f)
	switch {
	case t != nil:
		statement := *t.statement
		statement.SQL = t.fill(sql, f.literals)
		return &statement, nil
	case o != nil:
		return o.result()
	}
	done, err := r.rewrite(sql, s, v.snapshot)
	now := result(sql, done, err)
	// The caller's string may share memory with a network buffer.
	v.cache.put(&entry{kind: wholeText, session: session, text: strings.Clone(sql), outcome: now})
	if literal && err == nil {
		r.learn(v, s, session, sql, f, done)
	}
	return now.result()
}

// maxRecallBytes is the length in bytes of the texts that Recall looks at: some 20
// microseconds of reading.
const maxRecallBytes = 8 << 10

// Recall is Rewrite for texts that need no parsing: those rewritten before, and those that differ
// from one of these only in constants. It reports whether this is one. The Statement is not a
// pointer, because it is a new one each time with a template's text.
func (r *Rewriter) Recall(sql string, s *Session) (statement Statement, known bool, err error) {
	if len(sql) > maxRecallBytes {
		return Statement{}, false, nil
	}
	v := r.current.Load()
	f := forms.Get().(*form)
	defer f.release()
	o, t, _ := r.recall(v, s.cacheKey(v.snapshot), sql, f)
	switch {
	case t != nil:
		statement = *t.statement
		statement.SQL = t.fill(sql, f.literals)
		return statement, true, nil
	case o == nil:
		return Statement{}, false, nil
	case o.refusal != nil:
		return Statement{}, true, o.refusal
	}
	return *o.statement, true, nil
}

// recall returns what is known of a text without parsing it: its outcome, its template,
// or neither, and then whether its form, which f is, can be learned.
func (r *Rewriter) recall(v *version, session, sql string, f *form) (o *outcome, t *template, literal bool) {
	if e := v.cache.get(wholeText, session, sql); e != nil {
		return &e.outcome, nil, false
	}
	if !f.read(sql) {
		return nil, nil, false
	}
	return nil, r.templated(v, session, sql, f), true
}

func (o outcome) result() (*Statement, error) {
	if o.refusal != nil {
		return nil, o.refusal
	}
	return o.statement, nil
}

func result(sql string, done *rewriting, err error) outcome {
	if err == nil {
		return outcome{statement: done.statement}
	}
	return outcome{refusal: refusalOf(err, sql)}
}

// rewriting is what came of a text, and the tree of it that was checked.
type rewriting struct {
	statement *Statement
	tree      *pg.ParseResult
}

func (r *Rewriter) rewrite(sql string, s *Session, snapshot *catalog.Snapshot) (*rewriting, error) {
	if err := limitText(sql, r.options); err != nil {
		return nil, err
	}
	r.parsers <- struct{}{}
	defer func() { <-r.parsers }()
	tree, err := guardedParse(sql, r.options)
	if err != nil {
		return nil, err
	}
	shape := shapeOf(sql, vocabulary(snapshot))
	c := newStatements(&resolver{
		snapshot: snapshot, session: s.orUntouched(), database: r.options.Database, temporaryTables: r.options.TemporaryTables,
	}, r.pinned)
	if err := c.text(sql, tree); err != nil {
		return nil, withShape(err, shape)
	}
	look := c.lookAt(tree)
	summed := !r.options.WithoutClasses && fromClasses(tree, snapshot)
	text, err := deparse(tree)
	if err != nil {
		return nil, withShape(err, shape)
	}
	statement := c.w.result
	statement.Look, statement.FromClasses = look, summed
	statement.SQL, statement.Shape = text, shape
	statement.Reads, statement.ReadNames = c.w.names.reads, catalog.Texts(c.w.names.reads)
	statement.Calls = c.w.names.calls
	return &rewriting{statement: statement, tree: tree}, nil
}

// guardedParse parses a text that limitText passed.
func guardedParse(sql string, o Options) (*pg.ParseResult, error) {
	if err := limitTokens(sql, o); err != nil {
		return nil, withShape(err, verbOf(err, sql))
	}
	return parse(sql)
}

// atStatement gives a refusal that knows no place the beginning of its statement; of SET
// and SHOW, as from PostgreSQL, nobody asks where.
func atStatement(err error, sql string, raw *pg.RawStmt) error {
	var refusal *Refusal
	start := int(raw.GetStmtLocation()) // of the blanks and comments before it
	setting := raw.GetStmt().GetVariableSetStmt() != nil || raw.GetStmt().GetVariableShowStmt() != nil
	if !errors.As(err, &refusal) || setting || start < 0 || start > len(sql) {
		return err
	}
	l := lexer{sql: sql[start:]}
	if l.next() == lexEnd || l.start < 0 {
		return err
	}
	return refusal.at(int32(start + l.start))
}
