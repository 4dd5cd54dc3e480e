package sync

import (
	"testing"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
