package repeats

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logger writes lines without the time.
func logger(to *bytes.Buffer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestRepeatedEventsHaveALineAtOnceAndOneAPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log, to := &Log{}, logger(&text, slog.LevelInfo)
		want := func(lines string) {
			t.Helper()
			synctest.Wait()
			if text.String() != lines {
				t.Fatalf("the log has\n%swant\n%s", text.String(), lines)
			}
			text.Reset()
		}
		note := func(n int) {
			log.Note(to.With("user", "ann"), slog.LevelWarn, Key{"password", "ann"}, "refused", "reason", fmt.Sprint("no. ", n))
		}
		note(1)
		want("level=WARN msg=refused user=ann reason=\"no. 1\"\n")
		for n := range 5000 {
			note(n + 2)
		}
		want("")
		time.Sleep(time.Minute)
		want("level=WARN msg=refused user=ann times=5000 period=1m0s reason=\"no. 5001\"\n")
		note(5002)
		time.Sleep(time.Minute)
		want("")
		time.Sleep(time.Minute)
		want("level=WARN msg=refused user=ann times=1 period=2m0s reason=\"no. 5002\"\n")
		time.Sleep(4 * time.Minute)
		want("")
		note(5003)
		want("level=WARN msg=refused user=ann reason=\"no. 5003\"\n")
		note(5004)
		log.Flush()
		want("level=WARN msg=refused user=ann times=1 period=1m0s reason=\"no. 5004\"\n")
		time.Sleep(time.Hour)
		want("")
	})
}

func TestANightOfEventsHasDozensOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log, to := &Log{}, logger(&text, slog.LevelInfo)
		for range 8 * 60 * 60 {
			log.Note(to, slog.LevelWarn, Key{Kind: "upstream"}, "refused")
			time.Sleep(time.Second)
		}
		log.Flush()
		if lines := strings.Count(text.String(), "\n"); lines > 60 {
			t.Errorf("%d lines in eight hours", lines)
		}
	})
}

// Names are chosen by whoever connects.
func TestNamesOfStrangersMakeNoLinesOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log, to := &Log{}, logger(&text, slog.LevelInfo)
		for n := range 10000 {
			log.Note(to, slog.LevelInfo, Key{"password", fmt.Sprint("user", n)}, "refused")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if lines := strings.Count(text.String(), "\n"); lines != mostKeys+2 {
			t.Errorf("%d lines, want one for each of %d users, one for the first of the others and one for the rest", lines, mostKeys)
		}
		if len(log.runs) != 0 {
			t.Errorf("%d keys are kept", len(log.runs))
		}
	})
}

func TestEachEventHasItsLineAtLevelDebug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log, to := &Log{}, logger(&text, slog.LevelDebug)
		for range 3 {
			log.Note(to, slog.LevelError, Key{Kind: "upstream"}, "refused")
		}
		log.Flush()
		want := "level=ERROR msg=refused\nlevel=DEBUG msg=refused\nlevel=DEBUG msg=refused\nlevel=ERROR msg=refused times=2 period=1m0s\n"
		if text.String() != want {
			t.Errorf("the log has\n%s", text.String())
		}
	})
}
