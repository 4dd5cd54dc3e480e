package anonymizer_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func TestComparedWith(t *testing.T) {
	t.Parallel()
	piece := workload.Generate(1, workload.Shape{Records: 10, Attributes: 1, Distinct: 3, Sensitive: 2}).Table()
	whole := privacy.NewPopulation(privacy.Summary{Records: 100, Sensitive: []map[uint32]int{{0: 60, 1: 40}}})
	if got := piece.ComparedWith(whole); got.Population() != whole || got.Len() != 10 {
		t.Errorf("a piece of %d records is compared with %d", got.Len(), got.Population().Records)
	}
	if got := piece.Population().Records; got != 10 {
		t.Errorf("the table itself is now compared with %d records", got)
	}
}
