package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// codeSeal is the code of findings about the keys that seal the private store.
const codeSeal = "seal"

// checkSeal wants the keys that the private store is sealed with, and warns where it would not be sealed any more.
func checkSeal(ctx context.Context, conn *pgx.Conn, c *config.Config) (inspect.Report, error) {
	ids, err := ksync.SealedWith(ctx, conn)
	switch {
	case err != nil:
		return nil, err
	case !c.Release.Seal.IsSet() && len(ids) > 0:
		return inspect.Report{{
			Severity: inspect.Warning, Code: codeSeal, What: "the private store is sealed, and the configuration has no release.seal: from its next start kproxy publishes the tables afresh, and stores their rows as they are; guarded ones are halted until 'kproxy rebuild TABLE --new-lineage'",
			Fix: "write release.seal, unless that is meant; see docs/sealed.md",
		}}, nil
	case !c.Release.Seal.IsSet():
		return nil, nil
	}
	ring, err := c.Release.Seal.Ring(ctx)
	if err != nil {
		return inspect.Report{{
			Severity: inspect.Error, Code: codeSeal, What: fmt.Sprintf("there are no keys to seal the private store with: %v", err),
			Fix: "correct release.seal: kproxy reads keys as the user that it runs as",
		}}, nil
	}
	var missing []string
	former := false
	for _, id := range ids {
		if former = former || id != ring.First(); !ring.Has(id) {
			missing = append(missing, id)
		}
	}
	switch {
	case len(missing) > 0:
		return inspect.Report{{
			Severity: inspect.Error, Code: codeSeal, What: "the private store is sealed with key " + strings.Join(missing, ", ") + ", which is not among those of release.seal: " + strings.Join(ring.Names(), ", "),
			Fix: "add that key behind the others; if it is lost, see docs/sealed.md",
		}}, nil
	case former:
		return inspect.Report{{
			Severity: inspect.Hint, Code: codeSeal, What: "the private store is sealed with another key than the first one of release.seal",
			Fix: "restart every kproxy with these keys: the one that applies then seals it with the first one",
		}}, nil
	}
	return nil, nil
}
