-- What the owner receives of the write-ahead log. Changes of partitions are
-- published as changes of the partitioned table.
DO $kproxy$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = {{literal .Publication}}) THEN
    ALTER PUBLICATION {{identifier .Publication}} SET TABLE
{{- range $i, $t := .Protected}}{{if $i}},{{end}}
      ONLY {{$t.SQL}}{{end}};
    ALTER PUBLICATION {{identifier .Publication}} SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
  ELSE
    CREATE PUBLICATION {{identifier .Publication}} FOR TABLE
{{- range $i, $t := .Protected}}{{if $i}},{{end}}
      ONLY {{$t.SQL}}{{end}}
      WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
  END IF;
END
$kproxy$;
