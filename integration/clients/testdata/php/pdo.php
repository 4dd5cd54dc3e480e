<?php
// PDO and PHP's own functions for PostgreSQL: parameters, prepared statements by server and by driver, fetches,
// transactions, COPY, what they ask the catalogs.

function step(string $name, callable $work): void
{
    try {
        $text = json_encode($work(), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
    } catch (Throwable $e) {
        $text = 'ERROR ' . $e->getCode() . ' ' . $e->getMessage();
    }
    echo $name, ': ', str_replace("\n", '\n', $text), "\n";
}

function read($value)
{
    return is_resource($value) ? bin2hex(stream_get_contents($value)) : $value;
}

$dsn = sprintf('pgsql:host=localhost;port=%s;dbname=%s;sslmode=verify-full;sslrootcert=%s', getenv('PGPORT'), getenv('PGDATABASE'), getenv('PGSSLROOTCERT'));
$db = null;
foreach (['server' => false, 'driver' => true] as $where => $emulated) {
    $db = new PDO($dsn, getenv('PGUSER'), getenv('PGPASSWORD'), [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => $emulated]);
    $ask = function (string $sql, array $parameters = []) use (&$db) {
        $statement = $db->prepare($sql);
        $statement->execute($parameters);
        return array_map(fn ($row) => array_map('read', $row), $statement->fetchAll(PDO::FETCH_ASSOC));
    };
    step("$where all types", fn () => $ask('SELECT * FROM patients WHERE visit IN (3, 4, 20) ORDER BY visit'));
    step("$where where", fn () => $ask('SELECT visit, title, alive FROM patients WHERE diagnosis = ? AND visit < ? ORDER BY visit', ['I10', 60]));
    step("$where named", fn () => $ask('SELECT count(*) FROM patients WHERE cost > :cost AND mood = :mood', ['cost' => 100, 'mood' => 'good']));
    step("$where repeated", function () use (&$db) {
        $statement = $db->prepare('SELECT title FROM patients WHERE visit = ?');
        $seen = [];
        for ($i = 1; $i < 9; $i++) {
            $statement->execute([$i]);
            $seen[] = $statement->fetchColumn();
        }
        return $seen;
    });
    step("$where columns", function () use (&$db) {
        $statement = $db->query('SELECT visit, cost, tags FROM patients LIMIT 1');
        return array_map(fn ($i) => array_diff_key($statement->getColumnMeta($i), ['pgsql:table_oid' => 0]), range(0, 2));
    });
    step("$where transaction", function () use (&$db, $ask) {
        $db->beginTransaction();
        $n = $ask('SELECT count(*) FROM patients');
        return [$n, $db->inTransaction(), $db->rollBack()];
    });
    step("$where failed", function () use (&$db, $ask) {
        $db->beginTransaction();
        try {
            return $ask('SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p');
        } finally {
            $db->rollBack();
        }
    });
    step("$where scrollable", function () use (&$db) {
        $statement = $db->prepare('SELECT visit FROM patients ORDER BY visit', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
        $statement->execute();
        return [$statement->fetch(PDO::FETCH_NUM), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_PRIOR)];
    });
    step("$where write", fn () => $db->exec("INSERT INTO wards VALUES ('new', 1)"));
    step("$where unknown", fn () => $ask('SELECT nothing FROM patients'));
    step("$where goes on", fn () => $ask('SELECT count(*) FROM patients'));
}
step('copy', fn () => [count($db->pgsqlCopyToArray('patients')), $db->pgsqlCopyToArray('wards', '|', 'null', 'ward, beds')]);
step('copy in', fn () => $db->pgsqlCopyFromArray('wards', ["new\t1\n"]));
step('attributes', fn () => [explode('.', $db->getAttribute(PDO::ATTR_SERVER_VERSION))[0], $db->getAttribute(PDO::ATTR_CONNECTION_STATUS)]);

$conn = pg_connect('application_name=work');
step('pg_query_params', fn () => pg_fetch_all(pg_query_params($conn, 'SELECT visit, tags FROM patients WHERE visit = ANY($1) ORDER BY visit', ['{3,4}'])));
step('pg_prepare', fn () => [pg_result_status(pg_prepare($conn, 'one', 'SELECT title FROM patients WHERE visit = $1')), pg_fetch_all(pg_execute($conn, 'one', [3]))]);
step('pg_meta_data', fn () => pg_meta_data($conn, 'wards'));
step('pg_select', fn () => pg_select($conn, 'wards', ['ward' => 'surgery']));
step('pg_field', function () use ($conn) {
    $result = pg_query($conn, 'SELECT visit, cost, mood, tags FROM patients LIMIT 1');
    return array_map(fn ($i) => [pg_field_name($result, $i), pg_field_type($result, $i), pg_field_size($result, $i), pg_field_table($result, $i)], range(0, 3));
});
step('pg_copy_to', fn () => pg_copy_to($conn, 'wards'));
step('pg_send_query', function () use ($conn) {
    pg_send_query($conn, 'SELECT 1; SELECT count(*) FROM patients; SELECT 1 / 0');
    $seen = [];
    while ($result = pg_get_result($conn)) {
        $seen[] = [pg_fetch_all($result), pg_result_error_field($result, PGSQL_DIAG_SQLSTATE)];
    }
    return $seen;
});
step('pg_parameter_status', fn () => [pg_parameter_status($conn, 'server_encoding'), pg_transaction_status($conn), pg_ping($conn)]);
