package pgserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// settingsFile is included at the end of postgresql.conf and written anew by
// each Start.
const settingsFile = "kproxy.conf"

const (
	// LocaleVariable names the environment variable that gives clusters a locale
	// other than C: collation, character classes and formats. Messages stay English.
	LocaleVariable = "KPROXY_PG_LOCALE"
	// ZoneVariable names the environment variable that gives servers a time zone
	// other than UTC.
	ZoneVariable = "KPROXY_PG_TIMEZONE"
)

// locale is the cluster's locale, but for messages.
func locale() string { return cmp.Or(os.Getenv(LocaleVariable), "C") }

// initdb makes the cluster. Unless the environment asks for another locale, collation
// and messages are those of C, so that results do not depend on the machine.
func (s *Server) initdb(ctx context.Context) (err error) {
	passwordFile, err := s.passwordFile()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(passwordFile)) }()

	args := []string{
		"--pgdata=" + s.folder.data,
		"--username=" + s.opts.Superuser,
		"--pwfile=" + passwordFile,
		"--auth=scram-sha-256",
		"--encoding=UTF8",
		"--locale=" + locale(),
		"--lc-messages=C",
	}
	if !s.opts.Durable {
		args = append(args, "--no-sync")
	}
	var output bytes.Buffer
	cmd := s.command(ctx, "initdb", args...)
	cmd.Stdout, cmd.Stderr = &output, &output

	// See launch on why the thread is held.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making a PostgreSQL cluster%s: %w: %s", s.owner, err, bytes.TrimSpace(output.Bytes()))
	}
	file, err := os.OpenFile(filepath.Join(s.folder.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	_, err = fmt.Fprintf(file, "\ninclude_if_exists = '%s'\n", settingsFile)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	return nil
}

// passwordFile writes the superuser's password where only the server's user
// can read it, and not in the data folder, which initdb wants empty.
func (s *Server) passwordFile() (string, error) {
	base, err := temporaryBase(s.owner)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(base, temporaryName+"password-")
	if err != nil {
		return "", fmt.Errorf("writing the superuser's password: %w", err)
	}
	_, err = file.WriteString(s.opts.Password + "\n")
	err = errors.Join(err, file.Close(), s.owner.own(file.Name()))
	if err != nil {
		return "", fmt.Errorf("writing the superuser's password: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return file.Name(), nil
}

// configure writes the settings file.
func (s *Server) configure() error {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "",
		"password_encryption":     "scram-sha-256",
		"wal_level":               "logical",
		"max_wal_senders":         "32",
		"max_replication_slots":   "32",
		"max_connections":         "200",
		"timezone":                cmp.Or(os.Getenv(ZoneVariable), "UTC"),
		"log_destination":         "stderr",
		"logging_collector":       "off",
		// Tables that were never analyzed look large. To compile a statement about them takes the
		// processor longer than to run it.
		"jit": "off",
	}
	if !s.opts.Durable {
		// synchronous_commit stays on: a commit that was acknowledged must
		// survive Kill.
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
	}
	maps.Copy(settings, s.opts.Settings)

	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		// PostgreSQL, chapter "Setting Parameters": a quote is doubled; a
		// backslash would escape.
		value := strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(settings[name])
		fmt.Fprintf(&text, "%s = '%s'\n", name, value)
	}
	path := filepath.Join(s.folder.data, settingsFile)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	if err := s.owner.own(path); err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	return nil
}
