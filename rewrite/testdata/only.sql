-- What stands for a readable table has the rows of its partitions and children.
SELECT * FROM ONLY "Icd Codes"
--! 0A000 kproxy does not read ONLY "Icd Codes": what stands for it has the rows of the tables below it, too
--! position: 101
--! hint: Leave ONLY out.

TABLE ONLY wards
--> SELECT * FROM ONLY kproxy_release_public.wards wards

SELECT * FROM ONLY patients p
--> SELECT * FROM ONLY kproxy_release_public.patients p
