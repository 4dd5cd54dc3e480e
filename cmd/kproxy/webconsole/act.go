package webconsole

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	ksync "github.com/kproxy/kproxy/sync"
)

// Act does what an operator asks for. It does not wait for what takes long: the overview shows the
// progress.
func (s *source) Act(ctx context.Context, a console.Action) ([]string, error) {
	defer s.overview.forget()
	c := s.config()
	var named []catalog.Name
	if a.Table != "" {
		policy, err := policyOf(c, a.Table)
		if err != nil {
			return nil, err
		}
		named = []catalog.Name{policy.Table}
	}
	switch a.Name {
	case "reload":
		return reloadAll(ctx, c)
	case "loglevel":
		return s.setLevel(a.Level)
	case "resync":
		return asked(ctx, c, request.Resync, named, "The comparison with the source has been asked for.")
	case "rebuild":
		return asked(ctx, c, request.Rebuild, named, "The table is published afresh.")
	case "reanonymize":
		if _, err := request.Reanonymize(ctx, c, named, false, func([]ksync.Renewed) {}); err != nil {
			return nil, err
		}
		return []string{"New classes have been asked for. Readers see them where they lose less."}, nil
	}
	return nil, console.ErrUnknown
}

// BeginsLineage reports whether a rebuild of the table begins a new lineage. The configuration may
// differ from what is published.
func (s *source) BeginsLineage(ctx context.Context, table string) (bool, error) {
	c := s.config()
	policy, err := policyOf(c, table)
	if err != nil {
		return false, err
	}
	if policy.Updates.Mode == catalog.Guarded {
		return true, nil
	}
	stored, err := request.Lineages(ctx, c, []catalog.Name{policy.Table})
	return len(stored) > 0, err
}

func asked(ctx context.Context, c *config.Config, wish request.Kind, named []catalog.Name, said string) ([]string, error) {
	if len(named) == 0 {
		return nil, console.InputError("choose a protected table")
	}
	if _, err := request.Submit(ctx, c, wish, named, false, func([]request.Outcome) {}); err != nil && !errors.Is(err, request.ErrNoApplier) {
		return nil, err
	}
	return []string{said + " The overview tells when it is done."}, nil
}

// setLevel sets the level of this process's log.
func (s *source) setLevel(name string) ([]string, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, console.InputError("choose a log level")
	}
	s.process.Level.Set(level)
	return []string{"This process logs from " + strings.ToLower(level.String()) + " on."}, nil
}

func reloadAll(ctx context.Context, c *config.Config) ([]string, error) {
	answers, silent, err := processes.AskReload(ctx, c, false)
	if err != nil {
		return nil, err
	}
	var results []string
	for _, a := range answers {
		said := a.Process + ": " + strings.ReplaceAll(a.String(), "\n", "; ")
		if a.Refused != "" {
			said = a.Process + " refuses the new configuration and goes on with the old one: " + a.Refused
		}
		results = append(results, said)
	}
	if silent > 0 {
		results = append(results, fmt.Sprintf("%d more ended without an answer.", silent))
	}
	return results, nil
}
