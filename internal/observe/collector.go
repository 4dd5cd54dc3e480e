package observe

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kproxy/kproxy/internal/observe/audit"
	"github.com/kproxy/kproxy/proxy/pool"
)

// collector asks for the state at each scrape.
type collector struct {
	state  func() State
	audit  *audit.Log // nil = there is none
	tables bool
	now    func() time.Time

	descriptions map[string]*prometheus.Desc
	kinds        map[string]prometheus.ValueType
}

// asked are the metrics of State.
var asked = []Metric{
	{Name: "kproxy_connections", Type: "gauge", Help: "Connections of clients in any state, including those of sessions."},
	{Name: "kproxy_sessions_max", Type: "gauge", Help: "Maximum number of sessions (limits.max_sessions)."},

	{Name: "kproxy_pool_connections", Type: "gauge", Help: "Connections to the database: in_use by sessions, idle, or busy while they are made or reset.", Labels: []string{"state"}},
	{Name: "kproxy_pool_connections_max", Type: "gauge", Help: "Maximum number of connections to the database."},
	{Name: "kproxy_pool_waiting", Type: "gauge", Help: "Logins that wait for a connection to the database."},
	{Name: "kproxy_pool_opened_total", Type: "counter", Help: "Connections to the database that were opened."},
	{Name: "kproxy_pool_open_failures_total", Type: "counter", Help: "Failed attempts to open a connection to the database."},
	{Name: "kproxy_pool_reused_total", Type: "counter", Help: "Sessions that reused the connection of an earlier session."},
	{Name: "kproxy_pool_resets_total", Type: "counter", Help: "Connections that were reset to their state after login."},
	{Name: "kproxy_pool_discarded_total", Type: "counter", Help: "Connections that were closed because they broke or could not be reset."},

	{Name: "kproxy_upstream_up", Type: "gauge", Help: "Whether a database server answered the last time it was asked.", Labels: []string{"server"}},
	{Name: "kproxy_upstream_fresh", Type: "gauge", Help: "Whether data of this server may be shown.", Labels: []string{"server"}},
	{Name: "kproxy_upstream_role", Type: "gauge", Help: "1 for the role of a server relative to the one that kproxy publishes on: that primary, a standby of it, a second primary, diverged (a standby of another primary), foreign (another database), or unknown.", Labels: []string{"server", "role"}},
	{Name: "kproxy_upstream_sessions", Type: "gauge", Help: "Sessions that have a connection to a server, or are opening one.", Labels: []string{"server"}},
	{Name: "kproxy_upstream_lag_seconds", Type: "gauge", Help: "Upper bound of the age of the oldest change that is committed at the source and that a server does not show, if upstream.reader.max_staleness is set.", Labels: []string{"server"}},
	{Name: "kproxy_upstream_lag_bytes", Type: "gauge", Help: "How far a standby's log is behind the primary's, in whole segments of 16 MiB.", Labels: []string{"server"}},

	{Name: "kproxy_statement_cache_entries", Type: "gauge", Help: "Texts, forms and templates in the cache of rewritten statements."},
	{Name: "kproxy_statement_cache_bytes", Type: "gauge", Help: "Size of the cache of rewritten statements in bytes."},
	{Name: "kproxy_answers", Type: "gauge", Help: "Answers that are kept."},
	{Name: "kproxy_answers_bytes", Type: "gauge", Help: "Size of the kept answers in bytes."},
	{Name: "kproxy_answers_hits_total", Type: "counter", Help: "Questions that a kept answer has answered."},
	{Name: "kproxy_answers_misses_total", Type: "counter", Help: "Questions for which a kept answer was looked for, and none was there that still holds."},
	{Name: "kproxy_answers_shared_total", Type: "counter", Help: "Questions that have waited for the answer to the same question of another session."},
	{Name: "kproxy_statement_cache_evictions_total", Type: "counter", Help: "Entries that were removed from the cache to make room for others."},

	{Name: "kproxy_guarantees_audit_passed", Type: "gauge", Help: "Whether the last check of the guarantees passed (1). If it did not, nothing is served."},
	{Name: "kproxy_guarantees_audit_timestamp_seconds", Type: "gauge", Help: "Time of the last check of the guarantees, in Unix time."},
	{Name: "kproxy_guarantees_audit_failures_total", Type: "counter", Help: "Failed checks of the guarantees."},

	{Name: "kproxy_certificate_expiry_timestamp_seconds", Type: "gauge", Help: "Time until which a certificate is valid that the process has read, in Unix time, by what it is for and whom.", Labels: []string{"use", "subject"}},
	{Name: "kproxy_certificate_warning_timestamp_seconds", Type: "gauge", Help: "Time from which on it needs the operator: 14 days, or a fifth of its lifetime, before.", Labels: []string{"use", "subject"}},

	{Name: "kproxy_audit_log_records_total", Type: "counter", Help: "Records that were written to the audit log."},
	{Name: "kproxy_audit_log_dropped_total", Type: "counter", Help: "Records that were lost and are not in the audit log."},
	{Name: "kproxy_audit_log_failures_total", Type: "counter", Help: "Failed attempts to write the audit log."},
	{Name: "kproxy_audit_log_queued", Type: "gauge", Help: "Records that wait to be written to the audit log."},
	{Name: "kproxy_audit_log_failing", Type: "gauge", Help: "Whether the audit log cannot be written, or not fast enough (1)."},

	{Name: "kproxy_replication_state", Type: "gauge", Help: "1 for the state of replication: starting, following, streaming, reconnecting or stopped.", Labels: []string{"state"}},
	{Name: "kproxy_replication_applies", Type: "gauge", Help: "Whether this process applies the changes (1). One of several processes does."},
	{Name: "kproxy_replication_retained_bytes", Type: "gauge", Help: "Write-ahead log that the server keeps for the slot, in whole segments of 16 MiB; from the process that applies."},
	{Name: "kproxy_replication_unapplied_seconds", Type: "gauge", Help: "For how long this process has known of nobody who applies changes: what readers have is at least as old. 0 while changes are applied."},
	{Name: "kproxy_replication_lag_seconds", Type: "gauge", Help: "Age of the oldest change that readers do not see yet, in whole seconds; from the process that applies."},
	{Name: "kproxy_replication_slot_wal_status", Type: "gauge", Help: "1 for the slot's wal_status (PostgreSQL, pg_replication_slots); from the process that applies.", Labels: []string{"status"}},

	{Name: "kproxy_table_state", Type: "gauge", Help: "1 for the state of a protected table: unpublished, published, halted or withdrawn.", Labels: []string{"table", "state"}},
	{Name: "kproxy_table_preparing", Type: "gauge", Help: "Whether a new release of the table is being made (1).", Labels: []string{"table"}},

	{Name: "kproxy_table_proof_timestamp_seconds", Type: "gauge", Help: "Time of the last proof of the table by the verifier, in Unix time.", Labels: []string{"table"}},
	{Name: "kproxy_table_proof_passed", Type: "gauge", Help: "Whether that proof passed (1) or not (0). Absent while the proof is of an earlier release.", Labels: []string{"table"}},
	{Name: "kproxy_table_smallest_class", Type: "gauge", Help: "Records, or rows if the table is guarded, of the smallest class in that proof. Absent while the proof is of an earlier release.", Labels: []string{"table"}},
	{Name: "kproxy_table_audience_state", Type: "gauge", Help: "1 for the state of what an audience sees of a protected table: as kproxy_table_state, or withheld or unpublished for the audience alone.", Labels: []string{"table", "audience", "state"}},
	{Name: "kproxy_table_audience_smallest_class", Type: "gauge", Help: "Records of the smallest class that an audience sees, in the last proof. Absent while the proof is of an earlier release.", Labels: []string{"table", "audience"}},
	{Name: "kproxy_proof_interval_seconds", Type: "gauge", Help: "Interval between proofs (verify.every), or longer if proofs take long; 0 if releases are not proved regularly."},

	{Name: "kproxy_table_records", Type: "gauge", Tables: true, Help: "Records in the private store.", Labels: []string{"table"}},
	{Name: "kproxy_table_classes", Type: "gauge", Tables: true, Help: "Equivalence classes that are published, of all parts.", Labels: []string{"table"}},
	{Name: "kproxy_table_withheld", Type: "gauge", Tables: true, Help: "Records that are withheld while nothing of the table is published.", Labels: []string{"table"}},
	{Name: "kproxy_table_audience_classes", Type: "gauge", Tables: true, Help: "Classes that an audience sees: unions of those of the table.", Labels: []string{"table", "audience"}},
	{Name: "kproxy_table_audience_withheld", Type: "gauge", Tables: true, Help: "Records that are withheld from an audience. All others are published for it, at the position of the table.", Labels: []string{"table", "audience"}},
	{Name: "kproxy_table_waiting", Type: "gauge", Tables: true, Help: "Records that wait to be published.", Labels: []string{"table"}},
	{Name: "kproxy_table_oldest_waiting_seconds", Type: "gauge", Tables: true, Help: "Time for which the oldest of them has waited.", Labels: []string{"table"}},
	{Name: "kproxy_table_stale", Type: "gauge", Tables: true, Help: "Records that are published as they were before a change.", Labels: []string{"table"}},
	{Name: "kproxy_table_oldest_stale_seconds", Type: "gauge", Tables: true, Help: "Time for which the oldest of them has been stale.", Labels: []string{"table"}},
	{Name: "kproxy_table_ghosts", Type: "gauge", Tables: true, Help: "Published rows whose records are deleted.", Labels: []string{"table"}},
	{Name: "kproxy_table_untold", Type: "gauge", Tables: true, Help: "Rows by which counts by weights are too high; below 0, too low.", Labels: []string{"table"}},
	{Name: "kproxy_table_returned", Type: "gauge", Tables: true, Help: "Records that left and came back, and took their rows back, since the release was begun.", Labels: []string{"table"}},
	{Name: "kproxy_table_expired", Type: "gauge", Tables: true, Help: "Records that are withheld for good.", Labels: []string{"table"}},
	{Name: "kproxy_table_information_loss", Type: "gauge", Tables: true, Help: "Information loss of the release, 0 to 1, at its last comparison with one made afresh.", Labels: []string{"table"}},
	{Name: "kproxy_table_drift", Type: "gauge", Tables: true, Help: "Information loss of the release divided by that of the one made afresh; 1 means no drift.", Labels: []string{"table"}},
}

func newCollector(state func() State, log *audit.Log, tables bool) *collector {
	c := &collector{
		state: state, audit: log, tables: tables, now: time.Now,
		descriptions: make(map[string]*prometheus.Desc), kinds: make(map[string]prometheus.ValueType),
	}
	for _, m := range asked {
		c.descriptions[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
		c.kinds[m.Name] = prometheus.GaugeValue
		if m.Type == "counter" {
			c.kinds[m.Name] = prometheus.CounterValue
		}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	put := func(name string, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(c.descriptions["kproxy_"+name], c.kinds["kproxy_"+name], value, labels...)
	}
	s := c.state()
	collectClients(s, put)
	collectServers(s, put)
	collectCertificates(s.Certificates, put)
	if c.audit != nil {
		collectAuditLog(c.audit.Stats(), put)
	}
	if s.Replication != nil {
		c.collectReplication(s.Replication, put)
	}
	put("proof_interval_seconds", s.ProofInterval.Seconds())
	for _, t := range s.Tables {
		c.collectTable(t, put)
	}
}

// sender sends one value.
type sender func(name string, value float64, labels ...string)

func collectClients(s State, put sender) {
	put("connections", float64(s.Counts.Connections))
	put("sessions_max", float64(s.MaxSessions))
	put("statement_cache_entries", float64(s.Cache.Entries))
	put("statement_cache_bytes", float64(s.Cache.Bytes))
	put("answers", float64(s.Answers.Answers))
	put("answers_bytes", float64(s.Answers.Bytes))
	put("answers_hits_total", float64(s.Answers.Hits))
	put("answers_misses_total", float64(s.Answers.Misses))
	put("answers_shared_total", float64(s.Answers.Shared))
	put("statement_cache_evictions_total", float64(s.Cache.Evictions))
	put("guarantees_audit_passed", truth(s.Audit.Passes))
	put("guarantees_audit_failures_total", float64(s.Audit.Failed))
	if !s.Audit.At.IsZero() {
		put("guarantees_audit_timestamp_seconds", float64(s.Audit.At.Unix()))
	}
}

func collectServers(s State, put sender) {
	p := s.Pool
	put("pool_connections", float64(p.InUse), "in_use")
	put("pool_connections", float64(p.Idle), "idle")
	put("pool_connections", float64(max(p.Places-p.InUse-p.Idle, 0)), "busy")
	put("pool_connections_max", float64(p.Most))
	put("pool_waiting", float64(p.Waiting))
	put("pool_opened_total", float64(p.Opened))
	put("pool_open_failures_total", float64(p.OpenFailed))
	put("pool_reused_total", float64(p.Reused))
	put("pool_resets_total", float64(p.Reset))
	put("pool_discarded_total", float64(p.Discarded))
	for _, h := range p.Hosts {
		put("upstream_up", truth(h.Reachable), h.Address)
		put("upstream_fresh", truth(h.Fresh), h.Address)
		put("upstream_sessions", float64(h.Sessions), h.Address)
		for _, role := range pool.HostRoles {
			put("upstream_role", truth(role == h.Role), h.Address, role)
		}
		if h.Lag >= 0 {
			put("upstream_lag_seconds", h.Lag.Seconds(), h.Address)
		}
		if h.LagBytes >= 0 {
			put("upstream_lag_bytes", segments(h.LagBytes), h.Address)
		}
	}
}

// collectCertificates sends the first to end of those with the same use and subject.
func collectCertificates(all []Certificate, put sender) {
	type key struct{ use, subject string }
	first := make(map[key]Certificate)
	for _, c := range all {
		k := key{c.Use, strings.ToValidUTF8(c.Subject, "\uFFFD")}
		if before, known := first[k]; !known || c.Until.Before(before.Until) {
			first[k] = c
		}
	}
	for k, c := range first {
		put("certificate_expiry_timestamp_seconds", float64(c.Until.Unix()), k.use, k.subject)
		put("certificate_warning_timestamp_seconds", float64(c.Warns.Unix()), k.use, k.subject)
	}
}

func collectAuditLog(s audit.Stats, put sender) {
	put("audit_log_records_total", float64(s.Written))
	put("audit_log_dropped_total", float64(s.Dropped))
	put("audit_log_failures_total", float64(s.Failures))
	put("audit_log_queued", float64(s.Queued))
	put("audit_log_failing", truth(s.Failing))
}

func (c *collector) collectReplication(r *Replication, put sender) {
	for _, state := range []string{"starting", "following", "streaming", "reconnecting", "stopped"} {
		put("replication_state", truth(r.State == state), state)
	}
	put("replication_applies", truth(r.Applies))
	put("replication_unapplied_seconds", c.since(r.Unapplied))
	if !r.Applies {
		return
	}
	put("replication_retained_bytes", segments(r.Retained))
	put("replication_lag_seconds", r.Behind.Truncate(time.Second).Seconds())
	if r.WALStatus != "" {
		for _, status := range []string{"reserved", "extended", "unreserved", "lost"} {
			put("replication_slot_wal_status", truth(r.WALStatus == status), status)
		}
	}
}

// collectTable sends what is known of a table. Who comes, leaves or waits shows in the
// figures of a guarded table, and how many records a withheld one has, so that only who
// asks for them by the configuration gets them.
func (c *collector) collectTable(t Table, put sender) {
	for _, state := range tableStates {
		put("table_state", truth(t.State == state), t.Name, state)
	}
	put("table_preparing", truth(t.Preparing), t.Name)
	collectProof(t, put)
	c.collectAudiences(t, put)
	if !c.tables {
		return
	}
	put("table_records", float64(t.Records), t.Name)
	put("table_classes", float64(t.Classes), t.Name)
	put("table_withheld", float64(t.Withheld), t.Name)
	put("table_waiting", float64(t.Waiting), t.Name)
	put("table_stale", float64(t.Stale), t.Name)
	put("table_ghosts", float64(t.Ghosts), t.Name)
	put("table_untold", float64(t.Untold), t.Name)
	put("table_returned", float64(t.Returned), t.Name)
	put("table_expired", float64(t.Expired), t.Name)
	put("table_oldest_waiting_seconds", c.since(t.OldestWaiting), t.Name)
	put("table_oldest_stale_seconds", c.since(t.OldestStale), t.Name)
	if t.Drift > 0 {
		put("table_information_loss", t.Loss, t.Name)
		put("table_drift", t.Drift, t.Name)
	}
}

// tableStates are the states of tables, and of what audiences see of them.
var tableStates = []string{"unpublished", "published", "withheld", "halted", "withdrawn"}

// collectAudiences sends what is known of what audiences see of a table.
func (c *collector) collectAudiences(t Table, put sender) {
	for _, a := range t.Audiences {
		for _, state := range tableStates {
			put("table_audience_state", truth(a.State == state), t.Name, a.Name, state)
		}
		if c.tables {
			put("table_audience_classes", float64(a.Classes), t.Name, a.Name)
			put("table_audience_withheld", float64(a.Withheld), t.Name, a.Name)
		}
		if p := t.Proof; p != nil && p.Generation == t.Generation {
			if smallest, proved := p.Audiences[a.Name]; proved {
				put("table_audience_smallest_class", float64(smallest), t.Name, a.Name)
			}
		}
	}
}

// collectProof sends what is known of the last proof. What it found holds for the release
// that it was made of, and for no later one.
func collectProof(t Table, put sender) {
	if t.Proof == nil {
		return
	}
	put("table_proof_timestamp_seconds", float64(t.Proof.At.Unix()), t.Name)
	if t.Proof.Generation == t.Generation {
		put("table_proof_passed", truth(t.Proof.Passed), t.Name)
		put("table_smallest_class", float64(t.Proof.Smallest), t.Name)
	}
}

// since is for how long something has been; 0 where there is nothing.
func (c *collector) since(moment time.Time) float64 {
	if moment.IsZero() {
		return 0
	}
	return max(c.now().Sub(moment).Seconds(), 0)
}

// segmentBytes is that of the write-ahead log. Finer figures would show to who may see
// metrics when something is written to the source.
const segmentBytes = 16 << 20

func segments(bytes int64) float64 { return float64(bytes / segmentBytes * segmentBytes) }

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
