//! Steps of a client, each printed as one line: its name and what came of it.
use std::env;
use std::fmt::{Debug, Display};

/// Of these 55,000 rows no buffer on the way holds all.
pub const LARGE: &str = "SELECT n, p.visit, p.cost::text, p.remarks FROM patients p, generate_series(1, 110) n ORDER BY n, visit";
pub const SLOW: &str = "SELECT count(*) FROM generate_series(1, 100000000000)";

/// Prints a step.
pub fn step<T: Debug, E: Display>(name: &str, result: Result<T, E>) {
    let text = match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("ERROR {error}"),
    };
    println!("{name}: {}", text.replace('\n', "\\n").replace('\r', "\\r"));
}

/// A parameter of the way.
pub fn parameter(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// A digest of texts in their order, which is the same on any machine.
#[derive(Default)]
pub struct Digest {
    count: u64,
    sum: u64,
}

impl Digest {
    pub fn add(&mut self, bytes: &[u8]) {
        self.count += 1;
        for byte in bytes {
            self.sum = (self.sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:016x}", self.count, self.sum)
    }
}
