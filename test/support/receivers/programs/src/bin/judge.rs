use std::io::{self, BufRead};

#[path = "../verify.rs"]
mod verify;

/// The bytes that a field of base64 stands for.
fn decode(field: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = field.trim_end_matches('=').bytes().map(value).collect();
    let group = |digits: &[u8]| {
        let bits = (0..4).fold(0u32, |bits, at| bits << 6 | u32::from(*digits.get(at).unwrap_or(&0)));
        bits.to_be_bytes()[1..digits.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

fn text(field: &str) -> String {
    String::from_utf8(decode(field)).expect("UTF-8")
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line");
        let fields: Vec<&str> = line.split('\t').collect();
        let secrets: Vec<String> = fields[1].split(',').map(text).collect();
        let header = if fields[3] == "-" { String::new() } else { text(fields[3]) };
        let now = fields[4].parse().expect("seconds");
        let verdict = verify::verify(&secrets, &decode(fields[2]), &header, now);
        println!("{}\t{verdict}", fields[0]);
    }
}
