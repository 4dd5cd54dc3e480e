package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/dossier"
)

func newReportCheck() *cobra.Command {
	var public, signature string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check the signature of a dossier's file",
		Long: `Check says whether the owner of a key has signed a file of a dossier, and the file is as it was. The
signature is in FILE.jws, unless --signature names another file.

  kproxy report check dossier/dossier.html --public operator.pub

Exit codes: 0 it is; 1 it is not; 2 wrong command line.`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&public, "public", "", "the public key is in this `FILE`: PEM, of openssl pkey -pubout")
	c.Flags().StringVar(&signature, "signature", "", "the signature is in this `FILE`")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if public == "" {
			return usageError{errors.New("--public FILE is needed: the public key of who signed")}
		}
		if signature == "" {
			signature = arguments[0] + signatureEnding
		}
		var texts [3][]byte
		for i, path := range []string{arguments[0], signature, public} {
			var err error
			if texts[i], err = os.ReadFile(path); err != nil {
				return failure{codeMissing, "a signature stands beside its file, where it was signed", err}
			}
		}
		key, err := dossier.ParsePublicKey(texts[2])
		if err != nil {
			return failure{codeConfiguration, "openssl pkey -in PRIVATE -pubout writes it", fmt.Errorf("key %s cannot be used: %w", public, err)}
		}
		if err := dossier.CheckSignature(texts[0], texts[1], key); err != nil {
			return failure{codeUnproven, "do not trust the file", fmt.Errorf("%s: %w", arguments[0], err)}
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]string{"file": arguments[0], "signed_by": public})
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s is as it was signed by the owner of %s\n", arguments[0], strings.TrimSpace(public))
		return err
	}
	return c
}
