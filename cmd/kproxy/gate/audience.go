package gate

import (
	"cmp"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/rewrite"
)

// audiences are the rewriters for sessions of audiences. It is immutable.
type audiences struct {
	// of are the audiences of the readers that belong to one, by the readers' names.
	of        map[string]string
	rewriters map[string]*rewrite.Rewriter // by audience
}

// AudienceOf is the audience of a configuration to which a reader belongs, by its name there; the
// main reader has none. It is empty for those who see what the policy's own readers see.
func AudienceOf(c *config.Config, reader string) string {
	for _, r := range c.Upstream.Readers {
		if r.Name == reader && reader != "" {
			return c.Policy.AudienceOf(r.Connection.User)
		}
	}
	return ""
}

// ReaderOf is the name of the reader of a user's sessions; empty for the main one.
func ReaderOf(c *config.Config, user string) string {
	for _, u := range c.Users {
		if u.Name == user {
			return u.Reader
		}
	}
	return c.AuthQuery.Reader
}

// Moved are the readers whose sessions see something else under another configuration since they
// belong to another audience.
func Moved(before, now *config.Config) (readers []string) {
	for _, r := range before.Upstream.Readers {
		if AudienceOf(before, r.Name) != AudienceOf(now, r.Name) {
			readers = append(readers, r.Name)
		}
	}
	return readers
}

// movedError refuses the texts of a session whose reader belongs to another audience than when it
// began.
type movedError struct{}

func (movedError) Error() string    { return "this session's role reads something else now" }
func (movedError) SQLState() string { return "57P01" }
func (movedError) Hint() string     { return "Connect again." }

// rewriter is the one for a session.
func (g *Gate) rewriter(in proxy.State) (*rewrite.Rewriter, error) {
	s, _ := in.(State)
	var reader, audience string
	if s.opened != nil {
		reader, audience = s.reader, s.audience
	}
	own, all := g.Rewriter.Load(), g.audiences.Load()
	switch {
	case all == nil && audience == "":
		return own, nil
	case all == nil || all.of[reader] != audience:
		return nil, movedError{}
	case audience == "":
		return own, nil
	}
	r, known := all.rewriters[audience]
	if !known {
		return nil, movedError{}
	}
	return r, nil
}

// audienceOf is the audience of a reader's sessions that begin now.
func (g *Gate) audienceOf(reader string) string {
	if all := g.audiences.Load(); all != nil {
		return all.of[reader]
	}
	return ""
}

// Snapshots are what the names of sessions resolve to: those of the policy's own readers, and of
// audiences by their names.
type Snapshots struct {
	Own       *catalog.Snapshot
	Audiences map[string]*catalog.Snapshot
}

// SetLimits replaces the rewriters by those with the limits of a configuration, and the snapshots.
// Sessions whose readers belong to another audience than before are refused; see [Moved].
func (g *Gate) SetLimits(c *config.Config, snapshots Snapshots) {
	options := Options(c)
	if n := len(snapshots.Audiences); n > 0 && options.CacheBytes > 0 {
		options.CacheBytes = cmp.Or(options.CacheBytes/(n+1), rewrite.NoCache)
	}
	rewriterOf := func(snapshot *catalog.Snapshot) *rewrite.Rewriter {
		r := rewrite.New(options)
		r.SetSnapshot(snapshot)
		return r
	}
	next := &audiences{of: make(map[string]string), rewriters: make(map[string]*rewrite.Rewriter)}
	for _, reader := range c.Upstream.Readers {
		if audience := AudienceOf(c, reader.Name); audience != "" {
			next.of[reader.Name] = audience
		}
	}
	for name, snapshot := range snapshots.Audiences {
		next.rewriters[name] = rewriterOf(snapshot)
	}
	// Readers who join an audience are refused from here on, until they are served as its own.
	g.audiences.Store(next)
	g.Rewriter.Store(rewriterOf(snapshots.Own))
}

// SetSnapshots replaces the snapshots. The audiences are those of the last SetLimits.
func (g *Gate) SetSnapshots(snapshots Snapshots) {
	g.Rewriter.Load().SetSnapshot(snapshots.Own)
	all := g.audiences.Load()
	for name, snapshot := range snapshots.Audiences {
		if r, known := all.rewriters[name]; known {
			r.SetSnapshot(snapshot)
		}
	}
}

// CacheStats are those of all rewriters together.
func (g *Gate) CacheStats() rewrite.CacheStats {
	stats := g.Rewriter.Load().CacheStats()
	if all := g.audiences.Load(); all != nil {
		for _, r := range all.rewriters {
			one := r.CacheStats()
			stats.Entries, stats.Bytes, stats.Evictions = stats.Entries+one.Entries, stats.Bytes+one.Bytes, stats.Evictions+one.Evictions
		}
	}
	return stats
}
