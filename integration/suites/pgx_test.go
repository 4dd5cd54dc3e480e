package suites

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestPgx runs the tests of pgx, most of them over TLS.
func TestPgx(t *testing.T) {
	suite := goSuite{
		name:     "pgx",
		module:   "github.com/jackc/pgx/v5",
		packages: []string{".", "stdlib"},
		long:     []string{"pgconn", "pgtype", "pgxpool"},
		// As testsetup/postgresql_setup.sql of pgx.
		setup: []string{"CREATE EXTENSION hstore", "CREATE EXTENSION ltree", "CREATE DOMAIN uint64 AS numeric(20,0)"},
		env: func(w way) []string {
			dsn := fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s", w.host, w.port, w.user, w.password, database)
			encrypted := dsn + " sslmode=verify-full sslrootcert=" + filepath.Join(scratch, "server.crt")
			return []string{
				"PGX_TEST_DATABASE=" + encrypted, "PGX_TEST_TLS_CONN_STRING=" + encrypted,
				"PGX_TEST_TCP_CONN_STRING=" + dsn + " sslmode=disable",
				"PGX_TEST_SCRAM_PASSWORD_CONN_STRING=" + dsn, "PGX_TEST_PGBOUNCER_CONN_STRING=" + dsn, "PGX_TEST_SCRAM_PLUS_CONN_STRING=" + encrypted + " channel_binding=require",
			}
		},
		encrypted: true,
		leftOut: map[string]string{
			"TestListenNotifyWhileBusyIsSafe": "it waits for good where LISTEN is refused",
			"TestConnCheckConn":               "it waits for two minutes for the end of the process whose id the client was told: " + ownPID,
		},
		explained: pgxExplained,
	}
	suite.test(t)
}

// Reasons that several tests share.
const (
	ownPID      = "a session's process id and secret are the proxy's own, pg_terminate_backend does not know them"
	ownName     = "the server's application_name has the client's address, and SHOW tells so"
	sleeps      = "pg_sleep is refused at once, and the test looks at what becomes of it in time only"
	terminates  = "pg_terminate_backend is refused with ERROR, and the test waits for the FATAL of its success"
	copies      = "COPY FROM STDIN is refused, and the test looks at what came of it only"
	longSecrets = "the test takes the server's version for the proxy's: with protocol 3.2 the proxy's secrets have 32 bytes"
)

var pgxExplained = map[string]string{
	"TestFatalRxError":               ownPID,
	"TestFatalTxError":               ownPID,
	"TestConnPing":                   ownPID,
	"TestCheckIdleConn":              ownPID,
	"TestPoolAcquireChecksIdleConns": ownPID,

	"TestPoolBeforeConnect":        ownName,
	"TestConnectWithRuntimeParams": ownName,

	"TestTxRollbackOnClosedConnReturnsErrConnClosed":     sleeps,
	"TestConnContextCanceledCancelsRunningQueryOnServer": sleeps,
	"TestConnCancelRequest":                              sleeps,
	"TestConnCopyToCanceled":                             sleeps,
	"TestBeginTxFatalErrorKillsConn":                     terminates,
	"TestConnDestroyedWhenBeginFailsFatally":             terminates,

	"TestTraceCopyFrom":                    copies,
	"TestConnCopyFromCanceled":             copies,
	"TestConnCopyFromConnectionTerminated": copies,

	"TestConnectProtocolVersion32": longSecrets,

	"TestConnect": "current_user is the reader role",
	"TestConnectWithValidateConnectTargetSessionAttrsReadWrite": "default_transaction_read_only is kproxy's own to set, and off where temporary tables are allowed",
	"TestConnMultiplePrepareAndDeallocate":                      "pg_prepared_statements tells no texts",
	"TestConnectTLS":                                            "pg_stat_ssl has no rows",
}
