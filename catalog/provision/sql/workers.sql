-- Passwords are those of the workers' roles, too.
SET LOCAL citus.enable_ddl_propagation = on;
