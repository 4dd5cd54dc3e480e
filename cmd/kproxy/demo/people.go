package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/verify"
)

// addPeople adds the hospital's persons and what belongs to them to a policy.
func addPeople(policy *catalog.Policy) error {
	histories, err := config.ParsePolicy("histories.yaml", []byte(hospital.HistoriesPolicy))
	if err != nil {
		return fmt.Errorf("reading the policy of the persons: %w", err)
	}
	policy.Tables = append(policy.Tables, histories.Policy().Tables...)
	policy.People = append(policy.People, histories.People...)
	return nil
}

// loadPeople makes persons who are others than the patients: the seed tells them apart.
func loadPeople(ctx context.Context, conn *pgx.Conn, persons int, seed uint64) error {
	return hospital.LoadHistories(ctx, conn, persons, seed+1)
}

// announcePeople says what was published of tables about the same persons, and what an outsider
// may know.
func (s *stage) announcePeople(kind catalog.People, report verify.Report) {
	var tables []string
	var persons, rows int64
	for _, name := range kind.Names() {
		if reason := s.withheld(name); reason != "" {
			s.sayWithheld(name, reason)
			return
		}
		published := reportOf(report, name)
		tables = append(tables, name.Relation)
		rows += published.Rows
		if name == kind.Root {
			persons = published.Rows
		}
	}
	s.say("Published %s together, to be joined: %d rows of %d persons. knows: %v, updates: immediate.",
		strings.Join(tables, ", "), rows, persons, kind.Knows)
	s.say("  %s", kind.Explain())
}

// reportOf is the verifier's report on one table.
func reportOf(report verify.Report, name catalog.Name) verify.TableReport {
	for _, t := range report {
		if t.Table == name.String() {
			return t
		}
	}
	return verify.TableReport{}
}
