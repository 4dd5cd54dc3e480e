//! tokio-postgres: types, prepared and pipelined statements, portals, COPY, cancelling, transactions, notices.
use clients::{parameter, step, Digest, LARGE, SLOW};
use futures_util::{future, pin_mut, StreamExt, TryStreamExt};
use native_tls::{Certificate, TlsConnector};
use postgres_native_tls::MakeTlsConnector;
use std::error::Error;
use std::fs;
use std::time::Duration;
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::types::{Json, Type};
use tokio_postgres::{AsyncMessage, Client, Config, IsolationLevel, Row, SimpleQueryMessage};

type Outcome<T> = Result<T, String>;

/// All that an error has, which its text leaves out.
fn told(error: tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(e) => format!("{} {} {} detail {:?} hint {:?} position {:?}", e.severity(), e.code().code(), e.message(), e.detail(), e.hint(), e.position()),
        None => format!("{error} {:?}", error.source().map(|s| s.to_string())),
    }
}

fn tls() -> MakeTlsConnector {
    let root = Certificate::from_pem(&fs::read(parameter("PGSSLROOTCERT")).unwrap()).unwrap();
    MakeTlsConnector::new(TlsConnector::builder().add_root_certificate(root).build().unwrap())
}

fn config() -> Config {
    let mut c = Config::new();
    c.host(parameter("PGHOST")).port(parameter("PGPORT").parse().unwrap()).user(parameter("PGUSER")).password(parameter("PGPASSWORD")).dbname(parameter("PGDATABASE"));
    c.ssl_mode(SslMode::Require).channel_binding(ChannelBinding::Require).application_name("work");
    c
}

/// Connects; the notices that come are returned by the second value when the client is gone.
async fn connect(c: &Config) -> Outcome<(Client, tokio::task::JoinHandle<Vec<String>>)> {
    let (client, mut connection) = c.connect(tls()).await.map_err(told)?;
    let notices = tokio::spawn(async move {
        let mut seen = Vec::new();
        let mut messages = futures_util::stream::poll_fn(move |cx| connection.poll_message(cx));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notice(n) = message {
                seen.push(format!("{} {} {}", n.severity(), n.code().code(), n.message()));
            }
        }
        seen
    });
    Ok((client, notices))
}

/// Rows as texts, for queries all of whose columns are texts.
fn texts(rows: Vec<Row>) -> Vec<Vec<Option<String>>> {
    rows.iter().map(|r| (0..r.len()).map(|i| r.get(i)).collect()).collect()
}

async fn simple(c: &Client, sql: &str) -> Outcome<Vec<String>> {
    let messages = c.simple_query(sql).await.map_err(told)?;
    Ok(messages.iter().map(|m| match m {
        SimpleQueryMessage::Row(r) => format!("{:?}", (0..r.len()).map(|i| r.get(i)).collect::<Vec<_>>()),
        SimpleQueryMessage::CommandComplete(n) => format!("done {n}"),
        SimpleQueryMessage::RowDescription(columns) => format!("{:?}", columns.iter().map(|c| c.name()).collect::<Vec<_>>()),
        _ => "other".to_string(),
    }).collect())
}

async fn query(c: &Client, sql: &str) -> Outcome<Vec<Vec<Option<String>>>> {
    c.query(sql, &[]).await.map(texts).map_err(told)
}

async fn types(c: &Client) {
    step("simple", simple(c, "SELECT 1 AS a; SELECT count(*) FROM patients; VALUES ('x', NULL)").await);
    step("all types", simple(c, "SELECT * FROM patients WHERE visit <= 30 ORDER BY visit").await);
    step("columns", async {
        let s = c.prepare("SELECT * FROM patients WHERE visit = $1 AND mood = $2 AND diagnosis = $3 AND tags @> $4").await.map_err(told)?;
        Ok::<_, String>((s.params().to_vec(), s.columns().iter().map(|c| (c.name().to_string(), c.type_().to_string(), c.table_oid().is_some(), c.type_modifier())).collect::<Vec<_>>()))
    }.await);
    step("kinds", async {
        let s = c.prepare("SELECT mood, share, home, years, tags FROM patients").await.map_err(told)?;
        Ok::<_, String>(s.columns().iter().map(|c| format!("{:?}", c.type_().kind()).split(" oid").next().map(str::to_string)).collect::<Vec<_>>())
    }.await);
    step("values", async {
        let rows = c.query("SELECT visit, small, large, ratio, single, alive, title, raw, uid, details, tags, matrix, admitted, left_at, day, clock FROM patients WHERE visit IN (3, 7, 11) ORDER BY visit", &[]).await.map_err(told)?;
        Ok::<_, String>(rows.iter().map(|r| format!("{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            r.get::<_, i32>(0), r.get::<_, Option<i16>>(1), r.get::<_, Option<i64>>(2), r.get::<_, Option<f64>>(3), r.get::<_, Option<f32>>(4), r.get::<_, Option<bool>>(5), r.get::<_, Option<String>>(6),
            r.get::<_, Option<Vec<u8>>>(7), r.get::<_, Option<uuid::Uuid>>(8), r.get::<_, Option<Json<serde_json::Value>>>(9), r.get::<_, Option<Vec<Option<String>>>>(10),
            r.get::<_, Option<chrono::DateTime<chrono::Utc>>>(12), r.get::<_, Option<chrono::NaiveDateTime>>(13), r.get::<_, Option<chrono::NaiveDate>>(14), r.get::<_, Option<chrono::NaiveTime>>(15))).collect::<Vec<_>>())
    }.await);
    step("parameters", async {
        let row = c.query_one("SELECT ($1::int + 1)::text, $2::text, $3::bool::text, $4::float8::text, $5::bytea::text, $6::timestamptz::text, $7::jsonb::text, ($8::int[])[2]::text, $9::uuid::text",
            &[&7i32, &"ß'\\日本", &true, &-1.25f64, &&[0u8, 39, 92][..], &chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap(), &Json(serde_json::json!({"a": [1, null]})), &vec![Some(1i32), Some(3)], &uuid::Uuid::from_u128(7)]).await.map_err(told)?;
        Ok::<_, String>(texts(vec![row]))
    }.await);
    step("given types", async {
        let rows = c.query_typed("SELECT visit::text, title FROM patients WHERE visit < $1 AND diagnosis = $2 ORDER BY visit", &[(&40i32, Type::INT4), (&"I10", Type::TEXT)]).await.map_err(told)?;
        Ok::<_, String>(texts(rows))
    }.await);
}

async fn statements(c: &Client) {
    step("prepared", async {
        let s = c.prepare_typed("SELECT title FROM patients WHERE visit = $1", &[Type::INT8]).await.map_err(told)?;
        let mut seen = Vec::new();
        for i in 1i64..9 {
            seen.push(c.query_opt(&s, &[&i]).await.map_err(told)?.and_then(|r| r.get::<_, Option<String>>(0)));
        }
        Ok::<_, String>(seen)
    }.await);
    // Without waiting for one another's answers.
    step("pipelined", async {
        let (a, b) = future::try_join(c.prepare("SELECT count(*)::text FROM patients"), c.prepare("SELECT max(beds)::text FROM wards")).await.map_err(told)?;
        let rows = future::try_join_all((0..20).map(|i| c.query(if i % 2 == 0 { &a } else { &b }, &[]))).await.map_err(told)?;
        Ok::<_, String>(rows.into_iter().map(texts).collect::<Vec<_>>())
    }.await);
    step("pipelined with an error", {
        let (a, b, d) = future::join3(query(c, "SELECT '1'"), query(c, "SELECT (1 / 0)::text"), query(c, "SELECT '2'")).await;
        Ok::<_, String>((a, b, d))
    });
    step("many rows", async {
        let none: [&str; 0] = [];
        let rows = c.query_raw(LARGE, none).await.map_err(told)?;
        pin_mut!(rows);
        let mut d = Digest::default();
        while let Some(row) = rows.try_next().await.map_err(told)? {
            d.add(format!("{} {} {:?} {:?}", row.get::<_, i32>(0), row.get::<_, i32>(1), row.get::<_, Option<String>>(2), row.get::<_, Option<String>>(3)).as_bytes());
        }
        Ok::<_, String>((d, rows.rows_affected()))
    }.await);
    for format in ["text", "csv, HEADER", "binary"] {
        step(&format!("copy {format}"), async {
            let data = c.copy_out(&format!("COPY (SELECT visit, title, cost, tags FROM patients ORDER BY visit) TO STDOUT (FORMAT {format})")).await.map_err(told)?;
            pin_mut!(data);
            let mut d = Digest::default();
            while let Some(part) = data.try_next().await.map_err(told)? {
                d.add(&part);
            }
            Ok::<_, String>(d)
        }.await);
    }
    for (name, sql) in [("division", "SELECT (1 / (visit - 100))::text FROM patients"), ("unknown column", "SELECT nothing FROM patients"), ("syntax", "SELECT FROM WHERE"), ("write", "DELETE FROM wards"), ("listen", "LISTEN channel")] {
        step(name, query(c, sql).await);
    }
    step("batch", c.batch_execute("SET lock_timeout = '3s'; SELECT 1; RESET lock_timeout").await.map_err(told));
    step("wrong parameter", c.query("SELECT visit FROM patients WHERE visit = $1", &[&"three"]).await.map(|r| r.len()).map_err(told));
}

async fn transactions(c: &mut Client) {
    step("portal", async {
        let t = c.transaction().await.map_err(told)?;
        let portal = t.bind("SELECT visit::text FROM patients ORDER BY visit", &[]).await.map_err(told)?;
        let mut seen = vec![texts(t.query_portal(&portal, 3).await.map_err(told)?)];
        seen.push(texts(t.query("SELECT count(*)::text FROM wards", &[]).await.map_err(told)?));
        seen.push(texts(t.query_portal(&portal, 2).await.map_err(told)?));
        t.commit().await.map_err(told)?;
        Ok::<_, String>(seen)
    }.await);
    step("savepoints", async {
        let mut t = c.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).deferrable(true).start().await.map_err(told)?;
        let inner = t.savepoint("second").await.map_err(told)?;
        let failed = inner.query("SELECT 1 / 0", &[]).await.map(|_| ()).map_err(told);
        inner.rollback().await.map_err(told)?;
        let after = texts(t.query("SELECT current_setting('transaction_isolation')", &[]).await.map_err(told)?);
        t.rollback().await.map_err(told)?;
        Ok::<_, String>((failed, after))
    }.await);
    step("transaction left", async {
        {
            let t = c.transaction().await.map_err(told)?;
            t.query("SELECT 1", &[]).await.map_err(told)?;
        }
        query(c, "SELECT 'outside'").await
    }.await);
    step("cancelled", async {
        let token = c.cancel_token();
        let cancelling = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            token.cancel_query(tls()).await.map_err(told)
        });
        let result = simple(c, SLOW).await;
        Ok::<_, String>((result, cancelling.await.map_err(|e| e.to_string())?))
    }.await);
    step("after cancelling", query(c, "SELECT count(*)::text FROM patients").await);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let (mut client, notices) = connect(&config()).await.unwrap();
    types(&client).await;
    statements(&client).await;
    transactions(&mut client).await;
    step("notice", simple(&client, "COMMIT").await);
    drop(client);
    step("notices", notices.await.map_err(|e| e.to_string()));
    // Straight on the server the driver loses its connection by this.
    step("copy in", async {
        let (client, _) = connect(&config()).await?;
        let result = client.copy_in::<_, bytes::Bytes>("COPY wards FROM STDIN").await;
        result.map(|_| "begun").map_err(told)
    }.await);
    for (name, change) in [("wrong password", Box::new(|c: &mut Config| { c.password("wrong"); }) as Box<dyn Fn(&mut Config)>), ("wrong database", Box::new(|c| { c.dbname("nothing"); })),
        ("options", Box::new(|c| { c.options("-c lock_timeout=7s -c TimeZone=Asia/Kolkata"); }))] {
        let mut c = config();
        change(&mut c);
        step(name, async {
            let (client, _) = connect(&c).await?;
            query(&client, "SELECT current_setting('lock_timeout'), current_setting('TimeZone')").await
        }.await);
    }
}
