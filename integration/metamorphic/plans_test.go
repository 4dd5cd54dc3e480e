package metamorphic

// planned are queries whose plans are shown.
var planned = []string{
	"SELECT * FROM patients", "SELECT count(*) FROM patients p JOIN icd10 i ON i.code = p.diagnosis", "SELECT * FROM icd10 WHERE code = 'D5'",
	"SELECT * FROM icd10 WHERE code > 'D5' ORDER BY code", "SELECT code FROM icd10 ORDER BY code", "SELECT * FROM wards WHERE id = 3 FOR UPDATE",
	"SELECT * FROM rooms r JOIN wards w ON w.id = r.ward WHERE lower(r.label) = 'room 3'", "SELECT * FROM lockers l JOIN patients p ON true",
	"SELECT diagnosis, count(*) FROM patients GROUP BY 1", "SELECT * FROM episodes WHERE diagnosis = 'D3'", "SELECT * FROM trials", "SELECT * FROM donors",
	"SELECT * FROM by_diagnosis", "SELECT * FROM room_list", "SELECT * FROM notes_open WHERE what = 'note 10'", "SELECT * FROM towns", "SELECT * FROM people ORDER BY illness LIMIT 3",
	"SELECT * FROM visits v JOIN ledger l ON true", "SELECT * FROM pg_class", "SELECT * FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid",
	"SELECT * FROM information_schema.columns", "SELECT * FROM pg_stat_activity", "SELECT * FROM kproxy.tables()", "SELECT * FROM postcodes WHERE pc = '10005'",
	"SELECT * FROM hidden_table", "SELECT * FROM journal", "SELECT name FROM patients", "SELECT xmax FROM icd10", "SELECT * FROM icd10 WHERE ctid = '(0,1)'",
	"SELECT max(code) FROM icd10", "SELECT * FROM staff s LEFT JOIN staff b ON b.id = s.boss", "DECLARE c CURSOR FOR SELECT * FROM codes",
}

var explained = []string{
	"EXPLAIN", "EXPLAIN (COSTS off)", "EXPLAIN (FORMAT json)", "EXPLAIN (FORMAT xml)", "EXPLAIN (FORMAT yaml)", "EXPLAIN VERBOSE", "EXPLAIN (SETTINGS)",
	"EXPLAIN (GENERIC_PLAN)", "EXPLAIN ANALYZE", "EXPLAIN (ANALYZE, TIMING off, SUMMARY off)", "EXPLAIN (ANALYZE, WAL, TIMING off, SUMMARY off)",
	"EXPLAIN (BUFFERS)", "EXPLAIN (ANALYZE, BUFFERS, TIMING off, SUMMARY off)", "EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT json)", "EXPLAIN (SUMMARY)",
	"EXPLAIN (MEMORY)", "EXPLAIN (ANALYZE, SERIALIZE)",
}

// ofPlans explains queries, in all options and formats.
func (f facts) ofPlans() []observable {
	var all []observable
	for _, explain := range explained {
		for _, query := range planned {
			all = append(all, one("plan", simple, explain+" "+query))
		}
	}
	return all
}
