package sync

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// TestPanicStops has what must not happen happen at every point of a session: the
// process lives on, the Syncer stops for the operator, and no value is in the log.
func TestPanicStops(t *testing.T) {
	t.Parallel()
	for _, point := range []string{FailSnapshotCopied, FailBeforePublication, FailBeforeCommit, FailAfterCommit, FailBeforeAcknowledge} {
		t.Run(point, func(t *testing.T) {
			b := released(t)
			var log bytes.Buffer
			b.config.Logger = slog.New(slog.NewTextHandler(&log, nil))
			b.config.Failpoint = func(name string) {
				if name == point {
					panic("a canary's age is 42")
				}
			}
			b.exec("UPDATE people SET age = age + 1")
			var why string
			if point == FailSnapshotCopied || point == FailBeforePublication {
				why = b.mustHaltWhileRebuilt()
			} else {
				why = b.mustStop()
			}
			if !strings.Contains(why, "internal error") || strings.Contains(why, "canary") {
				t.Errorf("stopped with %q", why)
			}
			text := log.String()
			if strings.Contains(text, "canary") || !strings.Contains(text, "TestPanicStops") || !strings.Contains(text, "kind=string") {
				t.Errorf("the log says %s", text)
			}
			b.config.Failpoint, b.config.Logger = nil, nil
			b.ownerGone()
			s, _ := b.run()
			await(t, "people is published", func() bool { return s.Status().Tables[b.config.Tables[0].Policy.Table].State == Published })
			b.caughtUp(s)
			b.checkStore(s)
		})
	}
}

// mustHaltWhileRebuilt has a table rebuilt that must be halted meanwhile, and returns why.
func (b *bench) mustHaltWhileRebuilt() string {
	b.t.Helper()
	people := b.config.Tables[0].Policy.Table
	if err := Rebuild(b.t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{people}); err != nil {
		b.t.Fatal(err)
	}
	s, stop := b.run()
	await(b.t, "people is halted", func() bool { return s.Status().Tables[people].State == Halted })
	if err := stop(); err != nil {
		b.t.Fatal(err)
	}
	return s.Status().Tables[people].Problem
}

func TestGuard(t *testing.T) {
	t.Parallel()
	silent := slog.New(slog.DiscardHandler)
	if err := guard(silent, func() error { return nil }); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := guard(silent, func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	err := guard(silent, func() error {
		var nobody *time.Time
		return errors.New(nobody.String())
	})
	if stop := (*StopError)(nil); !errors.As(err, &stop) || stop.Fix == "" || transient(err) {
		t.Errorf("a panic became %v", err)
	}
}
