package request

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Reanonymize asks the running kproxy to make new classes for the named tables, or for all
// tables with immediate updates. With wait, it reports progress to tell and returns the
// outcomes. See sync.Reanonymize.
func Reanonymize(ctx context.Context, c *config.Config, named []catalog.Name, wait bool, tell func([]ksync.Renewed)) ([]ksync.Renewed, error) {
	tables, err := renewable(c.Policy, named)
	if err != nil {
		return nil, err
	}
	owner, source, _, err := upstream.Logins(c)
	if err != nil {
		return nil, err
	}
	return ksync.Reanonymize(ctx, owner, source, c.Slot, tables, wait, tell)
}

// renewable returns the named tables of the policy, or all that can be re-anonymized.
func renewable(p catalog.Policy, named []catalog.Name) ([]catalog.Name, error) {
	modes := make(map[catalog.Name]catalog.UpdateMode)
	var all []catalog.Name
	for _, t := range p.Tables {
		modes[t.Table] = t.Updates.Mode
		if t.Updates.Mode == catalog.Immediate {
			all = append(all, t.Table)
		}
	}
	if len(named) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("every table is guarded, and %s", whyGuarded)
		}
		return all, nil
	}
	for _, name := range named {
		switch mode, protected := modes[name]; {
		case !protected:
			return nil, &noTableError{name: name, policy: p}
		case mode == catalog.Guarded:
			return nil, fmt.Errorf("%s is guarded, and %s", name, whyGuarded)
		case mode == catalog.Mirrored:
			return nil, fmt.Errorf("%s is mirrored: it has no classes", name)
		}
	}
	return named, nil
}

const whyGuarded = "a guarded table is not re-anonymized: readers who compare new classes with the old ones could single people out " +
	"('kproxy rebuild TABLE --new-lineage' starts a new lineage, at that price)"
