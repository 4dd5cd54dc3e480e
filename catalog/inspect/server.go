package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ServerFacts says what the server is and what it has left for replication.
type ServerFacts struct {
	VersionNum int    // as server_version_num: 150004 is 15.4
	Version    string // as server_version
	WalLevel   string // minimal, replica or logical
	// ServerEncoding is the database's encoding, for example UTF8.
	ServerEncoding      string
	MaxReplicationSlots int
	// SlotsInUse are those that exist, but for temporary ones of the session's role.
	SlotsInUse    int
	MaxWalSenders int
	// SendersInUse are those of other roles than the session's.
	SendersInUse int
	// MaxSlotWALKeepMB is max_slot_wal_keep_size in megabytes, -1 being no bound.
	MaxSlotWALKeepMB int `db:"max_slot_wal_keep_mb"`
	// Standbys says that there are physical replication slots, as standbys have them.
	Standbys bool
	// Standby says that the server is a physical standby; Feedback that it tells its primary which rows it needs
	// (hot_standby_feedback), and Reserves that the primary keeps these, and the log, while it is away (primary_slot_name).
	Standby, Feedback, Reserves bool
	// Connections are those that the server lets in beside what it reserves, for superusers and
	// for members of pg_use_reserved_connections.
	Connections int
	// SystemIdentifier tells one cluster from another, also after a restore.
	SystemIdentifier string
	Database         string
}

// Server reads the facts about the server and the database of the connection.
func Server(ctx context.Context, conn *pgx.Conn) (ServerFacts, error) {
	var facts ServerFacts
	err := reading(ctx, conn, func() (err error) {
		facts, err = readServer(ctx, conn)
		return err
	})
	if err != nil {
		return ServerFacts{}, fmt.Errorf("reading the server's settings: %w", err)
	}
	return facts, nil
}

func readServer(ctx context.Context, conn *pgx.Conn) (ServerFacts, error) {
	rows, err := collect[ServerFacts](ctx, conn, "server")
	if err != nil {
		return ServerFacts{}, err
	}
	return rows[0], nil
}
