package metamorphic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// session is a reader's connection, whose answers are kept as they are.
type session struct {
	conn net.Conn
	in   *bufio.Reader
}

// login connects and takes the connection over from the driver.
func login(ctx context.Context, url string) (*session, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = "metamorphic"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := conn.SyncConn(ctx); err != nil { // its background reader would take what comes next
		return nil, err
	}
	taken, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	return &session{conn: taken.Conn, in: bufio.NewReaderSize(taken.Conn, 1<<16)}, nil
}

func (s *session) send(messages ...pgproto3.FrontendMessage) error {
	var packet []byte
	for _, m := range messages {
		var err error
		if packet, err = m.Encode(packet); err != nil {
			return err
		}
	}
	_, err := s.conn.Write(packet)
	return err
}

// receive appends an answer up to ReadyForQuery. A COPY to the server is called off, after
// which the extended protocol needs another Sync: the first was a part of the COPY.
func (s *session) receive(to []byte, w way) ([]byte, error) {
	if err := s.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return to, err
	}
	for {
		var head [5]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return to, err
		}
		to = append(to, head[:]...)
		size := int(binary.BigEndian.Uint32(head[1:])) - 4
		from := len(to)
		to = append(to, make([]byte, size)...)
		if _, err := io.ReadFull(s.in, to[from:]); err != nil {
			return to, err
		}
		switch head[0] {
		case 'Z':
			return to, nil
		case 'G':
			reply := []pgproto3.FrontendMessage{&pgproto3.CopyFail{Message: "no"}}
			if w != simple {
				reply = append(reply, &pgproto3.Sync{})
			}
			if err := s.send(reply...); err != nil {
				return to, err
			}
		}
	}
}

// do does one thing and returns everything that was received for it.
func (s *session) do(o observable) (answer []byte, err error) {
	for _, text := range o.texts {
		if err := s.send(o.way.messages(text)...); err != nil {
			return answer, err
		}
		if answer, err = s.receive(answer, o.way); err != nil {
			return answer, err
		}
	}
	if o.leaves {
		for _, text := range []string{"ROLLBACK", "DISCARD ALL"} {
			if err := s.send(&pgproto3.Query{String: text}); err != nil {
				return answer, err
			}
			if _, err := s.receive(nil, simple); err != nil {
				return answer, err
			}
		}
	}
	return answer, nil
}

// window is how many requests are on their way at once.
const window = 64

// pipeline sends many things that leave nothing behind without waiting for their answers.
// It returns how many were answered.
func (s *session) pipeline(list []observable, see func(i int, answer []byte)) (done int, err error) {
	places := make(chan struct{}, window)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for _, o := range list {
			select {
			case places <- struct{}{}:
			case <-stop:
				return
			}
			if s.send(o.way.messages(o.texts[0])...) != nil {
				return // reading fails, too
			}
		}
	}()
	for i, o := range list {
		answer, err := s.receive(nil, o.way)
		see(i, answer)
		if err != nil {
			return i + 1, err
		}
		<-places
	}
	return len(list), nil
}

// ended is what stands for the rest of an answer where the connection is closed.
var ended = []byte("the connection is closed")

// ask does everything on the list, in its order, and shows each answer. Sessions that end
// are replaced.
func ask(ctx context.Context, url string, list []observable, see func(i int, answer []byte)) error {
	var s *session
	defer func() {
		if s != nil {
			_ = s.conn.Close()
		}
	}()
	for at := 0; at < len(list); {
		if list[at].way == startup {
			answer, err := logIn(ctx, url, list[at].texts)
			if err != nil {
				return err
			}
			see(at, answer)
			at++
			continue
		}
		if s == nil {
			var err error
			if s, err = login(ctx, url); err != nil {
				return fmt.Errorf("before %s: %w", list[at], err)
			}
		}
		together := at
		for together < len(list) && !list[together].leaves && list[together].way != startup {
			together++
		}
		var err error
		if together > at {
			var done int
			from := at
			done, err = s.pipeline(list[at:together], func(i int, answer []byte) {
				see(from+i, answer)
			})
			at += done
		} else {
			var answer []byte
			if answer, err = s.do(list[at]); err != nil {
				answer = append(answer, ended...)
			}
			see(at, answer)
			at++
		}
		if err != nil {
			_ = s.conn.Close()
			s = nil
		}
	}
	return nil
}

// messages takes an answer apart into its messages, and rows into their values.
func messages(answer []byte) []string {
	var list []string
	rest := split(answer, func(kind byte, whole []byte) { list = append(list, message(kind, whole[5:])) })
	if len(rest) > 0 {
		list = append(list, string(rest))
	}
	return list
}

// split goes through the messages of an answer, and returns what is none.
func split(answer []byte, see func(kind byte, whole []byte)) (rest []byte) {
	for len(answer) >= 5 && !bytes.Equal(answer, ended) {
		size := int(binary.BigEndian.Uint32(answer[1:])) + 1
		if size < 5 || size > len(answer) {
			break
		}
		see(answer[0], answer[:size])
		answer = answer[size:]
	}
	return answer
}

func message(kind byte, body []byte) string {
	var row pgproto3.DataRow
	if kind != 'D' || row.Decode(body) != nil {
		return fmt.Sprintf("%c %q", kind, body)
	}
	values := make([]string, len(row.Values))
	for i, v := range row.Values {
		if values[i] = strconv.Quote(string(v)); v == nil {
			values[i] = "null"
		}
	}
	return "D " + strings.Join(values, " ")
}
