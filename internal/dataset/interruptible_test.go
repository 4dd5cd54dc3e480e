package dataset_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// TestReadingIsInterrupted ends while standard input keeps it waiting, and before it has read a file.
func TestReadingIsInterrupted(t *testing.T) {
	t.Parallel()
	form := config.CSV{Header: true, Delimiter: ','}
	ctx, end := context.WithCancel(t.Context())
	from, to := io.Pipe()
	go func() {
		_, _ = to.Write([]byte("a,b\n1,2\n"))
		end()
	}()
	if _, err := dataset.ReadWatched(ctx, "-", from, form, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("standard input: error %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.ReadWatched(ctx, path, nil, form, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a file: error %v", err)
	}
	if f, err := dataset.ReadWatched(t.Context(), path, nil, form, nil); err != nil || f.Len() != 1 {
		t.Errorf("without an end: %v", err)
	}
}
