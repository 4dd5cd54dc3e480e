package rewrite

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/kproxy/kproxy/catalog"
)

// The defaults of Options. The figures behind the last two are in DESIGN.md.
const (
	DefaultCacheBytes        = 16 << 20
	DefaultMaxStatementBytes = 1 << 20
	DefaultMaxTokens         = 50_000
	DefaultMaxDepth          = 200
)

// Options are the limits of a Rewriter; zero means the default.
type Options struct {
	// Database is the name that may stand before a schema (db.schema.table).
	// Empty refuses every such name.
	Database string
	// CacheBytes bounds the cache of rewritten texts and refusals (16 MiB).
	CacheBytes int
	// MaxStatementBytes bounds one query text (1 MiB).
	MaxStatementBytes int
	// MaxTokens bounds the tokens of one query text (50,000): an IN list of some
	// 25,000 constants.
	MaxTokens int
	// MaxDepth bounds nesting, in the unit of depth.go (200): operators in a row,
	// joins, set operations, parentheses. Above some 1,000 the parser, which is C,
	// may run out of an 8 MiB stack and end the process.
	MaxDepth int
	// Pinned are the names of settings that the operator has fixed, such as
	// statement_timeout: sessions cannot set them to another value.
	Pinned []string
}

func (o Options) withDefaults() Options {
	set := func(value *int, fallback int) {
		if *value <= 0 {
			*value = fallback
		}
	}
	set(&o.CacheBytes, DefaultCacheBytes)
	set(&o.MaxStatementBytes, DefaultMaxStatementBytes)
	set(&o.MaxTokens, DefaultMaxTokens)
	set(&o.MaxDepth, DefaultMaxDepth)
	return o
}

// Rewriter rewrites clients' statements. It is safe for concurrent use.
type Rewriter struct {
	options Options
	// operator are Options.Pinned.
	operator map[string]bool
	// parsers bounds the threads that are inside the C parser at once.
	parsers chan struct{}
	current atomic.Pointer[version]
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
	r := &Rewriter{options: o, operator: make(map[string]bool), parsers: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for _, name := range o.Pinned {
		r.operator[strings.ToLower(name)] = true
	}
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{}, nil, nil))
	return r
}

// SetSnapshot replaces what names resolve to and empties the cache.
func (r *Rewriter) SetSnapshot(s *catalog.Snapshot) {
	r.current.Store(&version{snapshot: s, cache: newCache(r.options.CacheBytes)})
}

// Statement is a client's text as it is to be run. It is shared and must not be
// changed.
type Statement struct {
	// SQL is the text to send; it may hold several statements or none.
	SQL string
	// Reads are the protected and readable tables that the text reads, each once, in
	// the clients' names with their schemas.
	Reads []catalog.Name
	// Effects are what the text's statements do to the session once they have run, one
	// for each statement; nil where none does anything to it.
	Effects []Effect
	// Plans says that rows of its results are plans, which are to be shown through
	// ScrubPlan.
	Plans bool
}

// Rewrite returns what to run in place of a text that the client sends in a session.
// The error is a *Refusal.
func (r *Rewriter) Rewrite(sql string, s *Session) (*Statement, error) {
	v := r.current.Load()
	session := s.cacheKey(v.snapshot)
	o, hit := v.cache.get(session, sql)
	if !hit {
		o = r.outcome(sql, s, v.snapshot)
		// The caller's string may share memory with a network buffer.
		v.cache.put(session, strings.Clone(sql), o)
	}
	if o.refusal != nil {
		return nil, o.refusal
	}
	return o.statement, nil
}

func (r *Rewriter) outcome(sql string, s *Session, snapshot *catalog.Snapshot) outcome {
	statement, err := r.rewrite(sql, s, snapshot)
	if err == nil {
		return outcome{statement: statement}
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		refusal = refuse(stateInternal, "", "the statement could not be analyzed")
	}
	return outcome{refusal: refusal.locate(sql)}
}

func (r *Rewriter) rewrite(sql string, s *Session, snapshot *catalog.Snapshot) (*Statement, error) {
	if err := guardText(sql, r.options); err != nil {
		return nil, err
	}
	r.parsers <- struct{}{}
	defer func() { <-r.parsers }()
	if err := guardTokens(sql, r.options); err != nil {
		return nil, err
	}
	tree, err := parse(sql)
	if err != nil {
		return nil, err
	}
	w := &walker{snapshot: snapshot, session: s.orUntouched(), database: r.options.Database, operator: r.operator}
	for i, raw := range tree.GetStmts() {
		if err := w.statement(raw.GetStmt()); err != nil {
			return nil, err
		}
		w.stepOn(i, len(tree.GetStmts()))
	}
	text, err := deparse(tree)
	if err != nil {
		return nil, err
	}
	return &Statement{SQL: text, Reads: w.reads, Effects: w.effects, Plans: w.plans}, nil
}
