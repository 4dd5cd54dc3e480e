package proxy

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
)

// chunked hands out a few bytes at a time.
type chunked struct {
	data []byte
	most int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.most)], c.data)
	c.data = c.data[n:]
	return n, nil
}

func newSmallWriter(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 16) }

func newSmallReader(from io.Reader, to *bufio.Writer) *bufio.Reader {
	return bufio.NewReaderSize(&flushingReader{from: from, to: to}, 16)
}

// TestPipelineFollowsTheServer plays random scripts against a model of the
// server that answers with a delay of its own, and compares each error with the
// refusal it should be.
func TestPipelineFollowsTheServer(t *testing.T) {
	t.Parallel()
	type message struct {
		kind   stepKind
		refuse *refusal
		fails  bool // for another reason
	}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := newPipeline(fakeState{})
		var sent []message
		skipping := false // the model's, not the pipeline's
		answer := func() {
			m := sent[0]
			sent = sent[1:]
			if skipping && m.kind != stepSync {
				return
			}
			if m.fails || m.refuse != nil {
				text := "something else"
				if m.refuse != nil {
					text = `syntax error at or near "` + m.refuse.token + `"`
				}
				if got, _ := p.fail(text); got != m.refuse {
					t.Fatalf("seed %d: the error is %v, want %v", seed, got, m.refuse)
				}
				skipping = m.kind == stepExtended
			} else if m.kind == stepExtended {
				p.answered('1')
			}
			if m.kind != stepExtended {
				skipping = false
				if _, err := p.ready('I'); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		doomed := false
		for range 60 {
			if len(sent) > 0 && rng.IntN(2) == 0 {
				answer()
				continue
			}
			m := message{kind: stepKind(rng.IntN(3)), fails: rng.IntN(6) == 0}
			if doomed && m.kind != stepSync {
				continue
			}
			if m.kind == stepSync {
				m.fails, doomed = false, false
			} else if rng.IntN(6) == 0 {
				m.refuse = newRefusal(io.EOF, stateInternalError)
				doomed = m.kind == stepExtended
			}
			p.push(m.kind, m.refuse, nil)
			sent = append(sent, m)
		}
		for len(sent) > 0 {
			answer()
		}
		if p.running() {
			t.Fatalf("seed %d: all is answered and %v is left", seed, p.steps)
		}
		if _, err := p.ready('I'); err == nil {
			t.Fatalf("seed %d: a ReadyForQuery too many is taken", seed)
		}
	}
}

func TestPipelineIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPipeline(fakeState{})
		for range maxPending {
			p.push(stepSync, nil, nil)
		}
		waited := make(chan error, 1)
		go func() { waited <- p.waitForRoom() }()
		synctest.Wait()
		if len(waited) != 0 {
			t.Fatal("there is room beyond the bound")
		}
		if _, err := p.ready('I'); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		p.push(stepSync, nil, nil)
		go func() { waited <- p.waitForRoom() }()
		synctest.Wait()
		p.close()
		if err := <-waited; !errors.Is(err, errPipelineClosed) {
			t.Fatal(err)
		}
	})
}
