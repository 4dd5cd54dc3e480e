package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	ksync "github.com/kproxy/kproxy/sync"
)

// codeUnaccepted is the code of findings about tables that are not as they were accepted.
const codeUnaccepted = "unaccepted"

// checkAccepted warns of protected tables that are halted, or will be, since their columns are
// not those for which the policy was accepted.
func checkAccepted(ctx context.Context, on upstream.Databases, publications []catalog.Publication) (inspect.Report, error) {
	if on.Source == nil {
		return nil, nil
	}
	found, err := ksync.FindUnaccepted(ctx, on.Owner, on.Source, publications)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return nil, nil // there is no store yet, or an old one, of which the check tells
	}
	var report inspect.Report
	for _, u := range found {
		report = append(report, inspect.Finding{
			Severity: inspect.Warning, Code: codeUnaccepted, Table: u.Table, Withholds: true,
			What: "it is not the table that was accepted, and is halted: " + strings.Join(u.Changes, "; "),
			Fix:  fmt.Sprintf("take the change back, or run 'kproxy accept %s', which shows what changed", u.Table),
		})
	}
	return report, err
}
