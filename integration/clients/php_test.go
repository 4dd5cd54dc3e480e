package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestPHP has PHP's own interfaces to PostgreSQL work.
func TestPHP(t *testing.T) {
	heavy(t)
	t.Parallel()
	rig.Need(t, "php-cli with php-pgsql", exec.Command("php", "-r", "exit(extension_loaded('pdo_pgsql') && extension_loaded('pgsql') ? 0 : 1);").Run() == nil)
	compare(t, "php", program(nil, "php", "-d", "display_errors=stderr", "-d", "error_reporting=0", filepath.Join("testdata", "php", "pdo.php")))
}
