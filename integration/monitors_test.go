package integration

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestMonitors has monitors of servers look at kproxy. They find what there is to find, and
// take nothing for measured that was not: sizes are unknown.
func TestMonitors(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(operatedSchema, countedPolicy))
	config := connConfig(t, s.url())

	t.Run("check_postgres", func(t *testing.T) {
		t.Parallel()
		check := rig.Program("check_postgres")
		rig.Need(t, "check-postgres", check != "")
		for action, want := range map[string]string{
			"backends":      `^POSTGRES_BACKENDS OK: .* [0-9]+ of [0-9]+ connections`,
			"query_time":    `^POSTGRES_QUERY_TIME OK: `,
			"timesync":      `^POSTGRES_TIMESYNC OK: `,
			"database_size": `^POSTGRES_DATABASE_SIZE UNKNOWN: `,
		} {
			o := run(t, "", []string{"PGPASSWORD=" + config.Password}, check, "--action="+action, "-H", config.Host, "-p", s.address[strings.LastIndex(s.address, ":")+1:],
				"-u", config.User, "-db", config.Database, "-w", "1000", "-c", "2000")
			if !regexp.MustCompile(want).MatchString(o.stdout) {
				t.Errorf("%s ends with %d:\n%s%s", action, o.code, o.stdout, o.stderr)
			}
		}
	})

	// Its screen is drawn on a terminal, which script makes.
	t.Run("pg_activity", func(t *testing.T) {
		t.Parallel()
		rig.Need(t, "pg-activity", rig.Program("pg_activity") != "" && rig.Program("script") != "")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "script", "--quiet", "--flush", "--command", "stty rows 40 cols 150; pg_activity '"+s.url()+"'", os.DevNull)
		cmd.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8")
		keys, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		screen := &rig.Log{}
		cmd.Stdout, cmd.Stderr = screen, screen
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(screen.String(), "RUNNING QUERIES") && !strings.Contains(screen.String(), "Traceback") && ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
		}
		if _, err := keys.Write([]byte("q")); err != nil {
			t.Error(err)
		}
		err = cmd.Wait()
		if text := screen.String(); err != nil || !strings.Contains(text, "Sessions: ") || strings.Contains(text, "Traceback") {
			t.Errorf("pg_activity ends with %v:\n%s", err, text)
		}
	})
}
