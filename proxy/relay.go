package proxy

import (
	"slices"
	"sync"
	"time"
)

// relay is what is said in a session, apart from the connections: bytes of one peer go
// in, those for the other come out. It waits for nothing. A message of the client that
// has to wait for answers of the server is left where it is, see until. But for hasRead,
// it is for one goroutine at a time.
type relay struct {
	config   *Config
	user     string
	pipeline *pipeline

	// think has the Gate rule on a text elsewhere, after which ruled is called; nil =
	// here and now.
	think func(sql string, in State, early bool)

	// later does some work elsewhere, and something with it when the relay is free; nil =
	// here and now. The server's messages wait meanwhile.
	later   func(work func(), then func() error)
	working bool
	found   *int    // the position that was looked for
	plan    *[]byte // the row of a plan that was scrubbed

	// fresh tells whether what the server has may be shown; nil = it always may.
	fresh func() bool

	// good tells whether the server is one that readers may be on; nil = it always is.
	good func() bool

	up, down course

	diary *diary // for the Observer; nil = there is none

	// until tells whether the client's next message need not wait any more; nil = it
	// does not wait.
	until   func() bool
	flushed bool    // Flush was sent for the message that waits
	ruling  *ruling // on a text of the message that waits

	terminated bool // the client has sent Terminate
	traces     bool // something was sent that may leave something in the session

	doomed   bool   // a refusal was sent and no Sync since
	holding  bool   // statements with effects, plans or uses were prepared
	reaching bool   // statements with uses were prepared
	naming   bool   // statements were prepared under names
	moved    bool   // search_path may have changed
	bound    bool   // the open segment binds the unnamed portal
	left     bool   // the unnamed portal is that of a simple query that has failed
	rebound  uint64 // the number of the last Bind of the unnamed portal since

	timed bool // there are bounds of time, which clock measures
	clock clock

	types map[uint32]struct{} // of the database, that the server has told are a parameter's

	begunPath string // the search_path at first

	farewell bool   // the server has sent FATAL
	status   byte   // the transaction's, as it is with the server
	rows     rows   // what the rows are that the server sends now
	path     string // the search_path that the client was told last

	reportsPath bool // the server reports search_path

	// The application_name that the client has asked for, and that the server was given.
	application, named string

	reading sync.Mutex // held while the Gate rules
	reads   []string   // under reading: relations that its statements have read
}

// newRelay begins in a state, with the parameters that the server has reported.
func newRelay(config *Config, user string, state State, reported map[string]string) *relay {
	r := &relay{config: config, user: user, pipeline: newPipeline(state), diary: newDiary(config.Observer), status: 'I'}
	r.begunPath = state.SearchPath()
	r.path = r.begunPath
	_, r.reportsPath = reported[pathParameter]
	r.named = reported["application_name"]
	r.clock.limits = config.Timeouts
	r.timed = config.Timeouts != Timeouts{}
	r.clock.ready(time.Now(), 'I', false)
	return r
}

// fromClient takes what the client has sent, and gathers what the server is to get. It
// returns how much of in it has taken, and how much there must be of what is left for
// anything to happen; 0 if a message waits.
func (r *relay) fromClient(in []byte, out *outlet) (taken, need int, err error) {
	r.diary.turn()
	return r.up.run(in, out, handler{look: r.lookClient, decide: r.forward})
}

// fromServer takes what the server has sent, and gathers what the client is to get.
func (r *relay) fromServer(in []byte, out *outlet) (taken, need int, err error) {
	r.diary.turn()
	return r.down.run(in, out, handler{look: r.lookServer, decide: r.deliver})
}

// waits tells whether the client's next message still has to wait.
func (r *relay) waits() bool {
	if r.until != nil && r.until() {
		r.until = nil
	}
	return r.until != nil
}

// push takes note of a message that the server will answer.
func (r *relay) push(kind stepKind, refused *refusal, n *note) {
	if r.timed {
		r.clock.sent(time.Now(), r.pipeline.running())
	}
	r.bound = r.bound && kind == stepExtended
	r.pipeline.push(kind, refused, n)
}

// available tells why nothing can be served now; nil = it can.
func (r *relay) available() error {
	if r.fresh != nil && !r.fresh() {
		return errStale
	}
	return r.config.Available()
}

// errStale refuses statements while the data of the session's server are too old.
var errStale error = stale{}

type stale struct{}

func (stale) Error() string { return "the data of this database server are too old at present" }

// Hint tells what to do instead.
func (stale) Hint() string { return "Connect again: another server may have newer ones." }

// ruling is what the Gate says of a text.
type ruling struct {
	sql       string
	statement Statement
	refused   *refusal
	early     bool // it was asked while earlier segments had not ended

	took     time.Duration // the Gate, where there is a diary
	recalled bool          // it need not think
}

// elsewhere does some work on a message of the server, which waits until it is done.
func (r *relay) elsewhere(work func(), then func()) fate {
	r.working = true
	r.later(work, func() error {
		r.working = false
		then()
		return nil
	})
	return wait
}

// rule asks the Gate about a text in a state. If it has to think, the message waits.
func (r *relay) rule(sql string, in State) (ruling, bool) {
	if thought := r.ruling; thought != nil {
		r.ruling = nil
		if thought.sql == sql {
			return *thought, true
		}
	}
	if err := r.available(); err != nil {
		return ruling{sql: sql, refused: newRefusal(err, stateCannotConnectNow)}, true
	}
	early := r.pipeline.behind()
	if r.think == nil {
		now := r.decideAndNote(sql, in)
		now.early = early
		return now, true
	}
	if quick, known := r.decideQuickly(sql, in); known {
		quick.early = early
		return quick, true
	}
	r.think(sql, in, early)
	r.until = func() bool { return r.ruling != nil }
	return ruling{}, false
}

// decideQuickly is decideAndNote for what the Gate need not think about.
func (r *relay) decideQuickly(sql string, in State) (ruling, bool) {
	r.reading.Lock()
	defer r.reading.Unlock()
	statement, refused, known := r.config.decideQuickly(sql, in)
	r.noteReads(statement)
	quick := ruling{sql: sql, statement: statement, refused: refused, recalled: true}
	r.diary.ruled(&quick)
	return quick, known
}

// decideAndNote asks the Gate and notes what the statement reads. Both happen under one
// lock, so that a relation that the Gate begins to refuse is either refused here or noted
// when EndReaders looks. Any goroutine may call it.
func (r *relay) decideAndNote(sql string, in State) ruling {
	r.reading.Lock()
	defer r.reading.Unlock()
	var began time.Time
	if r.diary != nil {
		began = time.Now()
	}
	statement, refused := r.config.decide(sql, in)
	r.noteReads(statement)
	thought := ruling{sql: sql, statement: statement, refused: refused}
	if r.diary != nil {
		thought.took = time.Since(began)
	}
	return thought
}

// noteReads takes note of what a statement reads; r.reading is held.
func (r *relay) noteReads(statement Statement) {
	for _, relation := range statement.Reads {
		if !slices.Contains(r.reads, relation) {
			r.reads = append(r.reads, relation)
		}
	}
}

func (r *relay) hasRead(relations []string) bool {
	r.reading.Lock()
	defer r.reading.Unlock()
	return slices.ContainsFunc(relations, func(relation string) bool { return slices.Contains(r.reads, relation) })
}
