-- The attributes of role $1. Amazon RDS gives replication by membership.
SELECT r.oid, r.rolsuper AS superuser, r.rolcanlogin AS login,
       r.rolsuper OR r.rolreplication OR EXISTS (
         SELECT FROM pg_roles g WHERE g.rolname = 'rds_replication' AND current_setting('rds.logical_replication', true) IS NOT NULL
           AND pg_has_role(r.oid, g.oid, 'USAGE')) AS replication
FROM pg_roles r WHERE r.rolname = $1
