package chaos

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
)

// message is a message of a client.
type message struct {
	kind byte
	body []byte
}

// String is the type and, of texts, their statements.
func (m message) String() string {
	return string(m.kind) + " " + strings.ReplaceAll(string(m.body), "\x00", "|")
}

// generator draws messages that make sense to the session that a model follows. The model
// must have been told what is sent.
type generator struct {
	rng     *rand.Rand
	model   *Model
	id      *int // of the statement before
	refuses bool // a Gate refuses what is Refused
	quick   bool // no transactions, and nothing that takes back: see race
	still   bool // the style stays
	pure    bool // no simple query comes before the Sync of a segment
}

// suit keeps the generator, and tells the model, to what both know of a server with these
// parameters. It returns what is left out, for the log.
func (g *generator) suit(parameters map[string]string) (leftOut string) {
	g.model.ReportsPath = parameters["search_path"] != "" // a PassingGate knows of none
	major, _, _ := strings.Cut(parameters["server_version"], ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil:
	case n < 14:
		g.still = true
		return "no setting is changed that the server reports: before PostgreSQL 14 it does so at once, the model before ReadyForQuery"
	case n >= 18:
		g.still, g.pure = true, true
		return "no simple query comes before the Sync of a segment, behind which PostgreSQL commits otherwise from 18 on, and only the path is changed of what it reports"
	}
	return ""
}

var (
	statementNames = []string{"", "", "a", "b", "c", strings.Repeat("long", 20)}
	portalNames    = []string{"", "", "p", "q", strings.Repeat("wide", 20)}
)

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

// weights are how often a statement is drawn.
var weights = []struct {
	verb Verb
	n    int
}{
	{Rows, 12},
	{Fails, 2},
	{Where, 8},
	{Copy, 3},
	{CopyFails, 1},
	{Notice, 2},
	{Explain, 2},
	{Parameter, 4},
	{Begin, 5},
	{Commit, 3},
	{Rollback, 3},
	{Savepoint, 3},
	{Release, 1},
	{Back, 3},
	{Style, 3},
	{Path, 4},
	{Forget, 1},
	{Missing, 1},
	{Syntax, 1},
	{Refused, 3},
}

var totalWeight = func() (n int) {
	for _, w := range weights {
		n += w.n
	}
	return n
}()

func (g *generator) verb() Verb {
	at := g.rng.IntN(totalWeight)
	for _, w := range weights {
		if at -= w.n; at < 0 {
			return w.verb
		}
	}
	return Rows
}

// statement draws a statement for a session in a failed transaction, or not.
func (g *generator) statement() Statement {
	*g.id++
	s := Statement{Verb: g.verb(), ID: *g.id}
	switch {
	case g.model.failed && g.rng.IntN(2) == 0:
		s.Verb = pick(g.rng, []Verb{Rollback, Commit, Back, Back})
	case s.Verb == Refused && !g.refuses, s.Verb == Style && g.still, g.quick && (s.moves() || s.Verb == Style || s.Verb == Path || s.Verb == Forget):
		s.Verb = Rows
	}
	switch s.Verb {
	case Rows, Copy:
		s.A, s.B = g.rng.IntN(8), g.rng.IntN(10)
		if g.rng.IntN(60) == 0 {
			s.A, s.B = g.rng.IntN(2000), g.rng.IntN(200)
		}
	case Fails, CopyFails:
		s.A = 1 + g.rng.IntN(8)
		s.B = 1 + g.rng.IntN(s.A)
	case Savepoint, Release, Back:
		s.A = g.rng.IntN(3)
	case Style:
		s.A = g.rng.IntN(len(Styles))
	case Path:
		s.A = 1 + g.rng.IntN(Schemas)
	case Refused:
		s.A = g.rng.IntN(2)
	}
	return s
}

// query draws a simple query.
func (g *generator) query() message {
	if g.rng.IntN(30) == 0 {
		return message{'Q', []byte(pick(g.rng, []string{"", " ", ";;"}) + "\x00")}
	}
	n := 1
	if g.rng.IntN(4) == 0 {
		n += g.rng.IntN(4)
	}
	var all []Statement
	for range n {
		all = append(all, g.statement())
	}
	return message{'Q', []byte(Texts(all...) + "\x00")}
}

func (g *generator) parse(name string, s Statement) message {
	types := []byte{0, 0}
	if s.Verb == Parameter && g.rng.IntN(2) == 0 {
		types = []byte{0, 1, 0, 0, 0, typeInt4}
	}
	return message{'P', append([]byte(name+"\x00"+s.Text()+"\x00"), types...)}
}

// bind draws a Bind that fits a statement, most of the time.
func (g *generator) bind(portal, name string) message {
	body := []byte(portal + "\x00" + name + "\x00")
	arguments := len(g.model.statements[name[:min(len(name), maxName)]].types) / 4
	if g.rng.IntN(40) == 0 {
		arguments++
	}
	format := byte(g.rng.IntN(2))
	body = append(body, 0, 1, 0, format, 0, byte(arguments))
	for range arguments {
		if format == 1 {
			body = append(body, 0, 0, 0, 4, 0, 0, 1, 2)
		} else {
			body = append(body, 0, 0, 0, 3, '1', '2', '3')
		}
	}
	switch g.rng.IntN(3) {
	case 0:
		body = append(body, 0, 0)
	case 1:
		body = append(body, 0, 1, 0, 0)
	default:
		body = append(body, 0, 1, 0, 1)
	}
	return message{'B', body}
}

func describing(kind, target byte, name string) message {
	return message{kind, append([]byte{target}, name+"\x00"...)}
}

func executing(portal string, most int) message {
	return message{'E', binary.BigEndian.AppendUint32([]byte(portal+"\x00"), uint32(most))}
}

// sure tells whether the model knows what Execute of a portal does. PostgreSQL ends
// portals of other levels of savepoints in ways of its own, and a server dies of the
// portal of a simple query that has failed.
func (g *generator) sure(portal string) bool {
	p := g.model.portals[portal[:min(len(portal), maxName)]]
	switch {
	case portal == "" && g.model.unbound:
		return false
	case p != nil && (p.left || g.model.failed && p.exits() && (p.aborted || p.ended)):
		return false
	case p == nil, g.model.failed:
		return true
	case p.moves() && p.ended:
		return false
	case p.Verb == Begin && !p.empty:
		return g.model.block || !g.model.busy
	default:
		return p.level == len(g.model.points)
	}
}

// unit draws one message of the extended protocol, or what is usually sent together.
func (g *generator) unit(send func(message)) {
	name, portal := pick(g.rng, statementNames), pick(g.rng, portalNames)
	execute := func() {
		if g.sure(portal) {
			send(executing(portal, pick(g.rng, []int{0, 0, 0, 1, 2, 5, 1 << 31})))
		}
	}
	switch g.rng.IntN(12) {
	case 0, 1, 2, 3, 4:
		send(g.parse(name, g.statement()))
		send(g.bind(portal, name))
		if g.rng.IntN(2) == 0 && (portal != "" || !g.model.unbound) {
			send(describing('D', 'P', portal))
		}
		execute()
	case 5:
		send(g.parse(name, g.statement()))
	case 6, 7:
		send(g.bind(portal, name))
		execute()
	case 8:
		execute()
	case 9:
		send(describing('D', 'S', name))
	case 10:
		if portal != "" || !g.model.unbound {
			send(describing('D', 'P', portal))
		}
	default:
		if g.rng.IntN(2) == 0 {
			send(describing('C', 'S', name))
		} else {
			send(describing('C', 'P', portal))
		}
	}
}

// segment draws messages up to a ReadyForQuery, or a Flush.
func (g *generator) segment(send func(message)) {
	if g.rng.IntN(3) == 0 {
		send(g.query())
		return
	}
	for range 1 + g.rng.IntN(4) {
		g.unit(send)
		if g.rng.IntN(20) == 0 {
			send(message{kind: 'H'})
		}
		if g.rng.IntN(40) == 0 {
			send(message{kind: pick(g.rng, []byte("dc"))})
		}
		if g.rng.IntN(60) == 0 && !g.pure {
			send(g.query())
		}
	}
	if !g.quick && g.rng.IntN(8) == 0 && !g.pure {
		send(message{kind: 'H'})
		return
	}
	send(message{kind: 'S'})
}

// unmarked is a body without the mark of Where.
func unmarked(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(pathMark), nil)
}
