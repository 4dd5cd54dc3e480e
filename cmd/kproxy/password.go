package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kproxy/kproxy/internal/scram"
)

func newPassword() *cobra.Command {
	c := &cobra.Command{
		Use:   "password",
		Short: "Make the SCRAM-SHA-256 verifier of a password, for a user in the configuration",
		Long: `Password reads a password, from the terminal without echo or from the first line of
standard input, and prints the verifier to write into the configuration:

  users:
    - name: analyst
      verifier: SCRAM-SHA-256$4096:...

'kproxy user add' does both.`,
		Args: noArguments,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		password, err := readPassword(c.InOrStdin(), isTerminal())
		if err != nil {
			return err
		}
		verifier, err := scram.New(password)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]string{"verifier": verifier.String()})
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), verifier)
		return err
	}
	return c
}

// newSecret is a password that nobody has to remember, of 128 random bits and more.
func newSecret() string { return strings.ToLower(rand.Text()) }

func isTerminal() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// longestPassword is far above what a password can be, in bytes.
const longestPassword = 4096

// readPassword asks at the terminal, or reads the first line of what is piped in.
func readPassword(in io.Reader, terminal bool) (string, error) {
	if !terminal {
		line, err := bufio.NewReader(io.LimitReader(in, longestPassword)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		password := strings.TrimRight(line, "\r\n")
		if password == "" {
			return "", errors.Join(errors.New("there is no password on standard input"), err)
		}
		return password, nil
	}
	ask := func(prompt string) (string, error) {
		fmt.Fprint(os.Stderr, prompt)
		password, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		return string(password), err
	}
	password, err := ask("Password: ")
	if err != nil {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	if password == "" {
		return "", errors.New("the password is empty")
	}
	again, err := ask("Again: ")
	if err != nil {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	if again != password {
		return "", errors.New("the two passwords differ")
	}
	return password, nil
}
