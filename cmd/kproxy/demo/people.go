package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/hospital"
)

// addPeople adds the hospital's persons and what belongs to them to a policy.
func addPeople(policy *catalog.Policy) error {
	histories, err := config.ParsePolicy("histories.yaml", []byte(hospital.HistoriesPolicy))
	if err != nil {
		return fmt.Errorf("reading the policy of the persons: %w", err)
	}
	policy.Tables = append(policy.Tables, histories.Policy().Tables...)
	policy.People = histories.People
	return nil
}

// loadPeople makes persons who are others than the patients: the seed tells them apart.
func loadPeople(ctx context.Context, conn *pgx.Conn, persons int, seed uint64) error {
	return hospital.LoadHistories(ctx, conn, persons, seed+1)
}

// announcePeople says what was published of tables about the same persons, and what an outsider
// may know.
func (s *stage) announcePeople(kind catalog.People) {
	var tables []string
	rows := 0
	status := s.daemon.Status().Tables
	for _, name := range kind.Names() {
		if reason := s.withheld(name); reason != "" {
			s.sayWithheld(name, reason)
			return
		}
		tables = append(tables, name.String())
		rows += status[name].Records
	}
	s.say("Published %s together: %d rows of %d persons.", strings.Join(tables, ", "), rows, status[kind.Root].Records)
	s.say("  knows: %v. %s", kind.Knows, kind.Explain())
	for _, t := range s.config.Policy.Tables {
		if t.Table == kind.Root {
			s.say("  %s.", following(s.config.Policy.Released(t).Updates))
		}
	}
}
