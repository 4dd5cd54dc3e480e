// Command ensure makes sure that the machine has PostgreSQL server binaries
// for the tests, installing them if it must, and prints where they are.
//
//	KPROXY_PG_VERSION=15 ensure -pinned
//
// fetches the build of the major version that the tests are pinned to, whatever else the
// machine has, and prints its folder alone, for KPROXY_PG_BIN: a minor version that is
// often another than the machine's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/kproxy/kproxy/internal/pgserver"
)

func main() {
	pinned := flag.Bool("pinned", false, "fetch the pinned build of the version that KPROXY_PG_VERSION names, and print its folder")
	flag.Parse()
	if err := run(*pinned); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(pinned bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if pinned {
		return fetch(ctx)
	}
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

func fetch(ctx context.Context) error {
	if os.Getenv(pgserver.MajorVariable) == "" {
		return fmt.Errorf("ensure: -pinned needs a major version in %s", pgserver.MajorVariable)
	}
	binaries, err := pgserver.Install(ctx, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Println(binaries.Dir)
	return nil
}
