package proxy

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/kproxy/kproxy/proxy/pool"
)

const (
	// shortSecretBytes is the length of the secret that all clients of protocol 3.0
	// can take, and of all secrets before 3.2.
	shortSecretBytes = 4
	// longSecretBytes is what clients of protocol 3.2 get, as PostgreSQL 18 gives them
	// (MAX_CANCEL_KEY_LENGTH).
	longSecretBytes = 32
	// maxSecretBytes is the longest secret of the protocol; PostgreSQL documentation,
	// "Message Formats", BackendKeyData.
	maxSecretBytes = 256
)

// cancelKey is the BackendKeyData of a session: the proxy's own, so that
// clients never hold a key that the database server would take.
type cancelKey struct {
	pid    uint32 // positive as an int32, as process ids are
	secret []byte // of a length that the protocol version allows
}

// cancelKeys finds the session that a cancel request means.
type cancelKeys struct {
	mu    sync.Mutex
	holds map[uint32]keyHolder
}

type keyHolder struct {
	secret []byte
	*session
}

// add draws a key for a session, with a secret of so many bytes.
func (k *cancelKeys) add(s *session, secretBytes int) cancelKey {
	random := make([]byte, 4+secretBytes)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil {
		k.holds = make(map[uint32]keyHolder)
	}
	for {
		rand.Read(random) // never fails: it returns or ends the process
		key := cancelKey{pid: binary.BigEndian.Uint32(random) &^ (1 << 31), secret: random[4:]}
		if _, taken := k.holds[key.pid]; taken || key.pid == 0 {
			continue
		}
		k.holds[key.pid] = keyHolder{secret: key.secret, session: s}
		return key
	}
}

// sessions are all that hold a key.
func (k *cancelKeys) sessions() []*session {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*session, 0, len(k.holds))
	for _, holder := range k.holds {
		all = append(all, holder.session)
	}
	return all
}

// remove forgets a key.
func (k *cancelKeys) remove(key cancelKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.holds, key.pid)
}

// find returns the session that has the key in the body of a CancelRequest, or
// nil. The secret is compared in constant time.
func (k *cancelKeys) find(body []byte) *session {
	if len(body) <= 4 || len(body) > 4+maxSecretBytes {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	holder, ok := k.holds[binary.BigEndian.Uint32(body)]
	if !ok || subtle.ConstantTimeCompare(holder.secret, body[4:]) != 1 {
		return nil
	}
	return holder.session
}

// cancelRunning asks the server to cancel what the session has running, and returns when the server
// has received the request. While the request is on its way the session sends nothing new, so that
// the cancel cannot hit a statement that the client sent after it. Any goroutine may call it.
func (s *session) cancelRunning(ctx context.Context) error {
	s.mu.Lock()
	begun := s.begun
	s.mu.Unlock()
	if !begun {
		return nil
	}
	running := make(chan bool, 1)
	posted := s.shard.loop.Post(func() {
		if !s.ended && s.relay.client.keeper.stop(errCanceled) {
			running <- false
			s.guarded(func() error { return nil }) // which goes on with the refusal
			return
		}
		does := !s.ended && s.relay.tracker.running()
		if does {
			s.canceling++
			s.canceled.Add(1)
		}
		running <- does
	})
	if !posted || !<-running {
		return nil
	}
	err := s.deliverCancel(ctx)
	s.canceled.Done()
	s.shard.loop.Post(func() {
		s.guarded(func() error {
			s.canceling--
			if errors.Is(err, pool.ErrCancelUncertain) {
				return errCancelUncertain
			}
			return nil
		})
	})
	return err
}

// errCancelUncertain ends a session whose server may cancel yet what is not meant.
var errCancelUncertain = newFatal(stateConnectionFailure, "the database server did not take a cancel request in time").withHint("Connect again.")

// deliverCancel asks the server to cancel what runs on the session's connection.
func (s *session) deliverCancel(ctx context.Context) error {
	if err := s.link.cancel(ctx); err != nil {
		return fmt.Errorf("the cancel request could not be delivered: %w", err)
	}
	return nil
}
