package host

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

func TestMachineIsDescribed(t *testing.T) {
	t.Parallel()
	m := Machine()
	if m.Cores < 1 || m.System == "" {
		t.Errorf("%+v", m)
	}
	if runtime.GOOS == "linux" && m.Memory < 1<<20 {
		t.Errorf("%d bytes of memory", m.Memory)
	}
}

func TestValueOf(t *testing.T) {
	t.Parallel()
	const text = "processor\t: 0\nmodel name\t: A: B\nmodel name\t: other\n"
	if got := valueOf(text, "model name"); got != "A: B" {
		t.Errorf("%q", got)
	}
	if got := valueOf(text, "absent"); got != "" {
		t.Errorf("%q", got)
	}
}

// Work of this process is not that of others.
func TestOthersAreNotUs(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	share, took, err := Others(func() error {
		for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
			runtime.Gosched()
		}
		return failed
	})
	if share < 0 || share > 1 || took < 50*time.Millisecond || !errors.Is(err, failed) {
		t.Errorf("%v, %v, %v", share, took, err)
	}
	if runtime.GOOS == "linux" && Family() <= 0 {
		t.Error("this process has taken no time")
	}
}
