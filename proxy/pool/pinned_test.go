package pool

import (
	"slices"
	"testing"
)

func TestSettingsMeanTheSame(t *testing.T) {
	t.Parallel()
	const want = `"kproxy_release_public"`
	for is, same := range map[string]bool{
		want:                              true,
		`kproxy_release_public`:           true,
		` KPROXY_Release_public `:         true,
		`"KPROXY_release_public"`:         false,
		`kproxy_release_public, public`:   false,
		`"$user", kproxy_release_public`:  false,
		`kproxy_release_public,`:          false,
		`"kproxy_release_public"""`:       false,
		`"kproxy_release_public`:          false,
		`kproxy_release_public"`:          false,
		`kproxy release public`:           false,
		``:                                false,
		`""`:                              false,
		`"kproxy_release_public, public"`: false,
	} {
		if got := sameSetting("search_path", is, want); got != same {
			t.Errorf("%s: %v", is, got)
		}
	}
	for is, same := range map[string]bool{"on": true, "ON": false, "": false, "off": false} {
		if got := sameSetting("default_transaction_read_only", is, "on"); got != same {
			t.Errorf("%s: %v", is, got)
		}
	}
	if names, ok := splitNames(`"a""b",c ,	"d,e"`); !ok || !slices.Equal(names, []string{`a"b`, "c", "d,e"}) {
		t.Errorf("%q, %v", names, ok)
	}
}
