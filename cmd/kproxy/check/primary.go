package check

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

const codePrimary = "source-primary"

// checkPrimary reports what the primary of a source that is a standby lacks. The standby is read without it.
func checkPrimary(ctx context.Context, source *pgx.Conn, c *config.Config) (report inspect.Report) {
	add := func(severity inspect.Severity, what, fix string) {
		report = append(report, inspect.Finding{Severity: severity, Code: codePrimary, What: what, Fix: fix})
	}
	standby, system, err := systemOf(ctx, source)
	if !c.HasPrimary() || err != nil || !standby {
		return nil
	}
	primary, err := upstream.ConnectPrimary(ctx, c)
	if err != nil {
		add(inspect.Warning, "the primary of the source does not let kproxy in: "+err.Error(), "let source.primary lead there; until then the slot on the standby keeps log while the protected tables are idle, and is made slowly")
		return report
	}
	defer primary.Close(context.WithoutCancel(ctx))
	cascades, of, err := systemOf(ctx, primary)
	switch {
	case err != nil:
		add(inspect.Warning, "the primary of the source cannot be asked: "+err.Error(), "let source.primary lead there")
		return report
	case of != system:
		add(inspect.Error, fmt.Sprintf("the server at source.primary has system identifier %s, and the source %s: the one is not the other's standby", of, system),
			"let source.host lead to a physical standby of source.primary")
		return report
	case cascades:
		add(inspect.Warning, "the server at source.primary is a standby itself, and writes no heartbeats", "let source.primary lead to the primary")
		return report
	}
	var level string
	var may bool
	err = primary.QueryRow(ctx, `SELECT current_setting('wal_level'), coalesce(has_function_privilege(to_regprocedure('pg_catalog.pg_log_standby_snapshot()'), 'EXECUTE'), true)`).Scan(&level, &may)
	if err != nil {
		add(inspect.Warning, "the primary of the source cannot be asked: "+err.Error(), "let source.primary lead there")
		return report
	}
	if level != "logical" {
		add(inspect.Error, fmt.Sprintf("wal_level of the primary is %s, not logical: its standby decodes nothing", level), "ALTER SYSTEM SET wal_level = logical;\n-- on the primary, and restart it")
	}
	if !may {
		add(inspect.Hint, "kproxy may not have the primary log what a new slot on the standby waits for: publishing a table waits up to 15 seconds longer",
			fmt.Sprintf("GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO %s;\n-- on the primary, as 'kproxy setup --side source' does", pgx.Identifier{c.Source.User}.Sanitize()))
	}
	return report
}

// systemOf asks a server whether it is a standby, and for its system identifier.
func systemOf(ctx context.Context, on *pgx.Conn) (standby bool, system string, err error) {
	if on == nil {
		return false, "", nil
	}
	err = on.QueryRow(ctx, "SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system())::text").Scan(&standby, &system)
	return standby, system, err
}
