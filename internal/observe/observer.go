package observe

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/kproxy/kproxy/internal/observe/audit"
	"github.com/kproxy/kproxy/proxy"
)

// Options say what is observed.
type Options struct {
	// Version is kproxy's own.
	Version string
	// State is asked at each scrape, by one goroutine at a time; required. It must not
	// wait for the database.
	State func() State
	// Audit is the audit log; nil = there is none.
	Audit *audit.Log
	// Tables adds the figures of single tables to the metrics, which tell more than the
	// releases do.
	Tables bool
}

// Observer is told by the proxy what clients do. It is made by [New] and safe for
// concurrent use.
type Observer struct {
	options  Options
	registry *prometheus.Registry
	metrics  []Metric
	events   *events
	totals   totals

	refused    *refused
	slow       *slow
	rejections allowance // of those that are audited

	mu   sync.Mutex
	seen map[string]Table // by Sample, last
}

// totals are those that the console shows.
type totals struct{ sessions, statements, failed, refused, rejected atomic.Int64 }

// Totals count since the process began.
type Totals struct {
	Sessions   int64 `json:"sessions"` // that have begun
	Statements int64 `json:"statements"`
	Failed     int64 `json:"failed"`   // at the server, among them
	Refused    int64 `json:"refused"`  // by kproxy, among them
	Rejected   int64 `json:"rejected"` // logins
}

// New returns an observer with a registry of its own.
func New(o Options) *Observer {
	r := &recorder{registry: prometheus.NewPedanticRegistry()}
	buildInfo(r, o.Version)
	observer := &Observer{
		options: o, registry: r.registry, events: newEvents(r),
		refused: newRefused(), slow: newSlow(), seen: make(map[string]Table),
	}
	r.registry.MustRegister(
		newCollector(o.State, o.Audit, o.Tables),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	observer.metrics = slices.Concat(r.all, asked)
	return observer
}

// Metrics are all of kproxy's own, in the order of the reference; those of Go and of the
// process are as the Prometheus client has them.
func (o *Observer) Metrics() []Metric { return o.metrics }

// Began implements proxy.Observer.
func (o *Observer) Began(c *proxy.Client) {
	transport := transportOf(c.Transport)
	o.totals.sessions.Add(1)
	o.events.sessions.WithLabelValues(transport).Inc()
	o.events.began.WithLabelValues(transport).Inc()
	o.events.logins.WithLabelValues("ok").Inc()
	o.write(audit.Record{Event: audit.Begin}, c)
}

// Ended implements proxy.Observer.
func (o *Observer) Ended(c *proxy.Client, e proxy.End) {
	o.events.sessions.WithLabelValues(transportOf(c.Transport)).Dec()
	o.events.ended.WithLabelValues(endOf(e.SQLState)).Inc()
	o.write(audit.Record{Event: audit.End, Duration: e.Lasted, SQLState: e.SQLState}, c)
}

// phases are those of statements, as the audit log says them.
var phases = [...]string{proxy.Simple: "query", proxy.Executed: "execute", proxy.Prepared: "prepare"}

// Answered implements proxy.Observer.
func (o *Observer) Answered(a *proxy.Answered) {
	o.totals.statements.Add(1)
	o.events.answered(a)
	switch {
	case a.Refused:
		o.totals.refused.Add(1)
		o.refused.add(a)
	case a.SQLState != "":
		o.totals.failed.Add(1)
		fallthrough
	default:
		if a.Shape != "" {
			o.slow.add(a)
		}
	}
	if o.options.Audit != nil {
		o.write(audit.Record{
			Time: a.At, Event: audit.Statement, Phase: phases[a.Phase], Shape: a.Shape, Tables: a.Reads,
			Rows: a.Rows, Bytes: a.Bytes, Duration: a.Waited + a.Serving, SQLState: a.SQLState, Refused: a.Refused,
		}, a.Client)
	}
}

// Rejected implements proxy.Observer.
func (o *Observer) Rejected(r proxy.Rejection) {
	o.totals.rejected.Add(1)
	o.events.logins.WithLabelValues(string(r.Reason)).Inc()
	if o.options.Audit != nil && o.rejections.admit(time.Now()) {
		o.options.Audit.Add(audit.Record{
			Time: time.Now(), Event: audit.Rejected, User: r.User, Client: r.Address, Transport: transportOf(r.Transport),
			SQLState: r.SQLState, Reason: string(r.Reason),
		})
	}
}

// Canceled implements proxy.Observer.
func (o *Observer) Canceled(known bool) {
	if known {
		o.events.cancels.WithLabelValues("known").Inc()
	} else {
		o.events.cancels.WithLabelValues("unknown").Inc()
	}
}

// Connected implements proxy.Observer.
func (o *Observer) Connected(waited time.Duration, ok bool) {
	outcome := "failed"
	if ok {
		outcome = "ok"
	}
	o.events.upstreamConnected.WithLabelValues(outcome).Observe(waited.Seconds())
}

// write adds a record about a session to the audit log.
func (o *Observer) write(r audit.Record, c *proxy.Client) {
	if o.options.Audit == nil {
		return
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	r.User, r.Reader, r.Audience, r.Client, r.Transport, r.Session = c.User, c.Reader, c.Audience, c.Address, transportOf(c.Transport), c.Session
	o.options.Audit.Add(r)
}

// Sample counts what has become of the tables since the last time; it is to be called
// every few seconds.
func (o *Observer) Sample() {
	tables := o.options.State().Tables
	o.mu.Lock()
	defer o.mu.Unlock()
	for name := range o.seen {
		if !slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name }) {
			delete(o.seen, name)
		}
	}
	for _, t := range tables {
		published, renewed := o.events.generations.WithLabelValues(t.Name), o.events.renewals.WithLabelValues(t.Name)
		before, known := o.seen[t.Name]
		switch {
		case t.Generation == 0:
			continue
		case !known:
		case before.Generation != t.Generation:
			published.Inc()
		case t.Drift == 1 && before.Drift != 1: // as good as new
			renewed.Inc()
		}
		o.seen[t.Name] = t
	}
}

// Refused lists the shapes that were refused, the last ones first.
func (o *Observer) Refused() []RefusedShape { return o.refused.list() }

// Slow lists the shapes that have taken longest, the slowest first.
func (o *Observer) Slow() []SlowShape { return o.slow.list() }

// Totals returns the numbers of now.
func (o *Observer) Totals() Totals {
	t := &o.totals
	return Totals{
		Sessions: t.sessions.Load(), Statements: t.statements.Load(), Failed: t.failed.Load(),
		Refused: t.refused.Load(), Rejected: t.rejected.Load(),
	}
}
