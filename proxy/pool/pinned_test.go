package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	for list, want := range map[string][]string{
		"azAZ09_$": {"azaz09_$"}, "9a,Z": {"9a", "z"}, `a ,"B"`: {"a", "B"}, "a": {"a"},
		"": nil, ",a": nil, "a,": nil, "a,,b": nil, "a b": nil, `"a`: nil, `"`: nil, "a-b": nil, "a/b": nil, "a:b": nil, "a@b": nil, "a[b": nil, "a`b": nil, "a{b": nil, "é": nil,
	} {
		if names, ok := splitNames(list); ok != (want != nil) || !slices.Equal(names, want) {
			t.Errorf("%q is %q, %t", list, names, ok)
		}
	}
	if names, ok := splitNames(`"a""b",c ,	"d,e"`); !ok || !slices.Equal(names, []string{`a"b`, "c", "d,e"}) {
		t.Errorf("%q, %v", names, ok)
	}
}

// TestUnsetSettingsAreNamed wants every setting that is missing after login to be told.
func TestUnsetSettingsAreNamed(t *testing.T) {
	t.Parallel()
	pinned := map[string]string{"search_path": "a,,b", "default_transaction_read_only": "on", "application_name": "x"}
	if err := unsetIn(pinned, map[string]string{"search_path": "a,,b", "default_transaction_read_only": "on"}); err != nil || Unset(err) != nil {
		t.Errorf("nothing is missing: %v", err)
	}
	err := fmt.Errorf("logging in: %w", unsetIn(pinned, map[string]string{"search_path": "b"}))
	want := []UnsetSetting{{"search_path", "b", "a,,b"}, {"default_transaction_read_only", "", "on"}}
	if got := Unset(err); !slices.Equal(got, want) || !errors.Is(err, errUnset) || !IsPooler(err) {
		t.Errorf("missing are %v: %v", got, err)
	}
	if text := err.Error(); !strings.Contains(text, `search_path is "b" after login and not "a,,b", default_transaction_read_only is ""`) {
		t.Errorf("it is told as %q", text)
	}
}
