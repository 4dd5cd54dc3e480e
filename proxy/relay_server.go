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
	case 'Z':
		if f.size != 1 {
			return errOutOfStep
		}
		if err := s.pipeline.ready(); err != nil {
			return err
		}
	case '1', '2', '3', 'C', 'I', 'T', 'n', 's':
		// Each completes one extended-query message: a statement's Describe is
		// complete with the T or n after its t.
		s.pipeline.answered()
	case 't', 'D', 'H', 'd', 'c':
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
		return send(s.clientOut, r.scrubbed(s.config.Gate).append(nil, 'N'))
	}
	if r.severity != "ERROR" {
		s.farewell = true
	}
	if refused := s.pipeline.failed(r.message); refused != nil {
		return send(s.clientOut, refused.append(nil, 'E'))
	}
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
	message, err := s.visible(status.Name, status.Value).Encode(nil)
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
	case "search_path": // reported since PostgreSQL 18
		value = `"$user", public`
	}
	return &pgproto3.ParameterStatus{Name: name, Value: value}
}
