package crash_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/crash"
)

// TestCrashesAreToldWithoutValues panics where arguments hold a number and a key, whose bytes
// traces of package debug would show.
func TestCrashesAreToldWithoutValues(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]crash.Report{
		"in the deferred function": reported(func() { explode("canary", 0xc0ffee, [4]byte{0xca, 0xfe, 0xba, 0xbe}) }),
		"during another panic": reported(func() {
			defer explode("canary", 0xc0ffee, [4]byte{0xca, 0xfe, 0xba, 0xbe})
			sink(0)
		}),
		"below it": reportedBelow(func() { explode("canary", 0xc0ffee, [4]byte{0xca, 0xfe, 0xba, 0xbe}) }),
	} {
		if told.Kind != "string" {
			t.Errorf("%s: the kind is %s", name, told.Kind)
		}
		if !strings.Contains(told.Stack, "TestCrashesAreToldWithoutValues") {
			t.Errorf("%s: the way to it is not told: %s", name, told.Stack)
		}
		if first, _, _ := strings.Cut(told.Stack, ":"); !strings.HasSuffix(first, "crash_test.explode") {
			t.Errorf("%s: the first place is %s", name, first)
		}
		for _, value := range []string{"canary", "c0ffee", "ca, 0x", "0xca", "babe"} {
			if strings.Contains(told.Stack, value) {
				t.Errorf("%s: told is %q: %s", name, value, told.Stack)
			}
		}
	}
}

func TestStacksAreBounded(t *testing.T) {
	t.Parallel()
	told := reported(func() { sink(1000) })
	if n := strings.Count(told.Stack, " ") + 1; n > 64 || n < 32 {
		t.Errorf("%d places are told", n)
	}
	if told.Kind != "runtime.boundsError" {
		t.Errorf("the kind is %s", told.Kind)
	}
}

func reported(do func()) (told crash.Report) {
	defer func() { told = crash.Of(recover()) }()
	do()
	return told
}

func reportedBelow(do func()) (told crash.Report) {
	below := func(failure any) { told = crash.Of(failure) }
	defer func() { below(recover()) }()
	do()
	return told
}

//go:noinline
func explode(statement string, number int, key [4]byte) {
	if number > int(key[0]) {
		panic("no " + statement)
	}
}

//go:noinline
func sink(depth int) int {
	if depth == 0 {
		var none []int
		return none[depth]
	}
	return sink(depth-1) + 1
}
