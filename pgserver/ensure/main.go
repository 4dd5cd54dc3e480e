// Command ensure makes sure that the machine has PostgreSQL server binaries
// for the tests, installing them if it must, and prints where they are.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/kproxy/kproxy/pgserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	binaries, err := pgserver.Find(ctx, "")
	if errors.Is(err, pgserver.ErrNotFound) {
		binaries, err = pgserver.Install(ctx, os.Stderr)
	}
	if err != nil {
		return err
	}
	fmt.Printf("PostgreSQL %s in %s\n", binaries.Version, binaries.Dir)
	return nil
}
