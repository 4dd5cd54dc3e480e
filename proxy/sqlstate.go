package proxy

// SQLSTATE codes the proxy itself sends; PostgreSQL documentation, appendix
// "PostgreSQL Error Codes".
const (
	stateConnectionFailure        = "08006"
	stateProtocolViolation        = "08P01"
	stateFeatureNotSupported      = "0A000"
	stateCharacterNotInEncoding   = "22021"
	stateInvalidParameterValue    = "22023"
	stateIdleInTransactionTimeout = "25P03"
	stateTransactionTimeout       = "25P04"
	stateInvalidAuthorization     = "28000"
	stateInvalidPassword          = "28P01"
	stateInvalidCursorName        = "34000"
	stateInvalidCatalogName       = "3D000"
	stateDuplicateStatement       = "42P05"
	stateInsufficientPrivilege    = "42501"
	stateSyntaxError              = "42601"
	stateUndefinedObject          = "42704"
	stateTooManyConnections       = "53300"
	stateProgramLimitExceeded     = "54000"
	stateQueryCanceled            = "57014"
	stateAdminShutdown            = "57P01"
	stateCannotConnectNow         = "57P03"
	stateIdleSessionTimeout       = "57P05"
	stateInternalError            = "XX000"
)

// validSQLState reports whether state is five digits or upper-case letters.
func validSQLState(state string) bool {
	if len(state) != 5 {
		return false
	}
	for _, c := range []byte(state) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
