package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/proxy/listen"
)

// sslRequest is the code that asks a server whether it speaks TLS (PostgreSQL, "Message
// Formats"). It is answered by one byte, before anything of a login.
const sslRequest = 80877103

func newHealth() *cobra.Command {
	c := &cobra.Command{
		Use:   "health",
		Short: "Report by the exit code whether clients are answered here",
		Long: `Health connects to the first address under listen, as a client does, and asks whether the
server supports TLS. An answer means that clients can log in. Health needs neither a password
nor a database, and suits images without a shell, as the health check of a container. The
endpoint /readyz of the metrics says more: whether what is published can be served.

If proxy_protocol.from includes the address of this machine, local clients must send its
header, which health does not do. Use /healthz instead.`,
		Args: noArguments,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	patience := c.Flags().Duration("timeout", 3*time.Second, "wait at most `LONG` for the answer")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := parseConfig(*path)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), *patience)
		defer cancel()
		if err := answers(ctx, cfg.Listen); err != nil {
			return failure{codeConnection, "is 'kproxy serve' running here, with this configuration?", err}
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]bool{"ok": true})
		}
		return nil
	}
	return c
}

// answers asks for TLS where clients would connect first.
func answers(ctx context.Context, addresses []string) error {
	network, address, err := reachable(addresses)
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return fmt.Errorf("connecting as a client: %w", err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // fails only on closed connections
	}
	request := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), sslRequest)
	if _, err := conn.Write(request); err != nil {
		return fmt.Errorf("asking for TLS: %w", err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return fmt.Errorf("waiting for an answer: %w", err)
	}
	if answer[0] != 'S' && answer[0] != 'N' {
		return fmt.Errorf("%s is answered by something else than a PostgreSQL server", address)
	}
	return nil
}

// reachable is the first address of host and port in a form that can be connected to from
// this machine.
func reachable(addresses []string) (network, address string, err error) {
	for _, l := range addresses {
		host, port, err := net.SplitHostPort(l)
		if err != nil {
			continue // the folder of a Unix socket
		}
		if port == "0" {
			return "", "", errors.New("listen has port 0: nobody but the running process knows where clients connect")
		}
		if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
			host = "localhost"
		}
		return "tcp", net.JoinHostPort(host, port), nil
	}
	for _, folder := range addresses {
		return "unix", filepath.Join(folder, ".s.PGSQL."+strconv.Itoa(listen.DefaultPort)), nil
	}
	return "", "", errors.New("listen is empty: systemd opens the sockets, and health does not know them")
}
