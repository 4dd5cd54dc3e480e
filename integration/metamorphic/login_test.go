package metamorphic

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// ofLogins logs in with every setting in the startup message, as users and to databases
// that there are or not.
func (f facts) ofLogins() []observable {
	start := func(parameters ...string) observable {
		return observable{family: "login", name: strings.Join(parameters, " "), texts: parameters, way: startup}
	}
	all := []observable{start(), start("options=-c search_path=public"), start("options=-c role=metamorphic_clerk"), start("replication=database"), start("replication=true")}
	for _, name := range []string{"clinic", inside, "hidden_database", "postgres", "template1", "no_such_database"} {
		all = append(all, start("database="+name))
	}
	for _, name := range []string{reader, owner, "postgres", "metamorphic_clerk", "hidden_role", "no_such_user"} {
		all = append(all, start("user="+name))
	}
	for _, name := range f.settings {
		value := "1"
		if strings.HasSuffix(name, "_timeout") {
			value = "100000" // after a millisecond, a busy machine would decide
		}
		all = append(all, start(name+"="+value))
	}
	return all
}

// tap is a connection that keeps what it receives.
type tap struct {
	net.Conn
	mutex    sync.Mutex
	received bytes.Buffer
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.received.Write(p[:n])
	return n, err
}

// logIn logs in and returns what was received, but for what the exchange of a password and
// the key of a session make: both are drawn at random.
func logIn(ctx context.Context, url string, parameters []string) ([]byte, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams = make(map[string]string)
	for _, parameter := range parameters {
		switch name, value, _ := strings.Cut(parameter, "="); name {
		case "user":
			config.User = value
		case "database":
			config.Database = value
		default:
			config.RuntimeParams[name] = value
		}
	}
	config.TLSConfig, config.Fallbacks = nil, nil
	conn := &tap{}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn.Conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return conn, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if pg, err := pgconn.ConnectConfig(ctx, config); err == nil {
		_ = pg.Close(ctx)
	}
	conn.mutex.Lock()
	defer conn.mutex.Unlock()
	return withoutKeys(conn.received.Bytes()), nil
}

// withoutKeys leaves out what authentication and the session's key say.
func withoutKeys(received []byte) []byte {
	var kept []byte
	split(received, func(kind byte, whole []byte) {
		if kind != 'R' && kind != 'K' {
			kept = append(kept, whole...)
		}
	})
	return kept
}
