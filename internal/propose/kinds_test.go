package propose_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose"
)

// TestWhatIsNoTableIsLeftOut says of each kind what can be done with it.
func TestWhatIsNoTableIsLeftOut(t *testing.T) {
	t.Parallel()
	for kind, why := range map[catalog.Kind]string{
		catalog.KindView:             "is then published from what its tables publish",
		catalog.KindMaterializedView: "is never published; write it as a view",
		catalog.KindForeignTable:     "copy its rows into a table",
	} {
		proposals := propose.Database([]propose.Table{{Name: catalog.ParseName("patients"), Kind: kind, Total: 9}})
		if len(proposals) != 1 || proposals[0].Verdict != propose.LeaveOut || !strings.Contains(proposals[0].Why, why) {
			t.Errorf("%c: %+v", kind, proposals)
		}
	}
}
