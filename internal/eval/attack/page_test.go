package attack

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestPageIsOfThisCode: docs/attack-figures.md shows what `kproxy eval attack` writes.
func TestPageIsOfThisCode(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the page was made on amd64; other processors round sums otherwise")
	}
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	page, err := os.ReadFile("../../../docs/attack-figures.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "\n---\n\n")
	if !found {
		t.Fatal("the page has no line before what the command wrote")
	}
	o, err := Run(context.Background(), Default())
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := o.WriteMarkdown(&written); err != nil {
		t.Fatal(err)
	}
	if written.String() != shown {
		t.Error("the page shows other figures: run kproxy eval attack --out report, and put attack.md into docs/attack-figures.md and the charts into docs/attack")
	}
}
