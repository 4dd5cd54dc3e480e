-- an identifying column
UPDATE patients SET name = 'renamed ' || id WHERE id BETWEEN 60 AND 62;

-- an identifying column of an immediate table
UPDATE people SET name = 'qvzcanary renamed' WHERE cost = 17;

-- an unpublished column
UPDATE people SET remark = 'qvzcanary changed', added = 'x' WHERE cost BETWEEN 20 AND 30;

-- an unpublished column of a large value
UPDATE episodes SET note = repeat('hidden', 100000) WHERE id = 33;

-- an unpublished enum and domain
UPDATE patients SET group_of = 'O', weight = 99 WHERE id = 70;

-- a key
UPDATE donors SET id = 777 WHERE id = 9;

-- the key of a published record of an immediate table
UPDATE people SET id = id + 1 WHERE cost = 40;

-- a reference to another protected record
UPDATE episodes SET patient = 77 WHERE id = 41;

-- nothing, by an update of everything
UPDATE chart SET qvzcol_insurer = qvzcol_insurer;

-- a column of a partition that is not published
UPDATE trials SET ward = 8 WHERE id = 5;
