package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/scram"
)

func newUser() *cobra.Command {
	c := group(&cobra.Command{
		Use:   "user",
		Short: "Add, list and remove the users of a configuration, and change their passwords",
		Long: `User changes the list of users in the configuration file. The rest of the file stays as it
is, including comments and order. The file is replaced atomically. User refuses a change that
would make the configuration invalid, and a file in which it cannot be sure where the change
belongs; with --print, it prints the lines to write instead.

Running processes use the change after 'kproxy reload'.`,
	})
	c.AddCommand(newUserAdd(), newUserList(), newUserRemove(), newUserPassword())
	return c
}

// oneName refuses anything but one user's name.
func oneName(c *cobra.Command, arguments []string) error {
	if len(arguments) != 1 || arguments[0] == "" {
		return usageError{fmt.Errorf("%s takes the name of one user", c.CommandPath())}
	}
	return nil
}

// secretFlags say where a password comes from.
type secretFlags struct{ stdin, generate bool }

func (s *secretFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&s.stdin, "password-stdin", false, "read the password from standard input's first line")
	c.Flags().BoolVar(&s.generate, "generate", false, "generate a password and print it once")
}

// verifier asks for a password. Made is what was made, empty if it was asked for.
func (s *secretFlags) verifier(c *cobra.Command) (verifier, made string, err error) {
	if s.stdin && s.generate {
		return "", "", usageError{errors.New("--password-stdin and --generate cannot be used together")}
	}
	var password string
	if s.generate {
		made = newSecret()
		password = made
	} else if password, err = readPassword(c.InOrStdin(), !s.stdin && isTerminal()); err != nil {
		return "", "", err
	}
	v, err := scram.New(password)
	if err != nil {
		return "", "", err
	}
	return v.String(), made, nil
}

// changedUser is what became of a user, as JSON.
type changedUser struct {
	User string `json:"user"`
	File string `json:"file,omitempty"`
	Done string `json:"done"`
	// Password is the one that was made; it is kept nowhere.
	Password string `json:"password,omitempty"`
	// YAML are the lines to write, where they were only asked for.
	YAML string `json:"yaml,omitempty"`
}

func (u changedUser) write(c *cobra.Command, asJSON bool) error {
	if asJSON {
		return writeJSON(c.OutOrStdout(), u)
	}
	var b strings.Builder
	if u.YAML != "" {
		b.WriteString("users:\n" + u.YAML)
	}
	if u.Password != "" {
		out := &b
		if u.YAML != "" {
			fmt.Fprintf(c.ErrOrStderr(), "password: %s\n", u.Password)
		} else {
			fmt.Fprintf(out, "password: %s\n", u.Password)
		}
	}
	if u.File != "" {
		fmt.Fprintf(&b, "ok: user %s is %s in %s; 'kproxy reload -c %s' has running processes take it\n", u.User, u.Done, u.File, u.File)
	}
	_, err := fmt.Fprint(c.OutOrStdout(), b.String())
	return err
}

func newUserAdd() *cobra.Command {
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a user with a password",
		Long: `Add asks for a password, at the terminal without echo, and writes the user with the
password's verifier into the configuration. The password itself is stored nowhere.

With --rule, add also appends a rule for the user to those of access, with the keys from
(several addresses separated by spaces), transport, databases, method, client_certificate and
client_name. The default method is scram. The first rule of access that matches a login
decides.`,
		Example: `  kproxy user add ann
  kproxy user add bob --generate --rule "from=10.0.0.0/8 fd00::/8,transport=tls"
  kproxy user add eve --password-stdin --reader bi <password.txt
  kproxy user add ann --print`,
		Args: oneName,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	var secret secretFlags
	secret.add(c)
	flags := c.Flags()
	reader := flags.String("reader", "", "`NAME` of the reader role, of upstream.readers, that the user's sessions run as")
	certificate := flags.String("certificate-name", "", "`NAME` in the user's certificate")
	rule := flags.StringToString("rule", nil, "also write a rule of access, as `KEY=VALUE,...`")
	show := flags.Bool("print", false, "print the lines to write, and change nothing")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		name := arguments[0]
		given, err := ruleOf(name, *rule, flags.Changed("rule"))
		if err != nil {
			return err
		}
		if !*show {
			if err := absent(*path, name); err != nil { // before a password is asked for
				return err
			}
		}
		verifier, made, err := secret.verifier(c)
		if err != nil {
			return err
		}
		entry := []config.Setting{{Key: "name", Values: []string{name}}, {Key: "verifier", Values: []string{verifier}}}
		for _, more := range []config.Setting{{Key: "reader", Values: []string{*reader}}, {Key: "certificate_name", Values: []string{*certificate}}} {
			if more.Values[0] != "" {
				entry = append(entry, more)
			}
		}
		if *show {
			return changedUser{User: name, Done: "printed", Password: made, YAML: config.UserYAML(entry)}.write(c, *asJSON)
		}
		err = rewriteFile(*path, func(text []byte) ([]byte, error) {
			text, err := config.AddUser(text, entry)
			if err == nil && given != nil {
				text, err = config.AddRule(text, given)
			}
			return text, err
		})
		if err != nil {
			return userFailure(name, *path, err)
		}
		return changedUser{User: name, File: *path, Done: "added", Password: made}.write(c, *asJSON)
	}
	return c
}

// absent is an error where there is a user of that name.
func absent(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	_, err = config.AddUser(text, []config.Setting{{Key: "name", Values: []string{name}}})
	if err != nil {
		return userFailure(name, path, err)
	}
	return nil
}

var ruleKeys = []string{"users", "from", "transport", "databases", "method", "client_certificate", "client_name"}

// ruleOf is the rule that a flag asks for; nil without one.
func ruleOf(name string, said map[string]string, asked bool) ([]config.Setting, error) {
	if !asked {
		return nil, nil
	}
	for key := range said {
		if key == "users" || !slices.Contains(ruleKeys, key) {
			return nil, usageError{fmt.Errorf("--rule has no %s: it takes %s", key, strings.Join(ruleKeys[1:], ", "))}
		}
	}
	rule := []config.Setting{{Key: "users", Values: []string{name}}}
	for _, key := range ruleKeys[1:] {
		value := said[key]
		if key == "method" && value == "" {
			value = "scram"
		}
		if values := strings.Fields(value); len(values) > 0 {
			rule = append(rule, config.Setting{Key: key, Values: values})
		}
	}
	return rule, nil
}

func userFailure(name, path string, err error) error {
	switch {
	case errors.Is(err, config.ErrUserExists):
		return failure{codeExists, "'kproxy user password " + name + "' changes the password", fmt.Errorf("there is a user %q in %s", name, path)}
	case errors.Is(err, config.ErrUserMissing):
		return failure{codeMissing, "'kproxy user list' shows the users", fmt.Errorf("there is no user %q in %s", name, path)}
	case errors.Is(err, config.ErrByHand):
		return failure{codeFailed, "change it by hand; 'kproxy user add " + name + " --print' prints the lines to write", fmt.Errorf("%s was not changed: %w", path, err)}
	}
	return fmt.Errorf("%s was not changed: %w", path, err)
}

func newUserList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the users of the configuration, without their verifiers",
		Args:  noArguments,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := parseConfig(*path)
		if err != nil {
			return err
		}
		users := []listedUser{}
		for _, u := range cfg.Users {
			users = append(users, listedUser{u.Name, u.Verifier.IsSet(), u.Reader, u.CertificateName})
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]any{"users": users, "auth_query": cfg.AuthQuery.Query != ""})
		}
		table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NAME\tPASSWORD\tREADER\tCERTIFICATE")
		for _, u := range users {
			password := "yes"
			if !u.Password {
				password = "no"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", u.Name, password, u.Reader, u.Certificate)
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("writing the users: %w", err)
		}
		if cfg.AuthQuery.Query != "" {
			_, err = fmt.Fprintln(c.OutOrStdout(), "and those that auth_query finds")
		}
		return err
	}
	return c
}

type listedUser struct {
	Name        string `json:"name"`
	Password    bool   `json:"password"`
	Reader      string `json:"reader,omitempty"`
	Certificate string `json:"certificate_name,omitempty"`
}

func newUserRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a user; the next reload ends the user's sessions",
		Args:  oneName, ValidArgsFunction: completeUsers,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		name := arguments[0]
		if err := rewriteFile(*path, func(text []byte) ([]byte, error) { return config.RemoveUser(text, name) }); err != nil {
			return userFailure(name, *path, err)
		}
		return changedUser{User: name, File: *path, Done: "removed"}.write(c, *asJSON)
	}
	return c
}

func newUserPassword() *cobra.Command {
	c := &cobra.Command{
		Use:   "password NAME",
		Short: "Change the password of a user; the next reload ends the user's sessions",
		Args:  oneName, ValidArgsFunction: completeUsers,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	var secret secretFlags
	secret.add(c)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		name := arguments[0]
		if err := absent(*path, name); err == nil {
			return userFailure(name, *path, config.ErrUserMissing)
		}
		verifier, made, err := secret.verifier(c)
		if err != nil {
			return err
		}
		if err := rewriteFile(*path, func(text []byte) ([]byte, error) { return config.SetVerifier(text, name, verifier) }); err != nil {
			return userFailure(name, *path, err)
		}
		return changedUser{User: name, File: *path, Done: "changed", Password: made}.write(c, *asJSON)
	}
	return c
}

// rewriteFile changes a configuration, unless that would make it wrong. It adds no mistake
// to those that the file may have, and leaves it alone where it has changed meanwhile.
func rewriteFile(path string, change func([]byte) ([]byte, error)) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	after, err := change(before)
	if err != nil {
		return err
	}
	if mistakes := added(path, before, after); len(mistakes) > 0 {
		return failure{codeConfiguration, "correct what speaks of the user first", fmt.Errorf("the configuration would be wrong:\n%w", mistakes)}
	}
	now, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(now, before) {
		return errors.Join(errors.New("the file has just been changed by somebody else; try again"), err)
	}
	return replaceFile(path, after)
}

// added are the mistakes that a text has and that the one before it did not have.
func added(path string, before, after []byte) config.Errors {
	mistakes := func(text []byte) (all config.Errors) {
		_, err := config.Parse(path, text)
		_ = errors.As(err, &all)
		return all
	}
	earlier := mistakes(before)
	return slices.DeleteFunc(mistakes(after), func(p config.Problem) bool {
		return slices.ContainsFunc(earlier, func(e config.Problem) bool { return e.What == p.What })
	})
}
