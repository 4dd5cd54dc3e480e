package sync

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// TestRangeTextAtTheEnds writes ranges with bounds at the ends of their types, and behind them.
func TestRangeTextAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rangeType, lower, upper, want string }{
		{"int4range", "-2147483648", "2147483646", `["-2147483648","2147483646"]`},
		{"int4range", "-2147483649", "2147483647", `(,)`},
		{"int4range", "x", "1x", `(,)`},
		{"int4range", "9223372036854775808", "9", `(,"9"]`},
		{"int8range", "-2147483649", "2147483648", `["-2147483649","2147483648"]`},
		{"int8range", "-9223372036854775808", "9223372036854775806", `["-9223372036854775808","9223372036854775806"]`},
		{"int8range", "-9223372036854775809", "9223372036854775807", `(,)`},
		{"numrange", "-1e400", "1e400", `["-1e400","1e400"]`},
		{"numrange", "", "5", `(,"5"]`},
		{"numrange", "5", "", `["5",)`},
		{"daterange", "2024-01-01", "5874896-12-31", `["2024-01-01","5874896-12-31"]`},
		{"daterange", "2024-01-01", "5874897-01-01", `["2024-01-01",)`},
		{"daterange", "2024-01-01", "99999999999999999999-01-01", `["2024-01-01",)`},
		{"daterange", "2024-01-01", "x-01-01", `["2024-01-01",)`},
		{"daterange", "4713-11-24 BC", "9999999-01-01 BC", `["4713-11-24 BC","9999999-01-01 BC"]`},
		{"daterange", "-infinity", "infinity", `["-infinity","infinity"]`},
	} {
		if got := catalog.RangeText(test.rangeType, test.lower, test.upper); got != test.want {
			t.Errorf("from %s to %s, %s is written %s, not %s", test.lower, test.upper, test.rangeType, got, test.want)
		}
	}
}

// TestPublishedTexts writes what readers see of a class: ranges, values that stand for others,
// texts, and nothing where the attribute is hidden. What looks different differs.
func TestPublishedTexts(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	p := of.parts[0]
	generalizations := make([]hierarchy.Generalization, len(of.layout.attributes))
	for i := range generalizations {
		generalizations[i] = hierarchy.Generalization{Value: "value", Lower: "20", Upper: "29"}
	}
	before := []value{{text: "before"}}
	got := p.published(generalizations, before)
	if len(got) != 1+len(p.generalized) || got[0] != before[0] {
		t.Fatalf("%d values are published as %v", len(p.generalized), got)
	}
	ranges := 0
	for i, c := range p.generalized {
		want := value{text: "value"}
		if c.Part == catalog.Range {
			ranges++
			want.text = `["20","29"]`
		}
		if got[1+i] != want {
			t.Errorf("%s is published as %v", c.Name, got[1+i])
		}
	}
	if ranges == 0 {
		t.Error("no range is published")
	}
	seen := map[string]bool{p.displayedTexts(generalizations): true}
	for i, c := range p.generalized {
		if i > 0 && c.attribute == p.generalized[i-1].attribute {
			continue
		}
		for _, other := range []hierarchy.Generalization{{Hidden: true}, {Value: "NULL", Lower: "1", Upper: "2"}, {Value: `"value","value"`, Lower: "3", Upper: "4"}} {
			whole := generalizations[c.attribute]
			generalizations[c.attribute] = other
			look := p.displayedTexts(generalizations)
			if seen[look] {
				t.Errorf("another %s looks the same: %s", c.Name, look)
			}
			seen[look] = true
			generalizations[c.attribute] = whole
		}
	}
	generalizations[p.generalized[0].attribute].Hidden = true
	if got := p.published(generalizations, nil); !got[0].null || got[0].text != "" || got[len(got)-1].null {
		t.Errorf("a hidden attribute is published as %v", got)
	}
}
