package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestAlarms are told once, and once that they are over.
func TestAlarms(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	bounds := config.Alarm{Retained: 1000, Behind: time.Minute}
	var a alarms
	step := func(slot ksync.SlotStatus, state ksync.State, words ...string) {
		t.Helper()
		text.Reset()
		a.look(log, bounds, ksync.Status{State: state, Slot: slot})
		if got := strings.Count(text.String(), "\n"); got != len(words) {
			t.Errorf("%+v: %d lines, want %d:\n%s", slot, got, len(words), text.String())
		}
		for _, word := range words {
			if !strings.Contains(text.String(), word) {
				t.Errorf("%+v: it does not say %q:\n%s", slot, word, text.String())
			}
		}
	}
	step(ksync.SlotStatus{}, ksync.Starting)
	step(ksync.SlotStatus{Retained: 999, Behind: 59 * time.Second, WALStatus: "reserved"}, ksync.Streaming)
	step(ksync.SlotStatus{Retained: 1000, WALStatus: "reserved"}, ksync.Streaming, "level=WARN msg=\"the server keeps much")
	step(ksync.SlotStatus{Retained: 2000, Behind: time.Minute, WALStatus: "reserved"}, ksync.Streaming, "level=WARN msg=\"readers do not see")
	step(ksync.SlotStatus{Retained: 800, Behind: 50 * time.Second, WALStatus: "extended"}, ksync.Streaming, "wal_status=extended")
	step(ksync.SlotStatus{Retained: 749, Behind: 44 * time.Second, WALStatus: "unreserved"}, ksync.Reconnecting, "keeps little", "see the changes again")
	step(ksync.SlotStatus{WALStatus: "reserved"}, ksync.Streaming, "level=INFO msg=\"the server keeps the log")
	step(ksync.SlotStatus{Retained: 5000, Behind: time.Hour, WALStatus: "extended"}, ksync.Following)
	bounds = config.Alarm{}
	step(ksync.SlotStatus{Retained: 5000, Behind: time.Hour, WALStatus: "reserved"}, ksync.Streaming)
}
