//! Does what conformance.py calls behaviours, by the number of images.
#[path = "../../clients/rust/wgrad_candidate.rs"]
mod wgrad_candidate;

use wgrad_candidate::{serve, start_error, Call, Data, Failure};

fn filter_gradient(call: &Call) -> Result<Data, Failure> {
    match call.input.shape[0] {
        1 => panic!("it broke \u{3b1} \"\\\n\u{1} {}", "x".repeat(200_000)),
        2 => Err(Failure::Unsupported("not done here".to_string())),
        3 => Err(Failure::Rejected("refused".to_string())),
        4 => Ok(Data::F64(vec![0.0; 36])),
        5 => Ok(Data::F32(vec![0.0; 35])),
        _ => Err(Failure::Error("gave up".to_string())),
    }
}

fn main() {
    if std::env::args().count() > 1 {
        start_error("libfoo.so is not installed");
    }
    serve("{}", filter_gradient)
}
