package inspect

import (
	"io/fs"
	"strings"
	"testing"
)

func TestServerIsJudged(t *testing.T) {
	t.Parallel()
	good := ServerFacts{
		VersionNum: 150004, Version: "15.4", WalLevel: "logical", ServerEncoding: "UTF8",
		MaxReplicationSlots: 2, SlotsInUse: 1, MaxWalSenders: 2, SendersInUse: 1, Database: "db",
	}
	change := func(f func(*ServerFacts)) ServerFacts {
		changed := good
		f(&changed)
		return changed
	}
	own := slotRow{Plugin: "pgoutput", Database: "db", Active: true}
	full := change(func(f *ServerFacts) { f.SlotsInUse, f.SendersInUse = 2, 2 })
	for _, c := range []struct {
		name  string
		facts ServerFacts
		slots []slotRow
		want  string
	}{
		{"good", good, nil, ""},
		{"too old", change(func(f *ServerFacts) { f.VersionNum = 120018 }), nil, "server-version"},
		{"wal_level", change(func(f *ServerFacts) { f.WalLevel = "replica" }), nil, "wal-level"},
		{"encoding", change(func(f *ServerFacts) { f.ServerEncoding = "SQL_ASCII" }), nil, "server-encoding"},
		{"all taken", full, nil, "slots wal-senders"},
		{"taken by ourselves", full, []slotRow{own}, ""},
		{"slot idle, senders taken", full, []slotRow{{Plugin: "pgoutput", Database: "db"}}, "wal-senders"},
		{"another plugin", good, []slotRow{{Plugin: "wal2json", Database: "db"}}, "slot-foreign"},
		{"another database", good, []slotRow{{Plugin: "pgoutput", Database: "other"}}, "slot-foreign"},
		{"a physical slot", good, []slotRow{{}}, "slot-foreign"},
	} {
		var codes []string
		for _, f := range judgeServer(c.facts, "kproxy", c.slots) {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
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
