package host

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
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

// What ignores that its terminal ends goes on.
func TestInterrupts(t *testing.T) { // not beside others, as signals are the process's
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("this test's own terminal may end")
	}
	if !slices.Contains(Interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("the end of the terminal is no interrupt")
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(Interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("it is one where it is ignored")
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

func TestPeakIsReset(t *testing.T) { // not beside others, whose memory this is
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, which Linux has")
	}
	const size = 1 << 27
	touched := make([]byte, size)
	for i := range touched {
		touched[i] = 1
	}
	runtime.KeepAlive(touched)
	before := Peak(os.Getpid())
	debug.FreeOSMemory()
	if err := ResetPeak(); err != nil {
		t.Skip("skipped: ", err)
	}
	if after := Peak(os.Getpid()); before < size || after > before-size/2 {
		t.Errorf("the peak was %v bytes, and is %v", before, after)
	}
}

func TestUsageIsOfThisProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, which Linux has")
	}
	own, family := Use(os.Getpid()), FamilyUse(os.Getpid())
	if own.Bytes < 1e5 || family.Bytes < own.Bytes/2 || Peak(os.Getpid()) < own.Bytes/2 {
		t.Errorf("it has %v bytes, with children %v, at most %v", own.Bytes, family.Bytes, Peak(os.Getpid()))
	}
	if resident, err := Resident(os.Getpid()); err != nil || float64(resident) < own.Bytes/2 {
		t.Errorf("%d bytes are resident, %v", resident, err)
	}
	if none := Use(-1); none != (Usage{}) {
		t.Errorf("no process has %+v", none)
	}
	if _, err := Resident(-1); err == nil {
		t.Error("no process has memory")
	}
}

func TestLackOfRoomIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, which Linux has")
	}
	if lacking := (Room{Memory: 1, Disk: 1}).Lacking(); lacking != nil {
		t.Errorf("there is no byte of %q", lacking)
	}
	lacking := strings.Join(Room{Memory: 1e18, Disk: 1e18}.Lacking(), "; ")
	if !strings.Contains(lacking, "1000000000.0 GB of memory") || !strings.Contains(lacking, "1000000000.0 GB of disk") {
		t.Errorf("%q", lacking)
	}
}
