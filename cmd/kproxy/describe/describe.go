// Package describe keeps what kproxy.describe answers in step with what is published.
package describe

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// describeInterval is how often Run looks for new batches of guarded tables, and the pause before
// another attempt after an error.
const describeInterval = 30 * time.Second

// describeLimit bounds one attempt to write.
const describeLimit = 10 * time.Second

// key is a table as an audience sees it, or the table's own readers.
type key struct {
	audience string
	table    catalog.Name
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.audience, other.audience), k.table.Compare(other.table))
}

// described is the description of one generation of a table.
type described struct {
	generation  int64
	description catalog.Description
	// stays says that readers have a release of another policy, whose description stays.
	stays bool
}

// toDescribe are the descriptions to write. Those of other tables are removed.
type toDescribe struct {
	config *config.Config
	tables map[key]described
}

// Writer keeps the answers of kproxy.describe and its like in step with what is published, in
// a goroutine of its own, so that a slow database delays nothing else. Readers may see a new
// release for a moment before its description. What is withdrawn has none.
type Writer struct {
	logger  *slog.Logger
	pending chan toDescribe // the newest; a buffer of 1
}

// NewWriter returns a Writer that writes while Run runs.
func NewWriter(logger *slog.Logger) *Writer {
	return &Writer{logger: logger, pending: make(chan toDescribe, 1)}
}

// Write passes the descriptions of what is published now to Run, if this process applies changes:
// another process may have another configuration. It does not wait. One goroutine at a time may call
// it.
func (w *Writer) Write(c *config.Config, status ksync.Status, publications []catalog.Publication, withdrawn map[catalog.Name]string) {
	if status.State != ksync.Streaming {
		return
	}
	now := toDescribe{config: c, tables: make(map[key]described)}
	for _, p := range publications {
		name := p.Policy.Table
		table := status.Tables[name]
		if _, gone := withdrawn[name]; gone || table.State != ksync.Published || p.Policy.IsMirrored() {
			continue // rows of a mirrored table are as they are, as those of a readable one
		}
		now.tables[key{table: name}] = described{generation: table.Generation, description: p.Describe(), stays: table.Superseded}
		for _, a := range p.Policy.Seeing() {
			seen, _ := p.For(a.Audience)
			if of, known := table.Audiences[a.Audience]; known && of.Reason == "" {
				now.tables[key{a.Audience, name}] = described{generation: table.Generation, description: seen.Describe(), stays: table.Superseded}
			}
		}
	}
	select {
	case <-w.pending: // superseded
	default:
	}
	w.pending <- now
}

// Run writes until ctx ends.
func (w *Writer) Run(ctx context.Context) {
	var now toDescribe
	written := make(map[key]described)
	again := time.NewTicker(describeInterval)
	defer again.Stop()
	failed := ""
	for {
		select {
		case now = <-w.pending:
			if maps.EqualFunc(now.tables, written, sameDescription) {
				continue
			}
		case <-again.C:
			if now.config == nil || maps.EqualFunc(now.tables, written, sameDescription) && !guards(now) {
				continue
			}
		case <-ctx.Done():
			return
		}
		err := describeAll(ctx, now, written)
		switch {
		case err == nil:
			written, failed = now.tables, ""
		case ctx.Err() == nil && err.Error() != failed:
			failed = err.Error()
			w.logger.Warn("what kproxy.describe answers could not be brought up to date", "error", err)
		}
	}
}

// guards reports whether a table shows changes in batches.
func guards(to toDescribe) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(to.tables)), func(t described) bool {
		return t.description.Updates == catalog.Guarded
	})
}

func sameDescription(a, b described) bool {
	return a.generation == b.generation && a.stays == b.stays && a.description.K == b.description.K &&
		a.description.Constraints == b.description.Constraints && a.description.Updates == b.description.Updates && a.description.OffBy == b.description.OffBy &&
		slices.Equal(a.description.Columns, b.description.Columns) && slices.Equal(a.description.Labels, b.description.Labels) &&
		slices.EqualFunc(a.description.Keys, b.description.Keys, catalog.KeyDescription.Equal)
}
