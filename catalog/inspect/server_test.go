package inspect

import (
	"io/fs"
	"strings"
	"testing"
)

func TestServerIsJudged(t *testing.T) {
	t.Parallel()
	good := ServerFacts{
		VersionNum: 150004, Version: "15.4", WalLevel: "logical", ServerEncoding: "UTF8", MaxSlotWALKeepMB: 1000,
		MaxReplicationSlots: 4, SlotsInUse: 2, MaxWalSenders: 4, SendersInUse: 2, Database: "db",
	}
	change := func(f func(*ServerFacts)) ServerFacts {
		changed := good
		f(&changed)
		return changed
	}
	slot := func(change func(*slotRow)) []slotRow {
		own := slotRow{Plugin: "pgoutput", Database: "db"}
		change(&own)
		return []slotRow{own}
	}
	own := slot(func(*slotRow) {})
	standbys := change(func(f *ServerFacts) { f.VersionNum, f.Standbys = 170000, true })
	for _, c := range []struct {
		name  string
		facts ServerFacts
		slots []slotRow
		want  string
	}{
		{"good", good, nil, ""},
		{"too old", change(func(f *ServerFacts) { f.VersionNum = 120018 }), nil, "error server-version"},
		{"wal_level", change(func(f *ServerFacts) { f.WalLevel = "replica" }), nil, "error wal-level"},
		{"no encoding", change(func(f *ServerFacts) { f.ServerEncoding = "SQL_ASCII" }), nil, "error server-encoding"},
		{"Emacs' encoding", change(func(f *ServerFacts) { f.ServerEncoding = "MULE_INTERNAL" }), nil, "error server-encoding"},
		{"another encoding", change(func(f *ServerFacts) { f.ServerEncoding = "EUC_JP" }), nil, ""},
		{"all taken", change(func(f *ServerFacts) { f.SlotsInUse, f.SendersInUse = 4, 4 }), nil, "error slots, error wal-senders"},
		{"one left of each", change(func(f *ServerFacts) { f.SlotsInUse, f.SendersInUse = 3, 3 }), nil, "error slots, error wal-senders"},
		{"one left besides ours", change(func(f *ServerFacts) { f.SlotsInUse = 3 }), own, ""},
		{"none left besides ours", change(func(f *ServerFacts) { f.SlotsInUse = 4 }), own, "warning slots"},
		{"one sender for the stream", change(func(f *ServerFacts) { f.SendersInUse = 3 }), own, "warning wal-senders"},
		{"no sender at all", change(func(f *ServerFacts) { f.SendersInUse = 5 }), own, "error wal-senders"},
		{"another plugin", good, slot(func(s *slotRow) { s.Plugin = "wal2json" }), "error slot-foreign"},
		{"another database", good, slot(func(s *slotRow) { s.Database = "other" }), "error slot-foreign"},
		{"a temporary slot", good, slot(func(s *slotRow) { s.Temporary = true }), "error slot-foreign"},
		{"a physical slot", good, []slotRow{{}}, "error slot-foreign"},
		{"no bound", change(func(f *ServerFacts) { f.MaxSlotWALKeepMB = -1 }), nil, "warning wal-kept"},
		{"standbys without the slot", standbys, own, "hint slot-failover"},
		{"standbys with the slot", standbys, slot(func(s *slotRow) { s.Failover = true }), ""},
		{"standbys, no slot yet", standbys, nil, ""},
		{"standbys that cannot have it", change(func(f *ServerFacts) { f.VersionNum, f.Standbys = 160000, true }), own, ""},
	} {
		var codes []string
		for _, f := range judgeServer(c.facts, "kproxy", c.slots) {
			codes = append(codes, f.Severity.String()+" "+f.Code)
			if f.Fix == "" {
				t.Errorf("%s: no fix for %s", c.name, f)
			}
		}
		if got := strings.Join(codes, ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestStandbysAreJudged: the source is a standby that can decode, and is meant to be one, or is none.
func TestStandbysAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		facts ServerFacts
		meant bool
		want  string
	}{
		{ServerFacts{VersionNum: 150000}, false, ""},
		{ServerFacts{VersionNum: 160000}, true, "hint source-standby"}, // it was promoted
		{ServerFacts{VersionNum: 160000, Standby: true, Feedback: true, Reserves: true}, true, ""},
		{ServerFacts{VersionNum: 160000, Standby: true, Feedback: true, Reserves: true}, false, "error source-standby"},
		{ServerFacts{VersionNum: 150004, Standby: true, Feedback: true, Reserves: true}, true, "error source-standby"},
		{ServerFacts{VersionNum: 160000, Standby: true, Reserves: true}, true, "warning standby-feedback"},
		{ServerFacts{VersionNum: 160000, Standby: true, Feedback: true}, true, "warning standby-feedback"},
	} {
		var codes []string
		for _, f := range judgeStandby(c.facts, c.meant) {
			codes = append(codes, f.Severity.String()+" "+f.Code)
			if f.Fix == "" {
				t.Errorf("no fix for %s", f)
			}
		}
		if got := strings.Join(codes, ", "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
	on := []slotRow{{Plugin: "pgoutput", Database: "d"}}
	facts := ServerFacts{VersionNum: 170000, Database: "d", WalLevel: "logical", MaxReplicationSlots: 5, MaxWalSenders: 5, Standbys: true, Standby: true}
	if report := judgeServer(facts, "kproxy", on); len(report) > 0 {
		t.Errorf("a slot on a standby cannot be copied to others: %s", report)
	}
}

func TestEveryQueryFileHasText(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(sqlFiles, "sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "sql/"), ".sql")
		if !strings.Contains(query(name), "SELECT") {
			t.Errorf("%s has no text", file)
		}
	}
	if query("absent") != "" {
		t.Error("a file that is not there has text")
	}
}
