package observe

import (
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/access"
)

// Metric is what the reference says of one metric.
type Metric struct {
	Name, Type, Help string
	Labels           []string
	// Tables says that it is there with metrics.tables only.
	Tables bool
}

// seconds are the bounds of the histograms: from what a statement costs that is known, to
// one that a dashboard gives up on.
var seconds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

// gateSeconds are those of rewriting, which is quicker.
var gateSeconds = []float64{0.000001, 0.0000025, 0.000005, 0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1}

// recorder registers metrics and remembers what they are.
type recorder struct {
	registry *prometheus.Registry
	all      []Metric
}

func (r *recorder) note(kind, name, help string, labels []string) {
	r.all = append(r.all, Metric{Name: name, Type: kind, Help: help, Labels: labels})
}

func (r *recorder) counter(name, help string, labels ...string) *prometheus.CounterVec {
	r.note("counter", name, help, labels)
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.registry.MustRegister(c)
	return c
}

func (r *recorder) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	r.note("gauge", name, help, labels)
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	r.registry.MustRegister(g)
	return g
}

func (r *recorder) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	r.note("histogram", name, help, labels)
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	r.registry.MustRegister(h)
	return h
}

// events are the metrics of what is told while it happens.
type events struct {
	sessions                                        *prometheus.GaugeVec
	began, ended, logins, cancels                   *prometheus.CounterVec
	statements, refusals, asked, rows, bytes        *prometheus.CounterVec
	generations, renewals                           *prometheus.CounterVec
	duration, serving, rewriting, upstreamConnected *prometheus.HistogramVec

	// Those of every statement.
	fine, recalled, rewritten             prometheus.Counter
	allRows, allBytes                     prometheus.Counter
	allDuration, allServing, allRewriting prometheus.Observer
}

func newEvents(r *recorder) *events {
	e := &events{
		sessions: r.gauge("kproxy_sessions", "Sessions that are logged in, by transport.", "transport"),
		began:    r.counter("kproxy_sessions_started_total", "Sessions that have begun, by transport.", "transport"),
		ended:    r.counter("kproxy_sessions_ended_total", "Sessions that have ended, by reason: closed by the client, lost connection, a time limit, terminated by kproxy or its operator, or an error.", "reason"),
		logins:   r.counter("kproxy_logins_total", "Logins by outcome: ok, or the reason why there is no session.", "outcome"),
		cancels:  r.counter("kproxy_cancel_requests_total", "Cancel requests, by whether their key belongs to a session.", "key"),

		statements: r.counter("kproxy_statements_total", "Statements that are done, by outcome (ok, failed at the server, refused by kproxy) and class of the SQLSTATE.", "outcome", "class"),
		refusals:   r.counter("kproxy_statements_refused_total", "Statements that kproxy has refused, by SQLSTATE.", "sqlstate"),
		asked:      r.counter("kproxy_statement_texts_total", "Texts that were checked and rewritten, by whether the result was cached (hit) or the text was parsed (miss).", "cache"),
		rows:       r.counter("kproxy_statement_rows_total", "Rows of successful statements."),
		bytes:      r.counter("kproxy_statement_bytes_total", "Bytes of the server's responses."),
		duration:   r.histogram("kproxy_statement_duration_seconds", "Time from the receipt of a statement to the end of its response.", seconds),
		serving:    r.histogram("kproxy_statement_upstream_seconds", "Part of that time after the statement was sent to the server.", seconds),
		rewriting:  r.histogram("kproxy_statement_rewrite_seconds", "Time to check and rewrite a text.", gateSeconds),

		upstreamConnected: r.histogram("kproxy_pool_wait_seconds", "Time that logins waited for a connection to the database, by whether they got one.", seconds, "outcome"),
		generations:       r.counter("kproxy_table_generation_changes_total", "Times that a table was published afresh while this process ran.", "table"),
		renewals:          r.counter("kproxy_table_reanonymizations_total", "Times that the classes of a table were made anew while this process ran.", "table"),
	}
	e.fine = e.statements.WithLabelValues("ok", "00")
	e.recalled, e.rewritten = e.asked.WithLabelValues("hit"), e.asked.WithLabelValues("miss")
	e.allRows, e.allBytes = e.rows.WithLabelValues(), e.bytes.WithLabelValues()
	e.allDuration, e.allServing, e.allRewriting = e.duration.WithLabelValues(), e.serving.WithLabelValues(), e.rewriting.WithLabelValues()
	e.preset()
	return e
}

// preset makes the series that alerts count on there from the beginning: an increase from
// nothing is none.
func (e *events) preset() {
	for _, transport := range []string{"plain", "tls", "unix"} {
		e.sessions.WithLabelValues(transport)
		e.began.WithLabelValues(transport)
	}
	e.logins.WithLabelValues("ok")
	for _, reason := range proxy.Reasons() {
		e.logins.WithLabelValues(string(reason))
	}
	for _, reason := range []string{"closed", "gone", "limit", "terminated", "error"} {
		e.ended.WithLabelValues(reason)
	}
	for _, outcome := range []string{"failed", "refused"} {
		e.statements.WithLabelValues(outcome, "XX")
	}
	for _, key := range []string{"known", "unknown"} {
		e.cancels.WithLabelValues(key)
	}
	for _, state := range refusalStates {
		e.refusals.WithLabelValues(state)
	}
	for _, outcome := range []string{"ok", "failed"} {
		e.upstreamConnected.WithLabelValues(outcome)
	}
}

// answered counts a statement.
func (e *events) answered(a *proxy.Answered) {
	switch {
	case a.SQLState == "":
		e.fine.Inc()
		e.allRows.Add(float64(max(a.Rows, 0)))
	case a.Refused:
		e.statements.WithLabelValues("refused", classOf(a.SQLState)).Inc()
		e.refusals.WithLabelValues(among(refusalStates, a.SQLState)).Inc()
	default:
		e.statements.WithLabelValues("failed", classOf(a.SQLState)).Inc()
	}
	e.allBytes.Add(float64(max(a.Bytes, 0)))
	e.allDuration.Observe((a.Waited + a.Serving).Seconds())
	e.allServing.Observe(a.Serving.Seconds())
	if a.Asked && (a.Recalled || a.Rewriting > 0) {
		e.allRewriting.Observe(a.Rewriting.Seconds())
		if a.Recalled {
			e.recalled.Inc()
		} else {
			e.rewritten.Inc()
		}
	}
}

// classes are those of SQLSTATEs that PostgreSQL has (appendix "PostgreSQL Error Codes").
var classes = strings.Fields(`00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F
	40 42 44 53 54 55 57 58 72 F0 HV P0 XX`)

// refusalStates are the SQLSTATEs that kproxy refuses statements with.
var refusalStates = strings.Fields(`0A000 22021 22023 25006 34000 3F000 42501 42601 42704 42883 42P01 42P05 42P09 42P16 54000 54001 55000 57P03 XX000`)

// other stands for what is in none of the fixed lists.
const other = "other"

// among is the word, if it is one of the list: what a label may say is bounded.
func among(list []string, word string) string {
	if slices.Contains(list, word) {
		return word
	}
	return other
}

func classOf(state string) string { return among(classes, state[:min(2, len(state))]) }

// endOf puts the SQLSTATE of a session's end into a few classes.
func endOf(state string) string {
	switch state {
	case "":
		return "closed"
	case "08006":
		return "gone"
	case "57014", "57P05", "25P03", "25P04":
		return "limit"
	case "57P01", "57P03":
		return "terminated"
	default:
		return "error"
	}
}

// transportOf is what a connection comes through, as labels and the audit log say it.
func transportOf(t access.Transport) string {
	switch t {
	case access.TLS:
		return "tls"
	case access.Unix:
		return "unix"
	default:
		return "plain"
	}
}

// buildInfo says what runs.
func buildInfo(r *recorder, version string) {
	r.gauge("kproxy_build_info", "1, with the version of kproxy and of Go.", "version", "goversion").
		WithLabelValues(version, runtime.Version()).Set(1)
}
