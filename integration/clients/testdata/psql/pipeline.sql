\set VERBOSITY verbose
\pset null NULL
\warn '== named'
SELECT visit, title FROM patients WHERE visit < $1 ORDER BY visit \parse below
\bind_named below 4 \g
\bind_named below 6 \g
\close_prepared below
\bind_named below 4 \g
\warn '== pipeline'
\startpipeline
SELECT count(*) FROM patients WHERE visit > $1 \bind 7 \sendpipeline
SELECT max(visit) FROM patients \bind \sendpipeline
SELECT title FROM patients WHERE visit = $1 \parse titled
\bind_named titled 3 \sendpipeline
\bind_named titled 5 \sendpipeline
\endpipeline
\warn '== pipeline with errors'
\startpipeline
SELECT 1 \bind \sendpipeline
SELECT 1 / $1::int \bind 0 \sendpipeline
SELECT 2 \bind \sendpipeline
\syncpipeline
SELECT 3 \bind \sendpipeline
\syncpipeline
SELECT nothing FROM patients \bind \sendpipeline
SELECT 4 \bind \sendpipeline
\endpipeline
\warn '== flush in a pipeline'
\startpipeline
SELECT count(*) FROM patients \bind \sendpipeline
\flushrequest
\getresults
SELECT min(visit) FROM patients \bind \sendpipeline
\syncpipeline
\getresults
\endpipeline
\warn '== transaction in a pipeline'
\startpipeline
BEGIN \bind \sendpipeline
SELECT 1 / 0 \bind \sendpipeline
\syncpipeline
SELECT 1 \bind \sendpipeline
\syncpipeline
ROLLBACK \bind \sendpipeline
\endpipeline
SELECT count(*) FROM patients;
