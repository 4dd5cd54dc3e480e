SELECT 1
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

EXPLAIN SELECT 1
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

TABLE patients
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

VALUES (1)
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

COPY patients TO STDOUT
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

PREPARE p AS SELECT 1
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

EXECUTE p
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

DECLARE c CURSOR FOR SELECT 1
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

FETCH c
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

SELECT set_config('jit', 'off', false)
--! 55000 statements cannot be checked at the moment
--! position: 1
--! hint: The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.

BEGIN
--> BEGIN

ROLLBACK
--> ROLLBACK

SET jit = off
--> SET jit TO OFF

RESET jit
--> RESET jit

SHOW jit
--> SHOW jit

DISCARD ALL
--> DISCARD ALL

DEALLOCATE p
--> DEALLOCATE p

CLOSE c
--> CLOSE c

UNLISTEN *
--> UNLISTEN *
