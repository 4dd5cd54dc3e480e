package sync

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestMemberFields writes values as fields of a row within an array within a line of COPY.
func TestMemberFields(t *testing.T) {
	t.Parallel()
	for v, want := range map[value]string{
		{null: true, text: "not told"}: ``, {}: `\\"\\"`, {text: "plain"}: `plain`, {text: "two words"}: `two words`, {text: "né"}: `né`,
		{text: "a,b"}: `\\"a,b\\"`, {text: "(a"}: `\\"(a\\"`, {text: "a)"}: `\\"a)\\"`, {text: `a"b`}: `\\"a\\"\\"b\\"`, {text: `a\b`}: `\\"a\\\\\\\\b\\"`,
		{text: "a\nb"}: `\\"a\nb\\"`, {text: "a\rb"}: `\\"a\rb\\"`, {text: "a\tb"}: `\\"a\tb\\"`,
	} {
		if got := string(appendMemberField([]byte("before,"), v)); got != "before,"+want {
			t.Errorf("%+v is written %s, not %s", v, got, want)
		}
	}
}

// TestHeldMembersAreNarrow notes records that are as wide as a packed one may be, and wider: what
// is held tells the same of another record only where it shows the same.
func TestHeldMembersAreNarrow(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	c := of.copies
	if len(c.columns) != 2 || c.weights[0] != 1 {
		t.Fatalf("the columns %v of the weights %v are copied", c.columns, c.weights)
	}
	illness := func(text string) []value {
		return of.layout.visitOf(1, 30, map[string]string{"illness": text, "cost": "12"})
	}
	room := packedWidth - memberBytes - 2*columnBytes - len("12")
	for slot, test := range []struct {
		row  []value
		held bool
	}{{illness("flu"), true}, {illness(strings.Repeat("w", room)), true}, {illness(strings.Repeat("w", room+1)), false}} {
		c.put(int32(slot), test.row)
		if c.holds(int32(slot)) != test.held || c.have([]int32{0, int32(slot)}) != test.held || c.shows(int32(slot), test.row) != test.held {
			t.Errorf("a record of %d bytes is held: %t", len(test.row[of.layout.columns.index("illness")].text), !test.held)
		}
	}
	c.weights[0] = 6
	if c.member(illness(strings.Repeat("w", room/6))) == nil || c.member(illness(strings.Repeat("w", room/6+1))) != nil {
		t.Error("the width of arrays is not counted as that of their elements")
	}
	c.weights[0] = 1
	if c.shows(0, illness("gout")) || !c.shows(0, of.layout.visitOf(2, 50, map[string]string{"illness": "flu", "cost": "12"})) || c.shows(7, illness("flu")) {
		t.Error("what is held is not compared with what would be shown")
	}
	kept := illness("flu")
	kept[of.layout.columns.index("cost")] = value{kept: true}
	if c.put(0, kept); c.holds(0) || c.have([]int32{1, 0}) || !c.have(nil) {
		t.Error("a record is held whose values are not all known")
	}
	if got := string(c.appendMember([]byte("{"), 7, 1)); !strings.HasPrefix(got, `{"(7,www`) || !strings.HasSuffix(got, `www,12)"`) {
		t.Errorf("a member is written %s", got)
	}
	c.put(0, illness("flu"))
	c.drop(1)
	if c.drop(9); c.holds(1) || !c.holds(0) {
		t.Error("another record is forgotten")
	}
	if c.clear(); c.holds(0) {
		t.Error("a record is held of nothing")
	}
}

// TestNothingIsHeld asks the copies of a table whose members are not held in memory.
func TestNothingIsHeld(t *testing.T) {
	t.Parallel()
	if c := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons)).newCopies(); c != nil {
		t.Error("a table of parts holds members")
	}
	of := memoryTable(t, sizeOnly(3))
	of.layout.columns[of.layout.columns.index("cost")].UserType = catalog.Name{Schema: "public", Relation: "money"}
	if of.newCopies() != nil {
		t.Error("members are held whose texts are not stable")
	}
	var c *copies
	c.put(1, nil)
	c.drop(1)
	if c.clear(); c.holds(1) || c.have(nil) || c.shows(1, nil) {
		t.Error("something is held of nothing")
	}
}
