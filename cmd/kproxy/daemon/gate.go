package daemon

import (
	"sync/atomic"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/rewrite"
)

// gate is the one that all sessions ask, also those that began before a reload: the
// rewriter behind it is replaced where its limits change.
type gate struct {
	rewriter atomic.Pointer[rewrite.Rewriter]
}

// Rewrite implements proxy.Gate.
func (g *gate) Rewrite(sql string) (string, []string, error) {
	statement, err := g.rewriter.Load().Rewrite(sql, nil)
	if err != nil {
		return "", nil, err
	}
	return statement.SQL, names(statement.Reads), nil
}

// ScrubMessage implements proxy.Gate.
func (g *gate) ScrubMessage(text string) string { return g.rewriter.Load().ScrubMessage(text) }

// names are tables in the form in which the proxy is told of them.
func names(tables []catalog.Name) []string {
	if len(tables) == 0 {
		return nil
	}
	texts := make([]string, len(tables))
	for i, table := range tables {
		texts[i] = table.String()
	}
	return texts
}

// limit puts another rewriter in place, which knows the snapshot.
func (g *gate) limit(c *config.Config, snapshot *catalog.Snapshot) {
	r := rewrite.New(rewrite.Options{
		Database:          c.Database,
		CacheBytes:        c.Limits.StatementCacheBytes,
		MaxStatementBytes: c.Limits.MaxStatementBytes,
		Pinned:            pinnedByOperator(c.Timeouts),
	})
	r.SetSnapshot(snapshot)
	g.rewriter.Store(r)
}
