-- Large objects that the roles $1 or PUBLIC may read, and settings of the role $2.
WITH setting AS (
  SELECT unnest(s.setconfig) AS pair FROM pg_db_role_setting s
  LEFT JOIN pg_database d ON d.oid = s.setdatabase
  WHERE s.setrole = $2::oid AND (s.setdatabase = 0 OR d.datname = current_database())
)
SELECT (SELECT count(DISTINCT l.oid) FROM pg_largeobject_metadata l
        CROSS JOIN LATERAL aclexplode(coalesce(l.lomacl, acldefault('L', l.lomowner))) a
        WHERE a.grantee = 0 OR a.grantee = ANY ($1::oid[])) AS large_objects,
       EXISTS (SELECT FROM pg_largeobject_metadata) AND current_setting('lo_compat_privileges')::boolean
         AND NOT EXISTS (SELECT FROM setting WHERE pair ~ '^lo_compat_privileges=(off|f|n|0)') AS large_objects_open,
       EXISTS (SELECT FROM setting WHERE pair ~ '^default_transaction_read_only=(on|t|y|1)') AS read_only
