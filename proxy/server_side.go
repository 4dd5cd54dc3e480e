package proxy

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// serverSide decides on the messages of the server: what the client sees of them. It belongs
// to a relay.
type serverSide struct {
	config  *Config
	tracker *tracker
	clock   *clock // nil = there are no time limits
	unnamed *unnamedPortal
	types   *parameterTypes
	keeper  *keeper
	frames  frameReader

	// later does some work elsewhere, and something with it when the session is free; nil
	// = here and now. The server's messages wait meanwhile.
	later   func(work func(), then func() error)
	working bool
	found   *int    // the position that was looked for
	plan    *[]byte // the row of a plan that was scrubbed

	ended bool // the server has sent FATAL
	rows  rows // what the rows are that the server sends now

	user        string
	encoding    string // the client_encoding that the server has reported last
	path        string // the search_path that the client was told last
	reportsPath bool   // the server reports search_path

	// The application_name that the client has asked for, and that the server was given.
	application, named string
}

// check validates a header and returns how much of the body must be seen.
func (s *serverSide) check(f frame) (int, error) {
	switch f.kind {
	case 'D':
		if m := s.tracker.current(); m != nil && m.look != nil {
			if f.size > maxLookBytes {
				return 0, errOutOfStep
			}
			return f.size, nil
		}
		if !s.rows.arePlans(s.tracker) {
			return 0, nil
		}
		if f.size > maxPlanBytes {
			return 0, newFatal(stateProgramLimitExceeded, "the plan is too long")
		}
		return f.size, nil
	case 'E', 'N':
		return min(f.size, maxReportBytes), nil
	case 'S':
		if f.size > maxReportBytes {
			return 0, errOutOfStep
		}
		return f.size, nil
	case 'Z':
		if f.size != 1 {
			return 0, errOutOfStep
		}
		return 1, nil
	case '1', '2', '3', 'C', 'I', 'T', 'n', 's':
		return min(f.size, planDescriptionBytes), nil
	case 't':
		return min(f.size, maxTypesBytes), nil
	default:
		return 0, nil
	}
}

// decide decides on a message.
func (s *serverSide) decide(f frame, begin []byte, out *writeBuffer) (action, error) {
	o, bytes := s.tracker.observation, headerBytes+f.size
	o.receive(bytes)
	about := s.tracker.current()
	if about != nil && about.look != nil && f.kind != 'S' && f.kind != 'A' {
		o.receive(-bytes)
		return s.deliverLook(about, f, begin, out)
	}
	s.frames.copied = s.gather(about, f.kind, begin)
	does, err := s.deliver(f, begin, out)
	if does == wait {
		o.receive(-bytes)
	}
	return does, err
}

// gather takes note of a message of the server about one of the client's that may be kept, and
// returns where its bytes are to go; nil = nowhere.
func (s *serverSide) gather(about *message, kind byte, begin []byte) *capture {
	if about == nil || about.question == 0 {
		return nil
	}
	if kind == 'C' {
		s.keeper.store.Took(about.question, time.Since(about.questioned))
	}
	if to := about.capture; to != nil && to.message(kind, begin) {
		return to
	}
	return nil
}

// deliver is decide, except for what is counted.
func (s *serverSide) deliver(f frame, begin []byte, out *writeBuffer) (action, error) {
	switch f.kind {
	case 'D':
		if s.rows.plans {
			return s.deliverPlan(begin, out)
		}
		return pass, nil
	case 'E', 'N':
		return s.deliverReport(f, begin, out), nil
	case 'S':
		return drop, s.deliverParameter(begin, out)
	case 'A':
		return drop, nil
	case 'Z':
		return pass, s.ready(begin[0], out)
	case '1', '2', '3', 'C', 'I', 'T', 'n', 's':
		// Each completes one extended-query message: a statement's Describe is
		// complete with the T or n after its t.
		if s.complete(f, begin) {
			return drop, nil
		}
		return pass, nil
	case 't':
		s.types.learn(begin)
		return pass, nil
	case 'H', 'd', 'c':
		return pass, nil
	case 'G', 'W':
		// The server waits for data that must never come.
		return drop, newFatal(stateFeatureNotSupported, "COPY from the client is not supported")
	default:
		return drop, errOutOfStep
	}
}

// complete records a message that completes another, and reports whether the client is not
// to see it.
func (s *serverSide) complete(f frame, begin []byte) (hidden bool) {
	s.rows = rows{described: f.kind == 'T' && describesPlan(f.size, begin)}
	if f.kind == '2' {
		s.unnamed.replace(s.tracker)
	}
	hidden = s.tracker.answered(f.kind, begin)
	if s.clock != nil {
		s.clock.answered(time.Now(), f.kind == 'C' || f.kind == 'I' || f.kind == 's', s.tracker.running())
	}
	return hidden
}

// ready records ReadyForQuery. Before it, as in PostgreSQL, the client gets a changed search path.
func (s *serverSide) ready(status byte, out *writeBuffer) error {
	if err := s.tracker.ready(status); err != nil {
		return err
	}
	status = s.tracker.status // a transaction that is carried on has its locks, whatever the server says
	s.rows = rows{}
	s.unnamed.failed = s.unnamed.failed && status == 'E'
	if s.clock != nil {
		s.clock.ready(time.Now(), status, s.tracker.running())
	}
	if err := checkEncoding(s.encoding, s.tracker.done.state, s.tracker.database); err != nil {
		return err
	}
	if path := s.tracker.done.state.SearchPath(); s.reportsPath && path != s.path {
		s.path = path
		return s.sendParameter(pathParameter, path, out)
	}
	return nil
}

// deliverReport passes on what a client may know of an error or a notice.
func (s *serverSide) deliverReport(f frame, body []byte, out *writeBuffer) action {
	in := s.tracker.answers()
	told := parseReport(body, in)
	if f.kind == 'N' {
		if !told.isLog() {
			told.position, told.detail, told.routine = 0, "", ""
			out.set(told.scrubbed(s.config.Gate).append(out.buffer(), 'N', in))
		}
		return drop
	}
	position, known := s.locate(told.position)
	if !known {
		return wait
	}
	told.position = position
	if told.severity != "ERROR" {
		s.ended = true
	}
	late := s.clock != nil && s.clock.canceling() && told.state == stateQueryCanceled
	s.unnamed.fail(s.tracker)
	s.keeper.forget()
	if s.config.Withdrawn != nil {
		if refusal := s.config.Withdrawn(told.state, told.message); refusal != nil {
			told = newRefusal(refusal, told.state).report
		}
	}
	refused := s.tracker.fail(told.state, told.message)
	s.rows = rows{}
	if s.clock != nil {
		s.clock.failed(time.Now(), s.tracker.running())
	}
	if refused != nil {
		out.set(refused.append(out.buffer(), 'E', in))
		return drop
	}
	if late {
		told.message = limitStatement.report().message
	}
	out.set(told.scrubbed(s.config.Gate).append(out.buffer(), 'E', in))
	return drop
}

// elsewhere does some work on a message of the server, which waits until it is done.
func (s *serverSide) elsewhere(work func(), then func()) action {
	s.working = true
	s.later(work, func() error {
		s.working = false
		then()
		return nil
	})
	return wait
}

// locate maps a position in the text that the server is at to one in the client's own; 0 =
// unknown. To look for it takes as long as to rewrite the text: the server's message waits.
func (s *serverSide) locate(sent int) (position int, known bool) {
	if s.found != nil {
		position = *s.found
		s.found = nil
		return position, true
	}
	m := s.tracker.current()
	switch {
	case sent == 0 || m == nil || m.sql == "":
		return 0, true
	case s.later == nil:
		return m.locate(s.config.Gate, sent), true
	}
	about, found := *m, 0
	s.elsewhere(func() { found = about.locate(s.config.Gate, sent) }, func() { s.found = &found })
	return 0, false
}

// deliverParameter passes a ParameterStatus on as the client is to see it.
func (s *serverSide) deliverParameter(body []byte, out *writeBuffer) error {
	var status pgproto3.ParameterStatus
	if err := status.Decode(body); err != nil {
		return errOutOfStep
	}
	if err := checkPinned(status.Name, status.Value); err != nil {
		return err
	}
	switch status.Name {
	case encodingParameter:
		s.encoding = status.Value
	case pathParameter:
		return nil // that is the reader's, which the proxy has fixed
	}
	return s.sendParameter(status.Name, status.Value, out)
}

func (s *serverSide) sendParameter(name, value string, out *writeBuffer) error {
	message, err := s.visible(name, value).Encode(out.buffer())
	if err != nil {
		return errOutOfStep
	}
	out.set(message)
	return nil
}

// visible returns a parameter as the client is to see it: it talks to the
// proxy's user and schemas, not to the reader's.
func (s *serverSide) visible(name, value string) *pgproto3.ParameterStatus {
	switch name {
	case "session_authorization":
		value = s.tracker.answers().Encode(s.user)
	case "application_name":
		if value == s.named { // what the pool has made of it
			value = s.application
		}
	case "is_superuser":
		value = "off"
	case pathParameter: // reported since PostgreSQL 18
		value = s.tracker.answers().Encode(s.path)
	}
	return &pgproto3.ParameterStatus{Name: name, Value: value}
}
