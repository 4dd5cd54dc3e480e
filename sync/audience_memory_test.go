package sync

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pglogrepl"
)

// TestAudiencesWhileAReleaseCatchesUp: what is told of audiences is of the release that they see. While another one
// catches up, that is what was told before, and nobody is warned of what is to come.
func TestAudiencesWhileAReleaseCatchesUp(t *testing.T) {
	t.Parallel()
	type seen map[string]AudienceStatus
	before, next := seen{"partners": {Classes: 9}, "press": {Classes: 4}}, seen{"partners": {Classes: 2}, "press": {Reason: "too few"}, "further": {Classes: 1}}
	of := memoryTable(t, sizeOnly(3))
	var log bytes.Buffer
	a := memoryApplier()
	a.session.syncer.config.Logger, a.session.tables = slog.New(slog.NewTextHandler(&log, nil)), []*table{of}
	for i, step := range []struct {
		shows         pglogrepl.LSN
		previous      int64
		figures, want seen
		warnings      int
	}{
		{8, 0, before, nil, 0},    // the first release catches up: nobody sees anything
		{0, 0, before, before, 0}, // it is shown
		{9, 3, next, before, 0},   // another one catches up
		{9, 3, nil, before, 0},
		{0, 0, next, next, 1}, // it is shown
		{9, 5, before, next, 1},
		{0, 0, before, before, 1},
	} {
		of.release.showAt, of.release.previous = step.shows, step.previous
		a.session.report(map[*table]TableStatus{of: {Records: 9, Audiences: step.figures}})
		if got := a.session.syncer.Status().Tables[of.layout.name()].Audiences; !maps.Equal(got, step.want) {
			t.Errorf("step %d: audiences see %v, not %v", i, got, step.want)
		}
		if n := strings.Count(log.String(), "withheld from an audience"); n != step.warnings {
			t.Errorf("step %d: there were %d warnings, not %d", i, n, step.warnings)
		}
	}
}

// TestAudiencesAreWarnedOf: the log warns when an audience ceases to see anything of a table that others see, once and by
// its name.
func TestAudiencesAreWarnedOf(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	var log bytes.Buffer
	a := memoryApplier()
	a.session.syncer.config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	step := func(whole string, records int, partners, press string) TableStatus {
		return TableStatus{Reason: whole, Records: records, Audiences: map[string]AudienceStatus{"partners": {Reason: partners}, "press": {Reason: press}}}
	}
	for i, c := range []struct {
		before, now TableStatus
		want        []string
	}{
		{step("", 9, "", ""), step("", 9, "", ""), nil},
		{step("", 9, "", ""), step("", 9, "", "few"), []string{"press"}},
		{step("", 9, "", "few"), step("", 9, "", "fewer"), nil},
		{step("", 9, "", "few"), step("", 9, "few", "few"), []string{"partners"}},
		{step("", 9, "few", "few"), step("", 9, "", ""), nil},
		{step("", 9, "", ""), step("", 9, "few", "few"), []string{"partners", "press"}},
		{TableStatus{}, step("", 9, "", "few"), []string{"press"}},
		{step("", 9, "", ""), step("all of it", 9, "few", "few"), nil}, // which is told of the table
		{step("", 9, "", ""), step("", 0, "", "few"), nil},             // there is nothing to see
	} {
		log.Reset()
		a.session.syncer.warnOfAudiences(of.layout.name(), c.before, c.now)
		var got []string
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			if _, rest, warned := strings.Cut(line, "audience="); warned && strings.Contains(line, "level=WARN") && strings.Contains(line, "relation="+of.layout.name().String()) && strings.Contains(line, "reason=few") {
				name, _, _ := strings.Cut(rest, " ")
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("step %d: the log warns of %v, not %v:\n%s", i, got, c.want, log.String())
		}
	}
}
