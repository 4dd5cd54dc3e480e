package chaos

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server stands for PostgreSQL behind a proxy with a [JudgingGate]. It answers by a
// [Model], lets everybody in, and takes note of what a server behind kproxy must never
// see.
type Server struct {
	gate     JudgingGate
	listener net.Listener
	folder   string
	serving  sync.WaitGroup

	mu      sync.Mutex
	faults  []string
	hostile *Hostility
	open    map[net.Conn]bool
}

// Hostility is what a server sends in place of answers.
type Hostility struct {
	Bytes   []byte
	AtLogin bool // to the startup packet, else to the first message after the login
}

// Listen starts a server on a Unix socket.
func Listen(gate JudgingGate) (*Server, error) {
	folder, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	s := &Server{gate: gate, listener: ln, folder: folder, open: make(map[net.Conn]bool)}
	s.serving.Go(s.accept)
	return s, nil
}

// Upstream is how a proxy connects to the server.
func (s *Server) Upstream() (*pgconn.Config, error) {
	return pgconn.ParseConfig("host=" + s.folder + " port=5432 user=reader database=" + Database + " sslmode=disable")
}

// Close ends all connections.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return errors.Join(err, os.RemoveAll(s.folder))
}

// Connections is how many are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Turn makes the server hostile from the next connection on, or kind with nil.
func (s *Server) Turn(h *Hostility) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hostile = h
}

// Faults returns what the server has seen that must never reach it, and forgets it.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := s.faults
	s.faults = nil
	return faults
}

func (s *Server) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[conn] = true
		hostile := s.hostile
		s.mu.Unlock()
		s.serving.Go(func() {
			s.serve(conn, hostile)
			_ = conn.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, conn)
		})
	}
}

// serve serves one connection.
func (s *Server) serve(conn net.Conn, hostile *Hostility) {
	code, err := readPacket(conn)
	if err != nil || code != protocolVersion {
		return // a cancel request: this server's statements are all done at once
	}
	if hostile != nil && hostile.AtLogin {
		_, _ = conn.Write(hostile.Bytes)
		return
	}
	if _, err := conn.Write(welcome); err != nil {
		return
	}
	in := bufio.NewReaderSize(conn, 1024) // thousands of connections are idle
	model := &Model{Refuse: s.refuse}
	var out []byte
	for {
		kind, body, err := ReadMessage(in)
		if err != nil || kind == 'X' {
			return
		}
		if answer := model.pooled(kind, body); answer != nil {
			if _, err := conn.Write(answer); err != nil {
				return
			}
			continue
		}
		if hostile != nil {
			_, _ = conn.Write(hostile.Bytes)
			return
		}
		if !knownKinds[kind] {
			s.fault("a message of type %q reached the server", kind)
			return
		}
		out = append(out[:0], model.Step(kind, body)...)
		if len(out) == 0 {
			continue
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		if cap(out) > 1<<16 {
			out = nil
		}
	}
}

// pooled answers the statements by which the proxy's pool names, inspects and resets a
// connection; nil = it is none of them.
func (m *Model) pooled(kind byte, body []byte) []byte {
	if kind != 'Q' || len(body) == 0 {
		return nil
	}
	text := string(body[:len(body)-1])
	name, named := strings.CutPrefix(text, "SET application_name = '")
	switch {
	case named:
		return m.ready(appendTag(appendSetting(nil, "application_name", strings.TrimSuffix(name, "'")), "SET"))
	case text == "SHOW ALL":
		return m.ready(appendTag(appendValues(nil, "a setting", "its value", "what it is for"), "SHOW"))
	case strings.Contains(text, "pg_catalog.setseed("):
		// All there is to see is in the model, which DISCARD ALL makes new.
		row := appendValues(nil, "1", "", "", "reader", "reader", "none", "0", "0", "0", "0", "0", "")
		if strings.HasSuffix(text, "pg_show_all_settings()") {
			row = appendValues(nil, "x", "1", "", "", "reader", "reader", "none", "0", "0", "0", "0", "0", "")
		}
		return m.ready(appendTag(row, "SELECT 1"))
	case strings.HasPrefix(text, "SET transaction_"):
		return m.ready(appendTag(nil, "SET"))
	case text == "DISCARD ALL":
		*m = Model{Refuse: m.Refuse, reported: m.reported}
		return m.ready(appendTag(nil, text))
	case text == "-- ping": // pgconn's, before it hands a connection over
		return m.ready(AppendMessage(nil, 'I', nil))
	case text == "ROLLBACK":
		m.end(false)
		return m.ready(appendTag(nil, text))
	default:
		return nil
	}
}

// knownKinds are the messages that may reach the server.
var knownKinds = map[byte]bool{'Q': true, 'P': true, 'B': true, 'D': true, 'E': true, 'C': true, 'S': true, 'H': true}

// welcome ends the login.
var welcome = func() []byte {
	out := AppendMessage(nil, 'R', []byte{0, 0, 0, 0})
	for _, p := range [][2]string{
		{"server_version", "15.0"},
		{"client_encoding", "UTF8"},
		{"standard_conforming_strings", "on"},
		{"DateStyle", "ISO, MDY"},
		{"TimeZone", "UTC"},
		{"IntervalStyle", Styles[0]},
		{"integer_datetimes", "on"},
		{"is_superuser", "off"},
		{"session_authorization", "reader"},
		{"server_encoding", "UTF8"},
		{"application_name", ""},
	} {
		out = appendSetting(out, p[0], p[1])
	}
	out = AppendMessage(out, 'K', []byte{0, 0, 0, 1, 0, 0, 0, 2})
	return AppendMessage(out, 'Z', []byte{'I'})
}()

// readPacket reads a message without a type and returns its code.
func readPacket(r io.Reader) (code uint32, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	size := int64(binary.BigEndian.Uint32(head[:])) - 8
	if size < 0 || size > maxAnswerBytes {
		return 0, errors.New("the length of a packet")
	}
	_, err = io.CopyN(io.Discard, r, size)
	return binary.BigEndian.Uint32(head[4:]), err
}

// refusedToken is what is sent in place of what is refused.
var refusedToken = regexp.MustCompile(`^(SELECT )?kproxy_refused_[0-9a-f]{32}$`)

// refuse tells what PostgreSQL says of a text that has not passed the gate.
func (s *Server) refuse(text string) *Refusal {
	if _, passed := s.gate.Passed(text); passed || parseTexts(text) == nil {
		return nil
	}
	if found := refusedToken.FindStringSubmatch(text); found != nil {
		if found[1] == "" {
			return &Refusal{State: stateSyntaxError, Message: `syntax error at or near "` + text + `"`, Early: true}
		}
		return &Refusal{State: "42703", Message: `column "` + text + `" does not exist`}
	}
	s.fault("a text that has not passed the gate reached the server: %.200q", text)
	return &Refusal{State: stateSyntaxError, Message: "syntax error", Early: true}
}
