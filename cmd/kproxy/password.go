package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kproxy/kproxy/scram"
)

func newPassword() *cobra.Command {
	return &cobra.Command{
		Use:   "password",
		Short: "Turn a password into the SCRAM-SHA-256 verifier that a configuration's user needs",
		Long: `Password reads a password, from the terminal without echo or from standard
input's first line, and prints the verifier to write into the configuration:

  users:
    - name: analyst
      verifier: SCRAM-SHA-256$4096:...`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			password, err := readPassword()
			if err != nil {
				return err
			}
			verifier, err := scram.New(password)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), verifier)
			return nil
		},
	}
}

func readPassword() (string, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
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
