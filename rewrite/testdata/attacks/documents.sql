-- XML and JSON: entities, files, paths, and functions over a row as a document.

-- refused 22
SELECT xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>')::text || x FROM (SELECT '' AS x) s WHERE xmlparse(DOCUMENT '<a') IS NULL

-- allowed
SELECT xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>')

-- allowed
SELECT xpath('/a/text()', xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'))

-- allowed
SELECT '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>'::xml

-- refused 22
SELECT xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><a/')

-- refused XX 22
SELECT xpath('document("/etc/passwd")', '<a/>')

-- refused XX 22
SELECT xpath('unparsed-entity-uri("e")', '<a/>')

-- allowed
SELECT xpath('//*[contains(., "x")]', xmlforest(p)) FROM people p

-- allowed
SELECT xmlelement(name p, xmlattributes(illness, town), p) FROM people p

-- refused 42
SELECT xmlelement(name p, xmlattributes(name), p) FROM people p

-- refused 42
SELECT xmlforest(p.name, p.remark) FROM people p

-- refused 42
SELECT xmlagg(xmlelement(name p, name) ORDER BY illness) FROM people

-- refused 42
SELECT xmlpi(name p, name), xmlcomment(name) FROM people

-- refused 42
SELECT x.* FROM people, xmltable('/a' PASSING xmlelement(name a, name) COLUMNS t text PATH '.') x

-- refused 42
SELECT x.* FROM people, xmltable('/a' PASSING '<a/>' COLUMNS t text PATH '.' DEFAULT name) x

-- refused 42
SELECT * FROM xmltable(XMLNAMESPACES ('u' AS u), '/a' PASSING table_to_xml('people', true, false, '') COLUMNS name text)

-- refused 42
SELECT xslt_process('<a/>', '<xsl:stylesheet/>')

-- refused 42
SELECT xpath_table('name', 'illness', 'people', '/a', 'true')

-- refused 42
SELECT xpath_string('<a/>', '/a'), xml_encode_special_chars(name) FROM people

-- refused 42
SELECT json_build_object('a', p.name) FROM people p

-- allowed
SELECT jsonb_object_agg(k, v) FROM (SELECT key AS k, value AS v FROM people p, jsonb_each(to_jsonb(p))) s

-- allowed
SELECT jsonb_object_keys(to_jsonb(c)) FROM chart c

-- allowed
SELECT json_object_keys(row_to_json(v)) FROM visits v

-- allowed
SELECT to_jsonb(c) - 'age' - 'ward' FROM chart c

-- allowed
SELECT to_jsonb(c) #>> '{qvzcol_ssn}', to_jsonb(c) ? 'qvzcol_insurer' FROM chart c

-- allowed
SELECT jsonb_path_query(to_jsonb(c), '$.**') FROM chart c

-- allowed
SELECT jsonb_path_query(to_jsonb(c), '$.keyvalue()') FROM chart c

-- allowed
SELECT json_populate_record(NULL::chart, '{"qvzcol_ssn": "x"}')

-- allowed
SELECT jsonb_populate_recordset(NULL::public.people, '[{"name": "x"}]')

-- allowed
SELECT jsonb_populate_record(p, '{"illness": "x"}') FROM people p

-- allowed
SELECT (jsonb_populate_record(p, '{"name": "x"}')).* FROM people p

-- refused 42
SELECT (jsonb_populate_record(p, '{"name": "x"}')).name FROM people p

-- allowed
SELECT * FROM json_to_recordset((SELECT json_agg(people) FROM people)) AS r (a people)

-- refused 42
SELECT r.name FROM people p, json_to_record(row_to_json(p)) AS r (illness text)

-- allowed
SELECT r.name FROM people p, json_to_record(row_to_json(p)) AS r (name text)

-- allowed
SELECT r.* FROM chart c, jsonb_to_record(to_jsonb(c)) AS r (qvzcol_ssn text, qvzcol_insurer text)

-- refused 22
SELECT illness::json FROM people p WHERE illness::json IS NOT NULL

-- refused 42
SELECT jsonb_path_query('{}', illness::jsonpath) FROM people

-- refused 22
SELECT jsonb_path_query(to_jsonb(p), '$.illness.double()') FROM people p

-- refused 22
SELECT (to_jsonb(p) ->> 'illness')::int FROM people p

-- refused 42
SELECT JSON_TABLE(to_jsonb(p), '$[*]' COLUMNS (name text)) FROM people p

-- refused 42
SELECT JSON_VALUE(to_jsonb(p), '$.name' RETURNING people) FROM people p

-- refused 42
SELECT JSON_SERIALIZE(name), JSON_SCALAR(name) FROM people

-- refused 42
SELECT JSON_OBJECTAGG(illness : name) FROM people

-- refused 42
SELECT JSON_ARRAY(SELECT name FROM people)

-- refused 42
SELECT hstore(p) -> 'name' FROM people p

-- refused 42
SELECT (each(hstore(p))).* FROM people p

-- refused 42
SELECT NULL::people #= hstore('name', 'x')

-- refused 42
SELECT populate_record(NULL::people, hstore('a', 'b'))
