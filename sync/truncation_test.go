package sync

import (
	"slices"
	"testing"
)

// TestTruncations knows a difference that the stream has told of: that of a plain table whose
// file is of a transaction which truncated it. Those before are forgotten.
func TestTruncations(t *testing.T) {
	t.Parallel()
	before := leavesOf(definition{rest: "rest"}, 1)
	now := leavesOf(before, 1) // of transaction 7
	now.states[0] = "another file"
	nobody := leavesOf(before, 1)
	nobody.by[0] = 0
	for name, test := range map[string]struct {
		now, before definition
		by, left    truncations // left is nil where they explain nothing
	}{
		"truncated":           {now, before, truncations{7}, truncations{7}},
		"and once more":       {now, before, truncations{5, 6, 7, 9}, truncations{7, 9}},
		"by another":          {now, before, truncations{8}, nil},
		"by nobody":           {now, before, nil, nil},
		"by no transaction":   {nobody, before, truncations{7}, nil},
		"with something else": {leavesOf(definition{rest: "other"}, 1), before, truncations{7}, nil},
		"with another label":  {leavesOf(definition{rest: "rest", labels: []string{"1 new"}}, 1), before, truncations{7}, nil},
		"another leaf":        {leavesOf(before, 2), before, truncations{7}, nil},
		"several leaves":      {leavesOf(before, 1, 2), leavesOf(before, 1, 2), truncations{7}, nil},
	} {
		by := slices.Clone(test.by)
		for range 2 { // it may be found twice
			explained := by.explain(test.before, test.now)
			if explained != (test.left != nil) || explained && !slices.Equal(by, test.left) || !explained && !slices.Equal(by, test.by) {
				t.Errorf("%s: %t, %v", name, explained, by)
			}
		}
	}
}

// TestTruncationsAreBounded keeps the last ones.
func TestTruncationsAreBounded(t *testing.T) {
	t.Parallel()
	var some truncations
	for i := range uint32(maxTruncations + 3) {
		some.add(i + 1)
	}
	if len(some) != maxTruncations || some[0] != 4 || some[maxTruncations-1] != maxTruncations+3 {
		t.Errorf("%d are left, from %d on", len(some), some[0])
	}
}
