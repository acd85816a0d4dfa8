//! Lets wgrad judge a weight gradient that is written in Rust, in float32 or float64. Copy this one file; it needs the
//! standard library alone, a Unix system, and Rust 1.65 or newer.
//!
//!     mod wgrad_candidate;
//!     use wgrad_candidate::{serve, Call, Data, Failure};
//!
//!     fn filter_gradient(call: &Call) -> Result<Data, Failure> {
//!         ...                            // call.input.data, call.out_backprop.data, call.strides, call.pads, ..
//!         Ok(Data::F32(result))
//!     }
//!
//!     fn main() {
//!         serve(r#"{"name": "mine", "dtypes": ["f32"]}"#, filter_gradient)
//!     }
//!
//! Then `wgrad check cmd:./program` judges it. What cannot be done is said by a Failure; a panic is reported with its
//! backtrace, and the next problem comes. docs/protocol.md of wgrad describes what goes over the wire, and every field
//! of the greeting.
#![allow(dead_code)] // no program needs all of it

use std::backtrace::Backtrace;
use std::convert::{TryFrom, TryInto};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::mem::ManuallyDrop;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::os::unix::io::FromRawFd;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::Mutex;

/// One call, with valid arguments.
///
/// Axes: n batch, ih and iw the image, c the input's channels, oh and ow the output, kh and kw the filter, ic the
/// channels of one group (c / groups), oc the output channels. The result has the shape (kh, kw, ic, oc), or the order
/// of the greeting's result_layout.
#[derive(Debug)]
pub struct Call {
    /// NHWC (n, ih, iw, c), NCHW (n, c, ih, iw).
    pub input: Tensor,
    /// NHWC (n, oh, ow, oc), NCHW (n, oc, oh, ow).
    pub out_backprop: Tensor,
    /// Of input and out_backprop, "f32" or "f64"; the result has it too.
    pub dtype: String,
    /// kh, kw, ic, oc.
    pub filter_sizes: [usize; 4],
    /// Of rows and columns.
    pub strides: [usize; 2],
    /// Of rows and columns; 1 is none.
    pub dilations: [usize; 2],
    /// (top, bottom), (left, right): the padding to use, whatever word says it.
    pub pads: [[usize; 2]; 2],
    /// Output channel oc reads the input channels g * ic to (g + 1) * ic - 1, where g = oc / (all oc / groups).
    pub groups: usize,
    /// "SAME", "VALID" or "EXPLICIT": how the caller put it.
    pub padding: String,
    /// "NHWC" or "NCHW".
    pub data_format: String,
    /// All of it as one line of text, for messages.
    pub problem: String,
}

/// Elements in row-major order.
#[derive(Debug)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Data,
}

#[derive(Debug)]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Why there is no result: a sentence each.
#[derive(Debug)]
pub enum Failure {
    /// A valid call that this candidate does not do; counted apart, no failure.
    Unsupported(String),
    /// These arguments are wrong.
    Rejected(String),
    /// It tried and did not succeed.
    Error(String),
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::F32(values) => values.len(),
            Data::F64(values) => values.len(),
        }
    }

    /// The elements as float64, exactly.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Data::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::F64(values) => values.clone(),
        }
    }

    /// float64 values as elements of `dtype` ("f32" or "f64"), rounded to nearest, ties to even.
    pub fn from_f64(values: Vec<f64>, dtype: &str) -> Data {
        match dtype {
            "f32" => Data::F32(values.into_iter().map(|value| value as f32).collect()),
            _ => Data::F64(values),
        }
    }

    fn dtype(&self) -> &'static str {
        match self {
            Data::F32(_) => "f32",
            Data::F64(_) => "f64",
        }
    }

    fn from_bytes(bytes: &[u8], dtype: &str) -> Option<Data> {
        match dtype {
            "f32" => Some(Data::F32(
                bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect(),
            )),
            "f64" => Some(Data::F64(
                bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect(),
            )),
            _ => None,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Data::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }
}

/// Greets wgrad, answers its requests until there are no more, and exits.
///
/// `greeting` is a JSON object with the greeting's fields by the names of docs/protocol.md. Its `dtypes` must be given,
/// out of "f32" and "f64".
pub fn serve<F>(greeting: &str, filter_gradient: F) -> !
where
    F: Fn(&Call) -> Result<Data, Failure>,
{
    let wgrad = match Connection::open() {
        Some(wgrad) => wgrad,
        None => fail("this program is started by wgrad: wgrad check cmd:./program"),
    };
    let fields = match Json::parse(greeting) {
        Some(Json::Object(fields)) => Json::Object(fields),
        _ => start_error("the greeting is no JSON object"),
    };
    keep_panics();
    let layout = fields.get("result_layout").and_then(Json::text).unwrap_or("hwio").to_string();
    let server = Server { wgrad, layout, filter_gradient };
    match server.run(&greeting_header(greeting, &fields)) {
        Ok(()) => process::exit(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(0), // nobody would read a complaint
        Err(error) => fail(&error.to_string()),
    }
}

/// In place of `serve`: says why this program cannot start, e.g. "libfoo.so is not installed", and exits.
pub fn start_error(message: &str) -> ! {
    if let Some(wgrad) = Connection::open() {
        let _ = wgrad.send(&format!("{{\"kind\": \"error\", \"message\": {}}}", quoted(message)), &[]);
    }
    fail(message)
}

/// The variant to be, one of the greeting's `variants`; "" where there are none, or wgrad is asking for them.
pub fn variant() -> String {
    std::env::var("WGRAD_VARIANT").unwrap_or_default()
}

fn fail(message: &str) -> ! {
    eprintln!("{}", message);
    process::exit(1)
}

fn greeting_header(greeting: &str, fields: &Json) -> String {
    let shared = if fields.get("shared_memory").is_none() { ", \"shared_memory\": true" } else { "" };
    let comma = if *fields == Json::Object(Vec::new()) { "" } else { ", " };
    let rest = &greeting[greeting.find('{').map_or(0, |at| at + 1)..];
    format!("{{\"kind\": \"greeting\", \"protocol\": 1{}{}{}", shared, comma, rest)
}

// --------------------------------------------------------------------------------------------------------------------
// Panics

const MOST_DETAIL: usize = 100_000; // bytes; a header has at most 2^20, and a character up to six

/// What the last panic said of itself, where it was and how it came there.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

fn keep_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(info);
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = format!("{}\n{}", info, Backtrace::force_capture());
        }
    }));
}

/// The fields of an answer about a panic.
fn panic_fields(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_string());
    let detail = LAST_PANIC.lock().map(|last| last.clone()).unwrap_or_default();
    format!("\"error_kind\": \"panic\", \"message\": {}, \"detail\": {}", quoted(&message), quoted(&detail))
}

// --------------------------------------------------------------------------------------------------------------------
// Serving

struct Server<F> {
    wgrad: Connection,
    layout: String,
    filter_gradient: F,
}

/// A request whose tensors have been read.
struct Request {
    header: Json,
    tensors: Vec<Vec<u8>>,
}

impl<F: Fn(&Call) -> Result<Data, Failure>> Server<F> {
    fn run(&self, greeting: &str) -> io::Result<()> {
        self.wgrad.send(greeting, &[])?;
        while let Some(request) = self.wgrad.receive()? {
            self.answer(&request)?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> io::Result<()> {
        let id = request.header.get("id").and_then(Json::integer).unwrap_or(0);
        let send = |kind: &str, fields: &str, data: &[u8]| {
            self.wgrad.send(&format!("{{\"kind\": \"{}\", \"id\": {}, {}}}", kind, id, fields), data)
        };
        let message = |text: &str| format!("\"message\": {}", quoted(text));
        // What a panic leaves half done is the candidate's own.
        match panic::catch_unwind(AssertUnwindSafe(|| self.compute(request))) {
            Ok(Ok((entry, data))) => send("result", &format!("\"tensors\": [{}]", entry), &data),
            Ok(Err(Failure::Unsupported(text))) => send("unsupported", &message(&text), &[]),
            Ok(Err(Failure::Rejected(text))) => send("rejected", &message(&text), &[]),
            Ok(Err(Failure::Error(text))) => send("error", &message(&text), &[]),
            Err(payload) => send("error", &panic_fields(&*payload), &[]),
        }
    }

    /// The result's entry in the answer, and the bytes that follow it.
    fn compute(&self, request: &Request) -> Result<(String, Vec<u8>), Failure> {
        if request.header.get("operation").and_then(Json::text) != Some("filter_gradient") {
            return Err(Failure::Unsupported("no such operation".to_string()));
        }
        let call = call_of(request).ok_or_else(|| {
            Failure::Unsupported("a Call has no room for wrong arguments, nor for f16 and bf16".to_string())
        })?;
        let result = (self.filter_gradient)(&call)?;
        let due: usize = call.filter_sizes.iter().product();
        if result.dtype() != call.dtype || result.len() != due {
            return Err(Failure::Error(format!(
                "the result is {} elements of {}, but {} of {} are due",
                result.len(),
                result.dtype(),
                due,
                call.dtype
            )));
        }
        let bytes = result.to_bytes();
        let shape: Vec<usize> =
            self.layout.chars().map(|axis| call.filter_sizes["hwio".find(axis).unwrap_or(0)]).collect();
        let entry = format!(
            "\"name\": \"filter_backprop\", \"dtype\": \"{}\", \"shape\": {:?}, \"bytes\": {}",
            call.dtype,
            shape,
            bytes.len()
        );
        match request.header.get("result_at").and_then(Json::integer) {
            None => Ok((format!("{{{}}}", entry), bytes)),
            Some(at) => {
                let written = self.wgrad.shared.write_all_at(&bytes, at as u64);
                written.map_err(|error| Failure::Error(format!("descriptor 5: {}", error)))?;
                Ok((format!("{{{}, \"shared_at\": {}}}", entry, at), Vec::new()))
            }
        }
    }
}

/// None where the arguments are wrong, or of other dtypes.
fn call_of(request: &Request) -> Option<Call> {
    let header = &request.header;
    let arguments = header.get("arguments")?;
    let derived = header.get("derived")?;
    let text = |object: &Json, name: &str| object.get(name).and_then(Json::text).map(str::to_string);
    let size = |name: &str| derived.get(name)?.size();
    let dtype = text(header, "dtype")?;
    if header.get("result_dtype")?.text()? != dtype {
        return None;
    }
    let tensor = |index: usize| {
        let shape = header.get("tensors")?.list()?.get(index)?.get("shape")?.sizes()?;
        Some(Tensor { shape, data: Data::from_bytes(request.tensors.get(index)?, &dtype)? })
    };
    let data_format = text(arguments, "data_format")?;
    let rows = data_format.find('H')?;
    let spatial = |name: &str| {
        let sizes = arguments.get(name)?.sizes()?;
        Some([*sizes.get(rows)?, *sizes.get(rows + 1)?])
    };
    Some(Call {
        input: tensor(0)?,
        out_backprop: tensor(1)?,
        filter_sizes: arguments.get("filter_sizes")?.sizes()?.try_into().ok()?,
        strides: spatial("strides")?,
        dilations: spatial("dilations")?,
        pads: [[size("pad_top")?, size("pad_bottom")?], [size("pad_left")?, size("pad_right")?]],
        groups: size("groups")?,
        padding: text(arguments, "padding")?,
        problem: text(header, "problem")?,
        data_format,
        dtype,
    })
}

// --------------------------------------------------------------------------------------------------------------------
// Descriptors

/// The descriptors that wgrad hands to the programs it starts. They are the process's, so they are never closed here.
struct Connection {
    requests: ManuallyDrop<File>,
    answers: ManuallyDrop<File>,
    shared: ManuallyDrop<File>,
}

impl Connection {
    /// None where wgrad has not started this program: descriptors 3 and 4 are no pipes.
    fn open() -> Option<Connection> {
        // Safe even where nobody has opened them: then every use is an error, and they are not closed.
        let file = |number| ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
        let wgrad = Connection { requests: file(3), answers: file(4), shared: file(5) };
        let is_pipe = |file: &File| file.metadata().map_or(false, |data| data.file_type().is_fifo());
        if is_pipe(&wgrad.requests) && is_pipe(&wgrad.answers) {
            Some(wgrad)
        } else {
            None
        }
    }

    fn send(&self, header: &str, data: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(4 + header.len() + data.len());
        frame.extend_from_slice(&(header.len() as u32).to_le_bytes());
        frame.extend_from_slice(header.as_bytes());
        frame.extend_from_slice(data);
        (&*self.answers).write_all(&frame) // at once, since each piece would wake wgrad
    }

    /// None at the end of the requests.
    fn receive(&self) -> io::Result<Option<Request>> {
        let mut length = [0; 4];
        if (&*self.requests).read(&mut length[..1])? == 0 {
            return Ok(None);
        }
        (&*self.requests).read_exact(&mut length[1..])?;
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        (&*self.requests).read_exact(&mut text)?;
        let wrong = || io::Error::new(ErrorKind::InvalidData, "the request is none");
        let header = String::from_utf8(text).ok().and_then(|text| Json::parse(&text)).ok_or_else(wrong)?;
        let entries = header.get("tensors").and_then(Json::list).unwrap_or(&[]);
        let mut tensors = Vec::new();
        for entry in entries {
            let mut bytes = vec![0; entry.get("bytes").and_then(Json::size).ok_or_else(wrong)?];
            match entry.get("shared_at").and_then(Json::integer) {
                None => (&*self.requests).read_exact(&mut bytes)?,
                Some(at) => self.shared.read_exact_at(&mut bytes, at as u64)?,
            }
            tensors.push(bytes);
        }
        Ok(Some(Request { header, tensors }))
    }
}

// --------------------------------------------------------------------------------------------------------------------
// JSON, as far as headers need it

#[derive(Debug, PartialEq)]
enum Json {
    Word(String), // a number, true, false or null
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn parse(text: &str) -> Option<Json> {
        let mut parser = Parser { bytes: text.as_bytes(), at: 0 };
        let value = parser.value()?;
        if parser.peek().is_some() {
            return None;
        }
        Some(value)
    }

    fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Json::Word(word) => word.parse().ok(),
            _ => None,
        }
    }

    fn size(&self) -> Option<usize> {
        usize::try_from(self.integer()?).ok()
    }

    fn list(&self) -> Option<&[Json]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    fn sizes(&self) -> Option<Vec<usize>> {
        self.list()?.iter().map(Json::size).collect()
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).map_or(false, u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Whether `byte` is next; if so it is taken.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += is_next as usize;
        is_next
    }

    fn value(&mut self) -> Option<Json> {
        match self.peek()? {
            b'"' => Some(Json::Text(self.string()?)),
            b'[' => Some(Json::List(self.items(b']', Parser::value)?)),
            b'{' => Some(Json::Object(self.items(b'}', Parser::member)?)),
            _ => self.word(),
        }
    }

    /// What stands, with commas between, from the bracket that is next to `closing`.
    fn items<T>(&mut self, closing: u8, item: fn(&mut Parser<'a>) -> Option<T>) -> Option<Vec<T>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(closing) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(closing) {
                return Some(items);
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn member(&mut self) -> Option<(String, Json)> {
        let name = if self.peek()? == b'"' { self.string()? } else { return None };
        if self.take(b':') {
            Some((name, self.value()?))
        } else {
            None
        }
    }

    fn word(&mut self) -> Option<Json> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at += length;
        match length {
            0 => None,
            _ => Some(Json::Word(String::from_utf8_lossy(&rest[..length]).into_owned())),
        }
    }

    /// The string whose opening quote is next.
    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut units = Vec::new(); // UTF-16, since escapes are in it
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest.iter().position(|&byte| byte == b'"' || byte == b'\\')?;
            units.extend(std::str::from_utf8(&rest[..plain]).ok()?.encode_utf16());
            self.at += plain + 1;
            if rest[plain] == b'"' {
                return Some(String::from_utf16_lossy(&units));
            }
            units.push(self.escape()?);
        }
    }

    /// What stands for one unit behind a backslash.
    fn escape(&mut self) -> Option<u16> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        if byte == b'u' {
            let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
            self.at += 4;
            return u16::from_str_radix(digits, 16).ok();
        }
        let place = b"\"\\/bfnrt".iter().position(|&known| known == byte)?;
        Some(u16::from(b"\"\\/\x08\x0c\n\r\t"[place]))
    }
}

/// `text` as a JSON string; of a very long one the beginning.
fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for character in text.chars() {
        if result.len() > MOST_DETAIL {
            break;
        }
        match character {
            '"' | '\\' => result.extend(&['\\', character]),
            control if control < ' ' => result.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => result.push(other),
        }
    }
    result + "\""
}
