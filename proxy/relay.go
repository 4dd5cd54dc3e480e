package proxy

import (
	"time"

	"github.com/kproxy/kproxy/internal/charset"
)

// relay is the conversation of a session without the connections: bytes of one peer go in, those
// for the other come out. It never waits. A message of the client that must wait for answers of the
// server stays where it is; see clientSide.until. Only the session's event loop uses it, except for
// gate, whose comments say more.
type relay struct {
	tracker *tracker
	gate    gatekeeper
	client  clientSide
	server  serverSide
	clock   *clock // nil = there are no time limits
	unnamed unnamedPortal
	types   parameterTypes
}

// newRelay returns a relay that begins in a state, with the parameters that the server has
// reported.
func newRelay(config *Config, user string, state State, reported map[string]string) *relay {
	r := &relay{tracker: newTracker(state, config.Observer), gate: gatekeeper{config: config, escapes: state.Encoding() != charset.UTF8}}
	r.tracker.database, _ = charset.Find(reported[encodingOfDatabase])
	if config.Timeouts != (Timeouts{}) {
		r.clock = &clock{limits: config.Timeouts}
		r.clock.ready(time.Now(), 'I', false)
	}
	r.client = clientSide{
		config: config, tracker: r.tracker, gate: &r.gate, clock: r.clock, unnamed: &r.unnamed, types: &r.types,
		firstPath: state.SearchPath(),
	}
	r.server = serverSide{
		config: config, tracker: r.tracker, clock: r.clock, unnamed: &r.unnamed, types: &r.types,
		user: user, path: r.client.firstPath, named: reported["application_name"],
		encoding: reported[encodingParameter],
	}
	r.client.keeper.store = config.Answers
	r.server.keeper = &r.client.keeper
	_, r.server.reportsPath = reported[pathParameter]
	return r
}

// fromClient takes what the client has sent, and collects the bytes for the server. It returns how
// much of in it has taken, and how long the rest must be before anything can happen; 0 if a message
// waits.
func (r *relay) fromClient(in []byte, out *writeBuffer) (taken, need int, err error) {
	r.tracker.observation.turn()
	return r.client.frames.run(in, out, &r.client)
}

// fromServer takes what the server has sent, and gathers what the client is to get.
func (r *relay) fromServer(in []byte, out *writeBuffer) (taken, need int, err error) {
	r.tracker.observation.turn()
	return r.server.frames.run(in, out, &r.server)
}
