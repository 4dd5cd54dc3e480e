package history

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestLossesOfAudiencesOfPersons: where an audience sees a table of persons without a quasi-identifying column, or without a
// sensitive one, the first loses everything, and the others what they lose in its classes.
func TestLossesOfAudiencesOfPersons(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, "")
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const seen = `; ALTER TABLE kproxy_store.records_7 ADD hour int, ADD ward text;
		UPDATE kproxy_store.records_7 SET hour = day, ward = 'ward ' || day % 20;
		CREATE TABLE kproxy_store.release_press_7 AS SELECT 1 AS kproxy_class, kproxy_row FROM kproxy_store.release_7`
	if _, err := tx.Exec(t.Context(), fmt.Sprintf(storedVisits, 0)+seen, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	p := publishedVisits(catalog.Immediate)
	p.Relation.Columns = append(p.Relation.Columns, catalog.Column{Name: "hour", Type: "integer"}, catalog.Column{Name: "ward", Type: "text", BaseType: "text"})
	hours := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	p.Policy.Columns = append(p.Policy.Columns, catalog.ColumnPolicy{Name: "hour", Role: catalog.QuasiIdentifying, Hierarchy: &hours}, catalog.ColumnPolicy{Name: "ward", Role: catalog.Sensitive})
	p.Attributes, p.Sensitive = append(p.Attributes, catalog.Attribute{Column: "hour", Spec: hours}), []catalog.SensitiveColumn{{Column: "ward"}}
	for _, hidden := range [][]string{nil, {"hour"}, {"ward"}, {"hour", "ward"}} {
		p.Policy.Audiences = []catalog.AudiencePolicy{{Audience: "press", Hidden: hidden}}
		of, _ := p.For("press")
		found, err := MeasureLoss(t.Context(), tx, of, 7)
		if err != nil {
			t.Fatalf("without %v: %v", hidden, err)
		}
		// All of four records are in one class, and one of five loses all.
		if found == nil || found.Records != 4 || math.Abs(found.Whole-1) > 1e-9 || found.Columns["day"] != 1 || found.Columns["hour"] != 1 {
			t.Errorf("without %v, the losses are %+v", hidden, found)
		}
		linked, err := LinkRelease(t.Context(), tx, of, 7, 1)
		if err != nil || linked == nil || linked.Records != 4 || len(linked.Sensitive) != 1-strings.Count(strings.Join(hidden, " "), "ward") {
			t.Errorf("without %v, the attack has %+v, %v", hidden, linked, err)
		}
	}
}

// TestFiguresWithoutThoseOfAnAudience: where what one audience sees cannot be measured, all other figures are there.
func TestFiguresWithoutThoseOfAnAudience(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, storedSeen+"; ALTER TABLE kproxy_store.records_partners_7 DROP day")
	f, err := measureFigures(t.Context(), conn, seenVisits())
	if err == nil || !strings.Contains(err.Error(), "for partners: ") || strings.Contains(err.Error(), "press") {
		t.Errorf("the error is %v", err)
	}
	if f == nil || f.Losses == nil || f.Rows != 4 {
		t.Fatalf("the table's own figures are %+v", f)
	}
	if press, partners := f.Audiences["press"], f.Audiences["partners"]; press.Losses == nil || press.Rows != 4 || partners.Losses != nil || partners.Rows != 4 || partners.Classes != 1 {
		t.Errorf("those of audiences are %+v", f.Audiences)
	}
}

// TestUnmeasuredAudiencesAreWarnedOf: once, until all could be measured again.
func TestUnmeasuredAudiencesAreWarnedOf(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	k := newKeeper(Process{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	name, failed := catalog.Name{Schema: "public", Relation: "visits"}, errors.New("for press: no")
	for i, step := range []struct {
		err  error
		want int
	}{{nil, 0}, {failed, 1}, {failed, 1}, {nil, 1}, {failed, 2}} {
		if k.warn(name, step.err); strings.Count(log.String(), "level=WARN") != step.want {
			t.Errorf("step %d: the log is\n%s", i, log.String())
		}
	}
}
