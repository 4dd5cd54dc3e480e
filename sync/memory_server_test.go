package sync

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// memoryServer speaks the protocol of a server, without one: it answers each statement with
// what a test has for it, notes all of them with their arguments, and refuses one of them.
type memoryServer struct {
	t       *testing.T
	owner   *pgx.ConnConfig
	turn    gosync.Mutex // of answers, which a test may change
	answers []answer
	whole   bool // statements are noted to their ends, but for those that stand in files

	mu      gosync.Mutex
	said    [][]string // of each connection, in the order in which they were opened
	number  int        // of the next statement, of all connections
	refuses int        // the number of the one that is refused; -1 for none
	refused string     // which that was
	points  []string   // that sessions have passed

	streaming <-chan pgproto3.BackendMessage // what is said in a stream
	hear      func(data []byte)              // what is answered there
}

// answer is for statements that have the words: rows, as many as it changes, the SQLSTATE of a
// refusal, or none at all. The first answer counts; without one there are no rows, and one is changed.
type answer struct {
	words   string
	rows    [][]any
	changes int
	state   string
	silent  bool // it is never answered
}

// refusedState is the SQLSTATE of what the server refuses out of turn: no other attempt mends that.
const refusedState = "XX001"

func newMemoryServer(t *testing.T, answers ...answer) *memoryServer {
	t.Helper()
	var listening net.ListenConfig
	listener, err := listening.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	m := &memoryServer{t: t, answers: answers, refuses: -1}
	if m.owner, err = pgx.ParseConfig("postgres://owner@" + listener.Addr().String() + "/hospital?sslmode=disable"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go m.serve(conn)
		}
	}()
	return m
}

// begin forgets what was said; refuses is the number of the statement to be refused.
func (m *memoryServer) begin(refuses int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.said {
		m.said[i] = nil
	}
	m.number, m.refuses, m.refused = 0, refuses, ""
}

// log are the statements that the server was sent, those of one connection after the other.
func (m *memoryServer) log() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for i, said := range m.said {
		for _, one := range said {
			if len(m.said) > 1 {
				one = fmt.Sprintf("%d: %s", i, one)
			}
			all = append(all, one)
		}
	}
	return strings.Join(all, "\n")
}

// memorySession is one session of the server.
type memorySession struct {
	*memoryServer
	*pgproto3.Backend
	number     int
	statements map[string]string // the prepared ones, by name
	sql        string            // of the portal
	formats    []int16           // of its results
	status     byte
	streams    bool
	conn       net.Conn
}

func (m *memoryServer) serve(conn net.Conn) {
	defer conn.Close()
	s := &memorySession{memoryServer: m, Backend: pgproto3.NewBackend(conn, conn), conn: conn, statements: map[string]string{}, status: 'I'}
	if _, err := s.ReceiveStartupMessage(); err != nil {
		return
	}
	m.mu.Lock()
	s.number = len(m.said)
	m.said = append(m.said, nil)
	m.mu.Unlock()
	s.Send(&pgproto3.AuthenticationOk{})
	s.Send(&pgproto3.BackendKeyData{ProcessID: uint32(s.number + 1), SecretKey: []byte{0, 0, 0, 1}})
	s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for s.Flush() == nil {
		message, err := s.Receive()
		if err != nil || !s.take(message) {
			return
		}
	}
}

// take answers a message; false ends the session.
func (s *memorySession) take(message pgproto3.FrontendMessage) bool {
	switch m := message.(type) {
	case *pgproto3.Parse:
		s.statements[m.Name] = m.Query
		s.Send(&pgproto3.ParseComplete{})
	case *pgproto3.Describe:
		sql := s.sql
		if m.ObjectType == 'S' {
			sql = s.statements[m.Name]
			s.Send(&pgproto3.ParameterDescription{ParameterOIDs: parametersOf(sql)})
		}
		s.describe(sql, m.ObjectType == 'P')
	case *pgproto3.Bind:
		s.sql, s.formats = s.statements[m.PreparedStatement], slices.Clone(m.ResultFormatCodes)
		arguments, oids := make([]string, len(m.Parameters)), parametersOf(s.sql)
		for i, p := range m.Parameters {
			arguments[i] = "NULL"
			if p != nil {
				format := int16(0)
				if len(m.ParameterFormatCodes) > i {
					format = m.ParameterFormatCodes[i]
				}
				arguments[i] = textOf(oids[i], format, p)
			}
		}
		if !s.accepts(s.sql, arguments...) {
			return s.skip()
		}
		if s.answer(s.sql).silent {
			return s.wait()
		}
		s.Send(&pgproto3.BindComplete{})
	case *pgproto3.Execute:
		s.execute(s.sql)
	case *pgproto3.Sync:
		s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	case *pgproto3.Query:
		if s.accepts(m.String) {
			if s.answer(m.String).silent {
				return s.wait()
			}
			s.simple(m.String)
		}
		if !s.streams {
			s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
		}
	case *pgproto3.CopyDone: // the end of a stream
		s.streams = false
		s.Send(&pgproto3.CopyDone{})
		s.Send(&pgproto3.CommandComplete{CommandTag: []byte("COPY 0")})
		s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	case *pgproto3.Close:
		s.Send(&pgproto3.CloseComplete{})
	case *pgproto3.CopyData:
		if s.streams && s.hear != nil {
			s.hear(slices.Clone(m.Data))
		}
	case *pgproto3.CopyFail, *pgproto3.Flush:
	default:
		return false
	}
	return true
}

// wait takes what comes without an answer, until the session ends.
func (s *memorySession) wait() bool {
	for {
		if _, err := s.Receive(); err != nil {
			return false
		}
	}
}

// skip leaves out what comes until the next Sync, as after an error.
func (s *memorySession) skip() bool {
	for s.Flush() == nil {
		message, err := s.Receive()
		if err != nil {
			return false
		}
		if _, is := message.(*pgproto3.Sync); is {
			s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
			return true
		}
	}
	return false
}

// accepts notes a statement; false where it is refused.
func (s *memorySession) accepts(sql string, arguments ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(strings.Fields(sql), " ")
	if cut := 90; len(text) > cut && (!s.whole || strings.HasPrefix(text, "--")) {
		text = text[:cut] + "..."
	}
	if len(arguments) > 0 {
		text += " <- " + strings.Join(arguments, " | ")
	}
	s.said[s.number] = append(s.said[s.number], text)
	number, state := s.memoryServer.number, s.answer(sql).state
	s.memoryServer.number++
	if number == s.refuses {
		s.refused, state = strings.Join(strings.Fields(sql), " "), refusedState
	}
	if state == "" {
		return true
	}
	if s.status == 'T' {
		s.status = 'E'
	}
	s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: state, Message: "Key (name)=(Ann)"})
	return false
}

// answersNow are what counts before the answers that there are.
func (m *memoryServer) answersNow(first ...answer) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.answers = append(first, m.answers...)
}

// noMore takes the first answer away.
func (m *memoryServer) noMore() {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.answers = m.answers[1:]
}

func (m *memoryServer) answer(sql string) answer {
	m.turn.Lock()
	defer m.turn.Unlock()
	for _, a := range m.answers {
		if strings.Contains(sql, a.words) {
			return a
		}
	}
	return answer{changes: 1}
}

var (
	parameter = regexp.MustCompile(`\$(\d+)(?:::([a-z_]+(?:\[\])?))?`)
	castOIDs  = map[string]uint32{"bigint[]": pgtype.Int8ArrayOID, "text[]": pgtype.TextArrayOID, "oid[]": pgtype.OIDArrayOID, "boolean[]": pgtype.BoolArrayOID, "real[]": pgtype.Float4ArrayOID, "bytea[]": pgtype.ByteaArrayOID}
)

// describe tells of which columns the rows of a statement are.
func (s *memorySession) describe(sql string, asked bool) {
	if !returnsRows.MatchString(strings.TrimSpace(sql)) {
		s.Send(&pgproto3.NoData{})
		return
	}
	description := &pgproto3.RowDescription{}
	if rows := s.answer(sql).rows; len(rows) > 0 {
		for i, v := range rows[0] {
			field := pgproto3.FieldDescription{Name: fmt.Append(nil, "c", i), DataTypeOID: typeOf(v), DataTypeSize: -1, TypeModifier: -1}
			if asked {
				field.Format = s.format(i)
			}
			description.Fields = append(description.Fields, field)
		}
	}
	s.Send(description)
}

func (s *memorySession) format(column int) int16 {
	switch len(s.formats) {
	case 0:
		return pgtype.TextFormatCode
	case 1:
		return s.formats[0]
	}
	return s.formats[column]
}

// execute sends the rows of a statement, and what became of it.
func (s *memorySession) execute(sql string) {
	a := s.answer(sql)
	for _, row := range a.rows {
		data := &pgproto3.DataRow{}
		for i, v := range row {
			var text []byte
			if v != nil {
				var err error
				if text, err = encoded(v, s.format(i)); err != nil {
					s.t.Errorf("%s: %v", sql, err)
				}
			}
			data.Values = append(data.Values, text)
		}
		s.Send(data)
	}
	verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(sql)), " ")
	verb = strings.TrimSuffix(verb, ";")
	switch {
	case verb == "BEGIN":
		s.status = 'T'
	case verb == "COMMIT" && s.status == 'E':
		verb, s.status = "ROLLBACK", 'I'
	case verb == "COMMIT", verb == "ROLLBACK" && !strings.Contains(strings.ToUpper(sql), " TO "):
		s.status = 'I'
	case verb == "ROLLBACK":
		s.status = 'T'
	case verb == "INSERT":
		verb = fmt.Sprint("INSERT 0 ", a.changes)
	default:
		verb = fmt.Sprint(verb, " ", max(a.changes, len(a.rows)))
	}
	s.Send(&pgproto3.CommandComplete{CommandTag: []byte(verb)})
}

// simple answers a statement without arguments, all of whose values are texts.
func (s *memorySession) simple(sql string) {
	s.formats = nil
	switch {
	case strings.HasPrefix(sql, "START_REPLICATION"):
		s.streams = true
		s.Send(&pgproto3.CopyBothResponse{})
		if s.streaming != nil {
			_ = s.Flush()
			go s.say()
		}
	case strings.HasPrefix(sql, "COPY") && strings.HasSuffix(sql, "TO STDOUT"):
		s.Send(&pgproto3.CopyOutResponse{})
		for _, row := range s.answer(sql).rows {
			s.Send(&pgproto3.CopyData{Data: []byte(row[0].(string))})
		}
		s.Send(&pgproto3.CopyDone{})
		s.Send(&pgproto3.CommandComplete{CommandTag: []byte("COPY 0")})
	case strings.HasPrefix(sql, "COPY"):
		s.Send(&pgproto3.CopyInResponse{})
		_ = s.Flush()
		s.copied()
	case returnsRows.MatchString(sql):
		s.describe(sql, false)
		s.execute(sql)
	default:
		s.execute(sql)
	}
}

// copied takes what is copied into a table, and notes its rows.
func (s *memorySession) copied() {
	var rows bytes.Buffer
	for {
		message, err := s.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.CopyData:
			rows.Write(m.Data)
		case *pgproto3.CopyDone:
			s.mu.Lock()
			for row := range strings.Lines(rows.String()) {
				s.said[s.number] = append(s.said[s.number], "    "+strings.TrimSuffix(row, "\n"))
			}
			s.mu.Unlock()
			s.Send(&pgproto3.CommandComplete{CommandTag: []byte("COPY 1")})
			return
		case *pgproto3.CopyFail:
			s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "57014", Message: m.Message})
			return
		}
	}
}

// session is one of a process that may apply, with the connections that it has then.
func (m *memoryServer) session(tables ...*table) *session {
	m.t.Helper()
	s := memoryApplier().session
	s.syncer.config.Owner, s.syncer.owner, s.store.reader, s.store.publication = m.owner, m.owner, "reader", "kproxy"
	s.syncer.config.Publication = s.store.publication
	s.store.system, s.store.timeline, s.policy = "this", 2, tables
	s.syncer.config.ranges, s.syncer.config.Progress = readingPlan{blocks: 1 << 20, connections: 1}, func(Progress) {}
	s.syncer.config.Failpoint = func(name string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.points = append(m.points, name)
	}
	var err error
	if s.store.conn, s.store.source, err = s.syncer.openBoth(m.t.Context(), followerName); err == nil {
		s.replication, err = s.syncer.openReplication(m.t.Context(), followerName)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(s.close)
	return s
}
