SELECT birth_date_range, lower(birth_date_range), upper(birth_date_range), isempty(birth_date_range), lower_inc(birth_date_range), upper_inf(birth_date_range) FROM patients

SELECT ward FROM patients WHERE birth_date_range @> date '1955-06-01' AND weight_range && numrange(60, 70) AND NOT weight_range << numrange(40, 50)

SELECT birth_date_range * daterange('1940-01-01', '1980-01-01'), birth_date_range -|- daterange('1980-01-01', NULL), birth_date_range &< daterange('1950-01-01', '1951-01-01') FROM patients

SELECT '{[1,3), [5,9)}'::int4multirange + age_range::int4multirange, unnest(multirange(age_range)) FROM hospital.visits WHERE age_range <@ int4range(20, 60)

SELECT range_merge(age_range, int4range(1, 2)), age_range + int4range(lower(age_range), upper(age_range), '[]') FROM hospital.visits

SELECT years, longs, prices, days, stay, stays, years @> 4, numrange(1, 2) <@ prices, days && daterange(date '2024-01-03', 'infinity'), stays @> timestamptz '2024-01-01 12:00+00' FROM samples

SELECT width_bucket(upper(age_range), ARRAY[20, 40, 60]), count(*) FROM hospital.visits GROUP BY 1

SELECT datemultirange(days, daterange('2025-01-01', '2025-02-01')), nummultirange(prices) @> 3.0, tstzmultirange(stays), '{[2024-01-01,2024-02-01)}'::datemultirange - days::datemultirange FROM samples

SELECT tags[1], tags[1:1], tags[:2], tags[2:], array_length(tags, 1), cardinality(tags), tags || 'x'::text, 'y'::text || tags, tags @> ARRAY['ward'], tags && '{t1,t2}', 't1' = ANY (tags) FROM patients

SELECT matrix[1][2], matrix[2:2][1:2], array_dims(matrix), array_upper(matrix, 2), matrix || ARRAY[[7, 8]], array_to_string(tags, ',', '*'), array_position(tags, 'b'), array_remove(tags, NULL), unnest(matrix) FROM samples

SELECT ARRAY[ward, sex], ARRAY[ARRAY[1, 2], ARRAY[3, 4]], ARRAY[]::int[], '{1,2}'::int[] = ARRAY[1, 2], ARRAY[cost, share] FROM patients

SELECT (ARRAY[1, 2, 3])[2], (string_to_array('a,b,c', ','))[3], (regexp_match('ab12', '([a-z]+)(\d+)'))[2], array_fill(0, ARRAY[2, 2], ARRAY[0, 0]), trim_array(ARRAY[1, 2, 3], 1), array_cat('{1}', '{2}'), array_replace(ARRAY[1, 1], 1, 9)

SELECT details -> 'score', details ->> 'smoker', details #> '{pets,1}', details #>> '{pets,0}', details ? 'score', details ?| ARRAY['x', 'pets'], details ?& ARRAY['score', 'pets'], details @> '{"smoker": true}', '{"smoker": true}' <@ details, details - 'pets', details #- '{pets,0}', details || '{"n": 1}' FROM patients

SELECT details['score'], details['pets'][0], jsonb_typeof(details -> 'pets'), jsonb_set(details, '{score}', '0'), jsonb_pretty(details), jsonb_strip_nulls(details), jsonb_array_length(details -> 'pets') FROM patients

SELECT details @? '$.pets[*] ? (@ == "cat")', details @@ '$.score > 10', jsonb_path_query_array(details, '$.pets[*]'), jsonb_path_exists(details, '$.score ? (@ > $min)', '{"min": 20}'), jsonb_path_query_first(details, 'lax $.pets[last]') FROM patients

SELECT p.ward, e.key, e.value FROM patients p, jsonb_each_text(p.details) e WHERE p.share < 3

SELECT k, count(*) FROM patients, jsonb_object_keys(details) k GROUP BY k

SELECT e FROM patients, jsonb_array_elements(details -> 'pets') WITH ORDINALITY AS a(e, n) WHERE n = 1 AND share < 5

SELECT x.* FROM samples, jsonb_to_record(details) AS x(k int, list jsonb, deep jsonb)

SELECT plain -> 'z', plain ->> 'a', json_typeof(plain), to_json(tags), array_to_json(tags), row_to_json(ROW(1, 'x')), json_build_array(1, 'b', NULL), jsonb_build_object('w', who), json_object('{a,1}'), to_jsonb(place) FROM samples

SELECT jsonb_populate_record(NULL::public.address, '{"city": "X", "zip": "1"}'), (jsonb_populate_record(home, '{"zip": "2"}')).zip FROM patients LIMIT 2

SELECT xpath('/r/v/text()', document), xpath_exists('/r', document), (xpath('/r/@id', document))[1]::text, xmlserialize(CONTENT document AS text), document IS DOCUMENT FROM samples

SELECT xmlelement(NAME p, xmlattributes(ward, cost AS "c"), xmlforest(sex, mood::text AS m), 'x', xmlcomment('c')), xmlconcat('<a/>'::xml, xmlpi(NAME php, 'e')) FROM patients WHERE share < 3

SELECT xmlparse(CONTENT '<a>b</a>'), xmlparse(DOCUMENT '<a/>' PRESERVE WHITESPACE), xmlroot('<a/>'::xml, version '1.0', standalone yes), xmlexists('//v' PASSING BY REF document) FROM samples

SELECT x.* FROM samples, XMLTABLE('/r/v' PASSING document COLUMNS n FOR ORDINALITY, v text PATH '.' DEFAULT '?', id int PATH '../@id') x

SELECT to_tsvector('english', coalesce(remarks, '')) @@ to_tsquery('english', 'complaint & stable'), ts_rank(to_tsvector('simple', coalesce(remarks, 'x')), plainto_tsquery('simple', 'stable')), ts_headline('english', remarks, phraseto_tsquery('english', 'no complaints')) FROM patients

SELECT words @@ 'fox & brown'::tsquery, words || 'x:1'::tsvector, strip(words), setweight(words, 'A'), length(words), numnode('a & b'::tsquery), websearch_to_tsquery('english', '"quick fox" -dog'), 'a'::tsquery && 'b', 'a' <-> 'b'::tsquery FROM samples

SELECT remarks ~ 'stab', remarks ~* 'GRÖ', remarks !~ '^\d', remarks LIKE '%\_' , remarks ILIKE 'größ%', remarks NOT LIKE 'x!%' ESCAPE '!', remarks SIMILAR TO '%(stable|Op)%', remarks NOT SIMILAR TO 'a_' ESCAPE '#', remarks ^@ '100' FROM patients

SELECT regexp_replace(remarks, '([aeiou])', '<\1>', 'g'), regexp_matches(remarks, '(\w+) (\w+)'), regexp_split_to_array(remarks, '\s+'), substring(remarks FROM '\d+'), substring(remarks SIMILAR '%#"[0-9]+#"%' ESCAPE '#'), split_part(remarks, ' ', 1) FROM patients

SELECT upper(ward), initcap(ward), lpad(ward, 12, '.'), reverse(ward), left(ward, -2), right(ward, 3), length(ward), octet_length(ward), position('i' IN ward), overlay(ward PLACING 'X' FROM 2 FOR 1), trim(BOTH 'cy' FROM ward), translate(ward, 'aei', '123'), md5(ward), repeat(ward, 2), concat_ws('-', ward, NULL, sex), format('%s %I %L', ward, 'a b', sex), strpos(ward, 'o'), ascii(ward), chr(65), quote_literal(ward), to_hex(255), encode(sha256(ward::bytea), 'hex'), normalize(ward, NFC), ward IS NFC NORMALIZED FROM patients LIMIT 20

SELECT date_trunc('quarter', admitted, 'Europe/Berlin'), admitted AT TIME ZONE 'America/New_York', extract(isodow FROM admitted), date_part('week', admitted), to_char(admitted AT TIME ZONE 'UTC', 'FMDay, DD TMMonth YYYY HH24:MI:SS.MS'), admitted::date - date '2024-01-01', age(admitted::timestamp, birth_date::timestamp), (admitted, interval '1 day') OVERLAPS (timestamptz '2024-01-05 00:00+00', timestamptz '2024-01-08 00:00+00') FROM patients

SELECT date_bin('6 hours', admitted, timestamptz '2024-01-01 00:00+00'), admitted + los, admitted - interval '1 mon 2 days 03:04:05', los * 1.5, los / 2, -los, justify_days(los * 3), extract(epoch FROM los), make_interval(days => 3, hours => 2), make_date(2024, 2, 29) + 1 FROM patients LIMIT 25

SELECT timestamp '2024-03-31 02:30' AT TIME ZONE 'Europe/Berlin', timestamptz '2024-10-27 02:30+02' AT TIME ZONE INTERVAL '+03:00', time '10:00' + interval '90 min', timetz '10:00+02' AT TIME ZONE 'UTC', date 'epoch', timestamp 'infinity', interval '1' year, interval '1-2' YEAR TO MONTH, interval '3 4:05:06' DAY TO SECOND (0), interval(3) '1.23456 sec', isfinite(date '-infinity'), timezone('UTC', timestamptz '2024-01-01 00:00+00')

-- volatile
SELECT now(), current_date, current_timestamp(3), localtimestamp, localtime(0), current_time, statement_timestamp(), clock_timestamp(), transaction_timestamp(), timeofday(), random(), gen_random_uuid(), 'now'::timestamp

SELECT 1::smallint, 2::int2, 3::bigint, 1.5::real, 1.5::double precision, 1.5::float(20), 12.345::numeric(5, 2), 12::decimal, '12.3'::money, true::text, 't'::bool, 'f'::boolean, 'abc'::char(2), 'abc'::varchar(2), 'abc'::character varying, 'x'::"char", 'n'::name, '\xdead'::bytea, E'\\001'::bytea, B'101'::bit(3), X'1F'::bit varying(8), '1010'::varbit

SELECT '{"a":1}'::json, '{"a":1}'::jsonb, '$.a'::jsonpath, '<a/>'::xml, '00000000-0000-4000-8000-000000000001'::uuid, '10.0.0.1/8'::inet, '10.0.0.0/8'::cidr, '08:00:2b:01:02:03'::macaddr, '08:00:2b:01:02:03:04:05'::macaddr8, '(1,2)'::point, '{1,2,3}'::line, '[(0,0),(1,1)]'::lseg, '((0,0),(1,1))'::box, '[(0,0),(1,1)]'::path, '((0,0),(1,1))'::polygon, '<(0,0),1>'::circle, 'a b'::tsvector, 'a & b'::tsquery, '16/B374D848'::pg_lsn, '1'::oid

SELECT CAST('2024-01-01' AS date), CAST('10:00' AS time(0) without time zone), CAST('10:00+01' AS time with time zone), CAST('2024-01-01 10:00' AS timestamp(0)), CAST('2024-01-01 10:00+00' AS timestamp with time zone), CAST('1 day' AS interval), CAST(NULL AS int), date('2024-01-01'), int4('5'), float8 '1e10', text 'x', bool 'yes', int4 '7'

SELECT '[1,2)'::int4range, '(1,2]'::int8range, '[1.1,2.2]'::numrange, '[2024-01-01,2024-02-01)'::daterange, '[,)'::tsrange, 'empty'::tstzrange, '{}'::int4multirange, '{[1,2)}'::int8multirange, '{[1,2)}'::nummultirange, '{[2024-01-01 00:00,2024-02-01 00:00)}'::tsmultirange, '{}'::tstzmultirange, int4range(1, 5, '(]')

SELECT place <-> point(0, 0), place <@ box '((0,0),(5,5))', circle(place, 2) @> place, address << inet '10.0.0.0/8', host(address), masklen(network), network >>= address, card::macaddr8, flags & B'0110', flags | B'0001', ~flags, flags # B'1111', bits || B'1', get_bit(raw, 0), amount * 2, amount / amount, uid::text, ratio::numeric(10, 3), single::float8, at + span, seen AT TIME ZONE 'UTC', clock - time '01:00', letter, code || title, who FROM samples

SELECT raw, encode(raw, 'base64'), raw || '\x00'::bytea, length(raw), get_byte(raw, 1), set_byte(raw, 0, 255), substring(raw FROM 2), raw = decode('0001', 'hex'), convert_from('\x616263', 'UTF8'), convert_to('ä', 'LATIN1') FROM samples

SELECT feeling, feeling > 'low', feeling = 'good'::mood, feeling::text, enum_range(feeling), enum_first(NULL::mood), enum_range('low'::public.mood, 'fair') FROM samples

SELECT mood, count(*) FROM patients WHERE mood IN ('low'::mood, CAST('good' AS public.mood)) GROUP BY mood

SELECT share::percentage, 50::public.percentage, CAST(NULL AS percentage), ARRAY[share::percentage], '{low,good}'::mood[], share FROM patients LIMIT 3

SELECT (home).city, (home).zip, home, ROW('a', 'b')::address, (ROW('a', 'b')::public.address).city, home = ROW('City 1', NULL)::address, home IS NULL, home IS NOT NULL FROM patients

-- parameters: good|50
SELECT ward, share FROM patients WHERE mood = $1::mood AND share > $2::percentage

-- parameters: fair
SELECT CAST($1 AS public.mood) = mood FROM patients

SELECT (1, 'b') < (1, 'c'), ROW(1, NULL) IS NULL, ROW(1, 2) IS DISTINCT FROM ROW(1, 3), (ward, sex) >= ('s', 'F'), (ward, cost) IN (('surgery', 1), ('urology', 2)), ROW(ward, cost), (ROW(1, 2)).* FROM patients LIMIT 5

SELECT CASE mood WHEN 'low' THEN 1 WHEN 'fair' THEN 2 ELSE 3 END, CASE WHEN weight IS NULL THEN 'none' WHEN weight < 60 THEN 'light' END, coalesce(remarks, ward, ''), nullif(sex, 'F'), greatest(cost, share, 7), least(cost, share) FROM patients

SELECT weight IS NULL, weight IS NOT NULL, weight IS DISTINCT FROM 50, weight IS NOT DISTINCT FROM NULL, (share > 50) IS TRUE, (share > 50) IS NOT FALSE, (weight > 1) IS UNKNOWN, sex BETWEEN 'A' AND 'G', share NOT BETWEEN SYMMETRIC 50 AND 10, NOT sex = 'F' OR ward > 'o' AND share <> 0 FROM patients

SELECT 7 / 2, 7 % 3, -7 / 2, 2 ^ 10, |/ 25.0, ||/ 27.0, @ -5, 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 2, 5!=4, 10::numeric / 3, 1e3, .5 FROM regions LIMIT 1

SELECT abs(-1), ceil(cost), floor(cost), round(cost, 1), trunc(cost), sqrt(cost), power(share, 2), exp(1), ln(cost), log(cost), log(2, 8), mod(share, 7), sign(-5), pi(), degrees(pi()), sin(0), cos(0), atan2(1, 1), gcd(12, 18), lcm(4, 6), factorial(5), cbrt(27), div(7, 2), scale(cost), width_bucket(cost, 0, 1000, 5), to_number('1,234.5', '9,999.9'), to_char(cost, 'FM999,999.00') FROM patients WHERE share = 5

SELECT inet '10.1.2.3' <<= cidr '10.0.0.0/8', broadcast(address), family(address), netmask(network), set_masklen(address, 24), address + 5, address - inet '10.0.0.1', text(address), inet_merge(address, '10.0.99.1'), trunc(card) FROM samples

-- shown as: numeric|public.mood|public.address|daterange|
SELECT pg_typeof(cost)::text, pg_typeof(mood)::text, pg_typeof(home)::text, pg_typeof(birth_date_range)::text FROM patients LIMIT 1

SELECT num_nulls(weight, remarks), num_nonnulls(VARIADIC ARRAY[weight, cost]), concat(VARIADIC ARRAY[ward, sex]), json_build_object(VARIADIC ARRAY['a', ward]) FROM patients

SELECT to_timestamp(1704067200), to_date('05 Dec 2024', 'DD Mon YYYY'), to_timestamp('2024-05-01 10', 'YYYY-MM-DD HH24'), make_timestamptz(2024, 1, 2, 3, 4, 5.5, 'UTC'), make_timestamp(2024, 1, 2, 3, 4, 5), generate_series(date '2024-01-01', date '2024-01-03', interval '1 day')

SELECT json_strip_nulls('{"a":null}'), json_extract_path_text('{"a":{"b":1}}', 'a', 'b'), jsonb_insert('[1,2]', '{0}', '0'), jsonb_path_query('[1,2,3]', '$[*] ? (@ > 1)'), jsonb_path_query_tz('["2024-01-01T00:00:00+00"]', '$[*].datetime()')

SELECT hashtext(ward) = hashtext(ward), isempty('empty'::int4range), bit_length('a'), get_bit(B'10', 0), bit_count(B'101'), crc.c FROM patients, (SELECT 1 AS c) crc LIMIT 1

SELECT p."birth_date"::text || ' ' || p.cost::varchar(3) || p.share::char(1) || E'\t\u00e4' || U&'\00e4' || $$a'b$$ || $x$c$x$ FROM patients p

SELECT cost::int::bool::text, cost::text::numeric, birth_date::timestamp::timestamptz::date, ward::bytea, share::"char", ARRAY[share]::text[]::int[], tags::text, details::text::json, los::time, cost::money FROM patients WHERE share BETWEEN 1 AND 9

SELECT home::text, patients::text FROM patients ORDER BY cost LIMIT 3

SELECT age(timestamp '2024-01-01', timestamp '2020-06-15'), age(timestamptz '2024-01-01 00:00+00', timestamptz '2020-06-15 00:00+00'), extract(year FROM age(date '2024-01-01', birth_date)) FROM patients

SELECT jsonb_populate_record(NULL::wards, '{"ward": "x", "beds": 3}'), (jsonb_populate_record(NULL::public.patients, '{"ward": "y"}')).ward, NULL::patients IS NULL

SELECT NULL::bpchar, 'a '::bpchar = 'a', ward::bpchar, '{a,b}'::_text, ARRAY[1]::_int4, CAST('{1}' AS pg_catalog._numeric), (5).int8, '{low}'::_mood FROM patients LIMIT 2

SELECT twice(cost), public.label(mood), label('low'), sum(twice(cost)) OVER () FROM patients WHERE twice(share) > 150
