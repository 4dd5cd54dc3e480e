package proxy

import (
	"strings"
	"testing"
)

// blockingGate takes its time for positions and for texts about "slow".
type blockingGate struct {
	testGate
	asked, proceed chan bool
}

func (g blockingGate) wait() {
	g.asked <- true
	<-g.proceed
}

func (g blockingGate) Position(sql string, in State, sent int) int {
	g.wait()
	return g.testGate.Position(sql, in, sent)
}

func (g blockingGate) Rewrite(sql string, in State) (Statement, error) {
	if strings.Contains(sql, "'slow'") {
		g.wait()
	}
	return g.testGate.Rewrite(sql, in)
}

// TestOthersAreServedMeanwhile has the gate take its time for one session while another
// one of the same event loop goes on.
func TestOthersAreServedMeanwhile(t *testing.T) {
	t.Parallel()
	gate := blockingGate{asked: make(chan bool), proceed: make(chan bool)}
	p := startProxy(t, func(c *Config) { c.Gate, c.EventLoops = gate, 1 })
	one, two := p.loginWire(t), p.loginWire(t)
	for sql, want := range map[string]string{
		"SELECT nosuchcolumn": "E42703 ZI",
		"SELECT 'slow'":       "T D(slow) C(SELECT 1) ZI",
	} {
		one.send(query(sql))
		<-gate.asked
		two.send(query("SELECT 'quick'"))
		if got := two.script(1); got != "T D(quick) C(SELECT 1) ZI" {
			t.Errorf("meanwhile: %s", got)
		}
		gate.proceed <- true
		if got := one.script(1); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
}
