package proxy

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// relayServer takes messages from the server to the client until one of them is
// gone, or the server sends what it never should.
func (s *session) relayServer() error {
	for {
		f, err := readFrame(s.up.r)
		if err == nil {
			err = s.deliver(f)
		}
		if errors.Is(err, errFrameLength) || errors.Is(err, errOutOfStep) {
			return newFatal(stateProtocolViolation, errOutOfStep.Error())
		}
		if err != nil {
			return err
		}
	}
}

// deliver handles one message whose header has been read.
func (s *session) deliver(f frame) error {
	switch f.kind {
	case 'E', 'N':
		return s.deliverReport(f)
	case 'S':
		return s.deliverParameter(f)
	case 'A':
		return skipBody(s.up.r, f.size)
	case 'D':
		if s.rows.arePlans(s.pipeline) {
			return s.deliverPlan(f)
		}
	case 'Z':
		if err := s.ready(f); err != nil {
			return err
		}
	case '1', '2', '3', 'C', 'I', 'T', 'n', 's':
		// Each completes one extended-query message: a statement's Describe is
		// complete with the T or n after its t.
		hidden, err := s.complete(f)
		if err != nil {
			return err
		}
		if hidden {
			return skipBody(s.up.r, f.size)
		}
	case 't', 'H', 'd', 'c':
	case 'G', 'W':
		// The server waits for data that must never come.
		return newFatal(stateFeatureNotSupported, "COPY from the client is not supported")
	default:
		return errOutOfStep
	}
	s.torn = true
	err := relay(s.clientOut, s.up.r, f)
	s.torn = err != nil
	return err
}

// complete takes note of a message that completes another, and tells whether the client
// is not to see it.
func (s *session) complete(f frame) (hidden bool, err error) {
	begin, err := s.up.r.Peek(min(f.size, planDescriptionBytes))
	if err != nil {
		return false, unexpected(err)
	}
	s.rows = rows{described: f.kind == 'T' && describesPlan(f.size, begin)}
	hidden = s.pipeline.answered(f.kind)
	switch {
	case f.kind != 'C':
	case deallocates(begin):
		s.pipeline.deallocate()
	case namesStatements(begin):
		s.pipeline.forgetNames()
	}
	return hidden, nil
}

// deallocates tells whether a command tag is that of a statement that has dropped all
// prepared statements.
func deallocates(tag []byte) bool {
	return string(tag) == "DEALLOCATE ALL\x00" || string(tag) == "DISCARD ALL\x00"
}

// ready takes note of ReadyForQuery. Before it, as in PostgreSQL, the client is told
// of a search path that has changed.
func (s *session) ready(f frame) error {
	status, err := s.up.r.Peek(1)
	if err != nil {
		return unexpected(err)
	}
	if f.size != 1 {
		return errOutOfStep
	}
	state, err := s.pipeline.ready(status[0])
	if err != nil {
		return err
	}
	s.rows = rows{}
	if path := state.SearchPath(); s.reportsPath && path != s.path {
		s.path = path
		return s.sendParameter(pathParameter, path)
	}
	return nil
}

// deliverReport passes on what a client may know of an error or a notice.
func (s *session) deliverReport(f frame) error {
	body, err := readBody(s.up.r, f.size, maxReportBytes)
	if err != nil {
		return err
	}
	r := parseReport(body)
	if f.kind == 'N' {
		if r.isLog() {
			return nil
		}
		r.position, r.detail = 0, ""
		return send(s.clientOut, r.scrubbed(s.config.Gate).append(nil, 'N'))
	}
	if r.severity != "ERROR" {
		s.farewell = true
	}
	refused, about := s.pipeline.fail(r.message)
	s.rows = rows{}
	if refused != nil {
		return send(s.clientOut, refused.append(nil, 'E'))
	}
	r.position = about.locate(s.config.Gate, r.position)
	return send(s.clientOut, r.scrubbed(s.config.Gate).append(nil, 'E'))
}

// deliverParameter passes a ParameterStatus on as the client is to see it.
func (s *session) deliverParameter(f frame) error {
	if f.size > maxReportBytes {
		return errOutOfStep
	}
	body, err := readBody(s.up.r, f.size, f.size)
	if err != nil {
		return err
	}
	var status pgproto3.ParameterStatus
	if err := status.Decode(body); err != nil {
		return errOutOfStep
	}
	if err := checkPinned(status.Name, status.Value); err != nil {
		return err
	}
	if status.Name == pathParameter {
		return nil // that is the reader's, which the proxy has fixed
	}
	return s.sendParameter(status.Name, status.Value)
}

func (s *session) sendParameter(name, value string) error {
	message, err := s.visible(name, value).Encode(nil)
	if err != nil {
		return errOutOfStep
	}
	return send(s.clientOut, message)
}

// visible returns a parameter as the client is to see it: it talks to the
// proxy's user and schemas, not to the reader's.
func (s *session) visible(name, value string) *pgproto3.ParameterStatus {
	switch name {
	case "session_authorization":
		value = s.user
	case "is_superuser":
		value = "off"
	case pathParameter: // reported since PostgreSQL 18
		value = s.path
	}
	return &pgproto3.ParameterStatus{Name: name, Value: value}
}
