package proxy

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// lookServer checks a header and tells what of the body must be seen.
func (r *relay) lookServer(f frame) (int, error) {
	switch f.kind {
	case 'D':
		if !r.rows.arePlans(r.pipeline) {
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

// deliver decides on a message of the server.
func (r *relay) deliver(f frame, begin []byte, out *outlet) (fate, error) {
	if r.diary == nil {
		return r.delivered(f, begin, out)
	}
	r.diary.received += int64(headerBytes + f.size)
	does, err := r.delivered(f, begin, out)
	if does == wait {
		r.diary.received -= int64(headerBytes + f.size)
	}
	return does, err
}

// delivered is deliver, but for what is counted.
func (r *relay) delivered(f frame, begin []byte, out *outlet) (fate, error) {
	switch f.kind {
	case 'D':
		if r.rows.plans {
			return r.deliverPlan(begin, out)
		}
		return pass, nil
	case 'E', 'N':
		return r.deliverReport(f, begin, out), nil
	case 'S':
		return drop, r.deliverParameter(begin, out)
	case 'A':
		return drop, nil
	case 'Z':
		return pass, r.ready(begin[0], out)
	case '1', '2', '3', 'C', 'I', 'T', 'n', 's':
		// Each completes one extended-query message: a statement's Describe is
		// complete with the T or n after its t.
		if hidden := r.complete(f, begin); hidden {
			return drop, nil
		}
		return pass, nil
	case 't':
		r.learnTypes(begin)
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

// complete takes note of a message that completes another, and tells whether the client
// is not to see it.
func (r *relay) complete(f frame, begin []byte) (hidden bool) {
	r.rows = rows{described: f.kind == 'T' && describesPlan(f.size, begin)}
	if f.kind == '2' {
		r.replace()
	}
	if r.diary != nil {
		r.diary.complete(r.pipeline, f.kind, begin)
	}
	hidden = r.pipeline.answered(f.kind)
	if r.timed {
		r.clock.answered(time.Now(), f.kind == 'C' || f.kind == 'I' || f.kind == 's', r.pipeline.running())
	}
	switch {
	case f.kind != 'C':
	case deallocates(begin):
		r.pipeline.deallocate()
		r.diary.deallocate()
	case namesStatements(begin):
		r.pipeline.forgetNames()
	}
	return hidden
}

// deallocates tells whether a command tag is that of a statement that has dropped all
// prepared statements.
func deallocates(tag []byte) bool {
	return string(tag) == "DEALLOCATE ALL\x00" || string(tag) == "DISCARD ALL\x00"
}

// ready takes note of ReadyForQuery. Before it, as in PostgreSQL, the client is told
// of a search path that has changed.
func (r *relay) ready(status byte, out *outlet) error {
	if r.diary != nil {
		r.diary.ready(r.pipeline, status)
	}
	state, err := r.pipeline.ready(status)
	if err != nil {
		return err
	}
	if r.pipeline.carried {
		status = 'T' // with its locks, whatever the server says
	}
	r.rows, r.status = rows{}, status
	r.left = r.left && status == 'E'
	if r.timed {
		r.clock.ready(time.Now(), status, r.pipeline.running())
	}
	if path := state.SearchPath(); r.reportsPath && path != r.path {
		r.path = path
		return r.sendParameter(pathParameter, path, out)
	}
	return nil
}

// deliverReport passes on what a client may know of an error or a notice.
func (r *relay) deliverReport(f frame, body []byte, out *outlet) fate {
	told := parseReport(body)
	if f.kind == 'N' {
		if !told.isLog() {
			told.position, told.detail = 0, ""
			out.set(told.scrubbed(r.config.Gate).append(out.buffer(), 'N'))
		}
		return drop
	}
	position, known := r.locate(told.position)
	if !known {
		return wait
	}
	told.position = position
	if told.severity != "ERROR" {
		r.farewell = true
	}
	late := r.clock.canceling() && told.state == stateQueryCanceled
	r.leave()
	if r.config.Withdrawn != nil {
		if refusal := r.config.Withdrawn(told.state, told.message); refusal != nil {
			told = newRefusal(refusal, told.state).report
		}
	}
	if r.diary != nil {
		r.diary.fail(r.pipeline, told.state, told.message)
	}
	refused := r.pipeline.fail(told.message)
	r.rows = rows{}
	if r.timed {
		r.clock.failed(time.Now(), r.pipeline.running())
	}
	if refused != nil {
		out.set(refused.append(out.buffer(), 'E'))
		return drop
	}
	if late {
		told.message = limitStatement.report().message
	}
	out.set(told.scrubbed(r.config.Gate).append(out.buffer(), 'E'))
	return drop
}

// locate maps a position in the text that the server is at to one in the client's own; 0 =
// unknown. To look for it takes as long as to rewrite the text: the server's message waits.
func (r *relay) locate(sent int) (position int, known bool) {
	if r.found != nil {
		position = *r.found
		r.found = nil
		return position, true
	}
	n := r.pipeline.failing()
	switch {
	case sent == 0 || n == nil || n.sql == "":
		return 0, true
	case r.later == nil:
		return n.locate(r.config.Gate, sent), true
	}
	about, found := *n, 0
	r.elsewhere(func() { found = about.locate(r.config.Gate, sent) }, func() { r.found = &found })
	return 0, false
}

// deliverParameter passes a ParameterStatus on as the client is to see it.
func (r *relay) deliverParameter(body []byte, out *outlet) error {
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
	return r.sendParameter(status.Name, status.Value, out)
}

func (r *relay) sendParameter(name, value string, out *outlet) error {
	message, err := r.visible(name, value).Encode(out.buffer())
	if err != nil {
		return errOutOfStep
	}
	out.set(message)
	return nil
}

// visible returns a parameter as the client is to see it: it talks to the
// proxy's user and schemas, not to the reader's.
func (r *relay) visible(name, value string) *pgproto3.ParameterStatus {
	switch name {
	case "session_authorization":
		value = r.user
	case "application_name":
		if value == r.named { // what the pool has made of it
			value = r.application
		}
	case "is_superuser":
		value = "off"
	case pathParameter: // reported since PostgreSQL 18
		value = r.path
	}
	return &pgproto3.ParameterStatus{Name: name, Value: value}
}
