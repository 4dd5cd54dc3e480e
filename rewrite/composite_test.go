package rewrite

import (
	"strings"
	"testing"
)

// TestColumnsOfComposites adds, renames and asks for columns of values of which all is
// known, something, or nothing.
func TestColumnsOfComposites(t *testing.T) {
	t.Parallel()
	of := func(complete bool, names ...string) *composite {
		c := &composite{complete: complete, row: true}
		for _, name := range names {
			c.add(name, plainValue)
		}
		return c
	}
	// said is a value's columns in order, with ... where there may be others.
	said := func(c *composite) string {
		if c == nil {
			return "nothing"
		}
		text := strings.Join(c.order, ",")
		for _, name := range c.order {
			if is, value := c.has(name); is != knownColumn || value != plainValue && value != nil {
				t.Errorf("%s has %s: %v, %v", text, name, is, value)
			} else if value == nil {
				text += " " + name + "?"
			}
		}
		if c.row {
			text += " row"
		}
		if is, _ := c.has("other"); is == unknownColumn {
			text += " ..."
		}
		return text
	}
	both := func(a, b *composite) *composite {
		sum := of(true)
		sum.addAll(a)
		sum.addAll(b)
		return sum
	}
	for _, test := range []struct {
		got  *composite
		want string
	}{
		{of(true, "a", "b"), "a,b row"},
		{of(false, "a"), "a row ..."},
		{of(true, "a", "a"), "a,a a? a? row"},
		{both(of(true, "a"), of(true, "b")), "a,b row"},
		{both(of(false, "a"), of(true, "b")), "a,b row ..."},
		{both(of(true, "a"), of(false, "b")), "a,b row ..."},
		{both(nil, of(true, "b")), "b row ..."},
		{both(of(true, "a"), nil), "a row ..."},
		{of(true, "a", "b").renamed(nil), "a,b row"},
		{(*composite)(nil).renamed([]string{"x"}), "x x? ..."},
		{(&composite{complete: true}).renamed([]string{"x"}), "x x?"},
		{(&composite{row: true}).renamed([]string{"x"}), "x x? row ..."},
		{of(true, "a", "b").renamed([]string{"x"}), "x,b row"},
		{of(true, "a", "b").renamed([]string{"x", "y"}), "x,y row"},
		{of(true, "a", "b").renamed([]string{"x", "y", "z"}), "x,y,z z? row"},
		{of(false, "a", "b").renamed([]string{"x"}), "x x? row ..."},
		{(*composite)(nil).renamed([]string{"x"}), "x x? ..."},
		{(*composite)(nil).renamed(nil), "nothing"},
	} {
		if got := said(test.got); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	many := of(true)
	for range maxColumns {
		many.add("a", nil)
	}
	if !many.complete || len(many.order) != maxColumns {
		t.Errorf("%d columns, complete %v", len(many.order), many.complete)
	}
	if many.add("b", nil); many.complete || len(many.order) != maxColumns {
		t.Errorf("%d columns, complete %v", len(many.order), many.complete)
	}
}
