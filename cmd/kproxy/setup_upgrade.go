package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// beforeUpgrade makes the database of the release ready for pg_upgrade, or prints how.
func beforeUpgrade(c *cobra.Command, path string, show, asJSON bool) error {
	if show {
		sql, err := provision.BeforeUpgrade()
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(c.OutOrStdout(), map[string]string{"sql": sql})
		}
		_, err = fmt.Fprint(c.OutOrStdout(), sql)
		return err
	}
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	conn, err := upstream.ConnectOwner(c.Context(), cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(c.Context()))
	if err := provision.PrepareUpgrade(c.Context(), conn); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(c.OutOrStdout(), map[string]any{"ok": true})
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), "ok: the stand-ins for the system catalogs are dropped; upgrade the server, and run 'kproxy setup' before 'kproxy serve'")
	return err
}
