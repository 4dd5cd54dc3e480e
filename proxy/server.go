package proxy

import (
	"crypto/rand"
	"fmt"
	"sync/atomic"

	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/scram"
)

// Server accepts clients and relays them to PostgreSQL. It is made by [New] and
// safe for concurrent use.
type Server struct {
	current     atomic.Pointer[settings]
	keys        cancelKeys
	places      places
	connections atomic.Int64 // whatever their state
	toldCrowded atomic.Int64 // when the log was last told of too many, in Unix seconds
}

// settings are a configuration and what follows from it. A connection keeps those that
// it began under.
type settings struct {
	Config
	verifiers map[string]scram.Verifier
	binding   xscram.ChannelBinding

	mockSecret     []byte
	mockIterations int
}

// New returns a server for the configuration, or all its mistakes joined.
func New(c Config) (*Server, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("proxy: drawing a secret: %w", err)
	}
	first, err := c.settings(secret)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	s.current.Store(first)
	return s, nil
}

// settings checks a configuration. The secret is what salts for users who do not exist
// are made of.
func (c Config) settings(secret []byte) (*settings, error) {
	c = c.withDefaults()
	verifiers, err := c.verifiers()
	if err != nil {
		return nil, err
	}
	return &settings{
		Config:         c,
		verifiers:      verifiers,
		binding:        endpointBinding(c.TLS),
		mockSecret:     secret,
		mockIterations: commonIterations(verifiers),
	}, nil
}

// maxConnections leaves room, as PostgreSQL does, for cancel requests and for telling
// clients that there are too many of them.
func (s *settings) maxConnections() int64 { return 2*int64(s.MaxSessions) + 16 }

// commonIterations returns the iterations of all verifiers if they agree, else
// PostgreSQL's default: a user who does not exist should look like one who does.
func commonIterations(verifiers map[string]scram.Verifier) int {
	common := 0
	for _, v := range verifiers {
		if common != 0 && v.Iterations != common {
			return scram.MinIterations
		}
		common = v.Iterations
	}
	return common
}
