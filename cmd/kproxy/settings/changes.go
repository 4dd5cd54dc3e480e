// Package settings compares two configurations: which settings differ, which take effect on a
// reload, and which at the next start.
package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// Changes are the differences between a new configuration and the running one.
type Changes struct {
	// Added, Changed and Removed are protected and mirrored tables, in the configuration's order. A table is
	// Changed as well if only its updates differ.
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
	// Afresh are such tables whose policies are the same, but which are examined again:
	// they were halted, or have been altered.
	Afresh []string `json:"afresh,omitempty"`
	// Halted are tables that readers get nothing of until the change is taken back or 'kproxy rebuild
	// --new-lineage': their classes were made by the policy before, or those of a table that is released with them.
	Halted []string `json:"halted,omitempty"`
	// Continued are tables with guarded updates whose lineage goes on with other audiences, unless audiences that were
	// removed earlier keep it from that.
	Continued []string `json:"continued,omitempty"`
	// Settings are the other keys that take effect at once, or for new sessions, and Restart
	// those that take effect at the next start.
	Settings []string `json:"settings"`
	Restart  []string `json:"restart"`
}

// Compare returns the differences between two configurations.
func Compare(running, next *config.Config) Changes {
	var c Changes
	before, effective := make(map[catalog.Name]catalog.TablePolicy), Takeover(running, next)
	for _, t := range running.Policy.Tables {
		before[t.Table] = t
	}
	for _, t := range effective.Policy.Tables {
		earlier, known := before[t.Table]
		switch delete(before, t.Table); {
		case !known:
			c.Added = append(c.Added, t.Table.String())
		case !reflect.DeepEqual(earlier, t):
			c.Changed = append(c.Changed, t.Table.String())
		}
	}
	c.Halted, c.Continued = lineages(running.Policy, next.Policy)
	for _, t := range running.Policy.Tables {
		if _, gone := before[t.Table]; gone {
			c.Removed = append(c.Removed, t.Table.String())
		}
	}
	was, is, taken := running.Written(), next.Written(), effective.Written()
	for _, s := range settings {
		switch {
		case s.restart && !reflect.DeepEqual(s.of(was), s.of(is)):
			c.Restart = append(c.Restart, s.key)
		case !s.restart && !reflect.DeepEqual(s.of(was), s.of(taken)):
			c.Settings = append(c.Settings, s.key)
		}
	}
	return c
}

// setting is a part of a configuration other than its tables.
type setting struct {
	key     string
	restart bool // it takes effect at the next start only
	// of returns the part, or its address if it takes effect at the next start only.
	of func(*config.Config) any
}

// settings are all parts except the tables.
var settings = []setting{
	{"listen", true, func(c *config.Config) any { return &c.Listen }},
	{"unix_socket_mode", true, func(c *config.Config) any { return &c.UnixSocketMode }},
	{"proxy_protocol", false, func(c *config.Config) any { return &c.ProxyProtocol }},
	{"tls", false, func(c *config.Config) any { return &c.TLS }},
	{"database", true, func(c *config.Config) any { return &c.Database }},
	{"users", false, func(c *config.Config) any { return &c.Users }},
	{"auth_query", false, func(c *config.Config) any { return &c.AuthQuery }},
	{"access", false, func(c *config.Config) any { return &c.Access }},
	{"throttle", false, func(c *config.Config) any { return &c.Throttle }},
	{"source.host", true, func(c *config.Config) any { return &c.Source.Host }},
	{"source.port", true, func(c *config.Config) any { return &c.Source.Port }},
	{"source.database", true, func(c *config.Config) any { return &c.Source.Database }},
	{"source.user", true, func(c *config.Config) any { return &c.Source.User }},
	{"source.primary", true, func(c *config.Config) any { return &c.Source.Primary }},
	{"source", false, func(c *config.Config) any { return proofs(c.Source.Connection) }},
	{"upstream.owner.host", true, func(c *config.Config) any { return &c.Upstream.Owner.Host }},
	{"upstream.owner.port", true, func(c *config.Config) any { return &c.Upstream.Owner.Port }},
	{"upstream.owner.database", true, func(c *config.Config) any { return &c.Upstream.Owner.Database }},
	{"upstream.owner.user", true, func(c *config.Config) any { return &c.Upstream.Owner.User }},
	{"upstream.owner", false, func(c *config.Config) any { return proofs(c.Upstream.Owner) }},
	{"upstream.reader.user", true, func(c *config.Config) any { return &c.Upstream.Reader.User }},
	{"upstream.reader.database", true, func(c *config.Config) any { return &c.Upstream.Reader.Database }},
	{"upstream.reader", false, func(c *config.Config) any { return servers(c.Upstream) }},
	{"upstream.readers", false, func(c *config.Config) any { return &c.Upstream.Readers }},
	{"release.seal", true, func(c *config.Config) any { return &c.Release.Seal }},
	{"pool", false, func(c *config.Config) any { return &c.Pool }},
	{"publication", true, func(c *config.Config) any { return &c.Publication }},
	{"slot", true, func(c *config.Config) any { return &c.Slot }},
	{"release.distribute", true, func(c *config.Config) any { return &c.Release.Distribute }},
	{"replication.recovery", true, func(c *config.Config) any { return &c.Replication.Recovery }},
	{"replication.heartbeat", true, func(c *config.Config) any { return &c.Replication.Heartbeat }},
	{"replication.superseded", false, func(c *config.Config) any { return &c.Replication.Superseded }},
	{"replication.alarm", false, func(c *config.Config) any { return &c.Replication.Alarm }},
	{"people", false, func(c *config.Config) any { return &c.Policy.People }},
	{"audiences", false, func(c *config.Config) any { return []any{c.Policy.Audience, c.Policy.Audiences} }},
	{"readable", false, func(c *config.Config) any { return &c.Policy.Readable }},
	{"functions", false, func(c *config.Config) any { return &c.Policy.Functions }},
	{"temporary_tables", false, func(c *config.Config) any { return &c.TemporaryTables }},
	{"limits", false, func(c *config.Config) any { return &c.Limits }},
	{"answers", false, func(c *config.Config) any { return &c.Answers }},
	{"timeouts.unacknowledged", true, func(c *config.Config) any { return &c.Timeouts.Unacknowledged }},
	{"timeouts", false, func(c *config.Config) any { return bounds(c.Timeouts) }},
	{"log.level", false, func(c *config.Config) any { return &c.Log.Level }},
	{"log.format", true, func(c *config.Config) any { return &c.Log.Format }},
	{"console.listen", true, func(c *config.Config) any { return &c.Console.Listen }},
	{"console.tls", true, encryptsConsole},
	{"console.tls.cert_file", false, func(c *config.Config) any { return &c.Console.CertFile }},
	{"console.tls.key_file", false, func(c *config.Config) any { return &c.Console.KeyFile }},
	{"metrics", true, func(c *config.Config) any { return &c.Metrics }},
	{"audit", true, func(c *config.Config) any { return &c.Audit }},
	{"console", false, func(c *config.Config) any { return besideListening(c.Console) }},
	{"verify", false, func(c *config.Config) any { return &c.Verify }},
}

// Results of TakenAt.
const (
	atOnce      = "at once"
	atNextStart = "at the next start"
)

// TakenAt returns when a change of a key takes effect on a reload. The key is a path as in
// [config.Shape.Paths]. The result is empty for a section whose keys differ in that, and for a
// key that no reload compares.
func TakenAt(path string) string {
	path = strings.NewReplacer("[]", "", ".*", "").Replace(path)
	for _, tables := range []string{"tables", "mirrored"} {
		if path == tables || strings.HasPrefix(path, tables+".") {
			return atOnce
		}
	}
	best, taken := "", ""
	for _, s := range settings {
		if (path == s.key || strings.HasPrefix(path, s.key+".")) && len(s.key) > len(best) {
			best, taken = s.key, atOnce
			if s.restart {
				taken = atNextStart
			}
		}
	}
	return taken
}

// servers returns how readers reach the database, without what takes effect at the next start.
func servers(u config.Upstream) any {
	u.Owner, u.Readers, u.Reader.User, u.Reader.Database = config.Connection{}, nil, "", ""
	return u
}

// proofs returns how a role and the server authenticate, without what takes effect at the next
// start.
func proofs(c config.Connection) any {
	c.Host, c.Port, c.Database, c.User = "", 0, "", ""
	return c
}

// bounds returns the time-outs, without what takes effect at the next start.
func bounds(t config.Timeouts) any {
	t.Unacknowledged = 0
	return t
}

// besideListening returns the console's settings, without how it is reached.
func besideListening(c config.Console) any {
	c.Listen, c.CertFile, c.KeyFile = "", "", ""
	return c
}

// encryptsConsole tells whether the console takes encrypted connections, by an address as
// all that waits for the next start; [takeover] knows better what follows from it.
func encryptsConsole(c *config.Config) any {
	encrypts := c.Console.CertFile != ""
	return &encrypts
}

// Takeover is next as far as it can take effect in a process that runs under running.
func Takeover(running, next *config.Config) *config.Config {
	effective := *next
	for _, s := range settings {
		if s.restart {
			reflect.ValueOf(s.of(&effective)).Elem().Set(reflect.ValueOf(s.of(running)).Elem())
		}
	}
	if was := running.Console; (was.CertFile == "") != (next.Console.CertFile == "") {
		// A listener is encrypted from its start or never. Its certificate may change.
		effective.Console.CertFile, effective.Console.KeyFile = was.CertFile, was.KeyFile
	}
	effective.Policy.Tables = slices.Clone(next.Policy.Tables)
	config.SealPolicy(&effective.Policy, running.Release.Seal.IsSet())
	// What is inherited from the owner takes effect with it.
	effective.Inherit()
	return &effective
}

// Empty reports whether there are no changes.
func (c Changes) Empty() bool {
	return c.TableCount()+len(c.Afresh) == 0 && len(c.Settings)+len(c.Restart) == 0
}

// TableCount is how many tables are concerned.
func (c Changes) TableCount() int { return len(c.Added) + len(c.Changed) + len(c.Removed) }

// String returns a line for each kind of change.
func (c Changes) String() string {
	var lines []string
	for _, part := range []struct {
		what  string
		names []string
	}{
		{"added", c.Added},
		{"changed", c.Changed},
		{"removed", c.Removed},
		{"examined again", c.Afresh},
		{"settings", c.Settings},
		{"at the next start only", c.Restart},
	} {
		if len(part.names) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", part.what, strings.Join(part.names, ", ")))
		}
	}
	if len(c.Afresh) > 0 { // the examination has just begun
		lines = append(lines, "'kproxy status' says which of those examined again are published, and why others stay halted")
	}
	if len(c.Halted) > 0 {
		lines = append(lines, fmt.Sprintf("guarded tables whose lineage ends with the policy, halted for all readers until you take the change back or run 'kproxy rebuild %s --new-lineage': %s",
			strings.Join(c.Halted, " "), strings.Join(c.Halted, ", ")))
	}
	if len(c.Continued) > 0 {
		lines = append(lines, fmt.Sprintf("guarded tables that go on with other audiences, of which 'kproxy status' tells: %s", strings.Join(c.Continued, ", ")))
	}
	if len(lines) == 0 {
		return "nothing changed"
	}
	return strings.Join(lines, "\n")
}
