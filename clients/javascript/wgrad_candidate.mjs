// Lets wgrad judge a weight gradient that is written in JavaScript. Copy this one file; it needs Node 18 or newer and
// no package.
//
//     import { serve } from "./wgrad_candidate.mjs";
//
//     serve({ name: "mine", version: "1", dtypes: ["f32"], groups: false }, (call) => {
//       // call.input.data, call.outBackprop.data, call.strides, call.pads, ..: see callOf below
//       return result; // a Float32Array with the elements of filter_backprop
//     });
//
// Then `wgrad check 'cmd:node mine.mjs'` starts the program and sends it problems. What cannot be done is said by
// throwing Unsupported or Rejected; anything else that is thrown is reported with its stack, and the next problem
// comes.
// docs/protocol.md of wgrad describes what goes over the wire, and every field of the greeting.
import fs from "node:fs";

const requests = 3, answers = 4, shared = 5; // the descriptors that wgrad hands to the programs it starts
const mostMessage = 10_000, mostDetail = 100_000; // characters; a header has at most 2^20 bytes

/// A valid call that this candidate does not do, or a wrong one that it cannot even be asked.
export class Unsupported extends Error {}

/// The arguments are wrong. `kind` is a word for the sort of error, such as TensorFlow's names of status codes.
export class Rejected extends Error {
  constructor(message, kind = "InvalidArgument") {
    super(message);
    this.kind = kind;
  }
}

/// What a candidate did that its interface does not allow. An `error` even where the arguments were wrong.
class Misuse extends Error {}

/// Greets wgrad and answers its requests until there are no more, then exits.
///
/// `greeting` is an object with the greeting's fields by the names of docs/protocol.md, or a function, which may be
/// async, that returns one. What that function throws is reported as the reason why the program cannot start, so it is
/// the place to `await import()` what may be missing; it may look at variant().
///
/// `compute` gets a call (see callOf) and returns, or promises, the elements of filter_backprop as a typed array of
/// call.resultDtype: Float32Array for f32, Float64Array for f64, Uint16Array of bits for f16 and bf16. They stand in
/// the order of the greeting's result_layout, by default kh, kw, ic, oc. It may return {data, shape} to have the shape
/// checked too; after a call with wrong arguments it must.
export async function serve(greeting, compute) {
  if (!isConnected()) {
    console.error(`this program is started by wgrad: wgrad check 'cmd:node ${process.argv[1]}'`);
    process.exit(1);
  }
  let fields;
  try {
    fields = typeof greeting === "function" ? await greeting() : greeting;
  } catch (error) {
    startError(String(error), error);
  }
  try {
    writeFrame({ kind: "greeting", protocol: 1, shared_memory: true, ...fields });
    while (await serveOne(fields, compute));
  } catch (error) {
    if (error.code !== "EPIPE") throw error; // else wgrad is gone, and with it whoever would read a complaint
  }
  process.exit(0);
}

/// Says why this program cannot start, e.g. "libfoo.so is not installed", and exits. For use before serve().
/// `error` is what is printed, to appear beside the message.
export function startError(message, error = message) {
  if (isConnected()) writeFrame({ kind: "error", message: printable(message.slice(0, mostMessage)) });
  console.error(error);
  process.exit(1);
}

/// The variant to be, one of the greeting's `variants`; "" where there are none, or wgrad is asking for them.
export function variant() {
  return process.env.WGRAD_VARIANT ?? "";
}

// --------------------------------------------------------------------------------------------------------------------
// Numbers

// Binary formats of 16 bits: significant digits, and the exponents of the least and of the largest normal numbers.
const formats = { f16: { digits: 11, least: -14, largest: 15 }, bf16: { digits: 8, least: -126, largest: 127 } };
const arrayTypes = { f16: Uint16Array, bf16: Uint16Array, f32: Float32Array, f64: Float64Array, i32: Int32Array };
const valuesOfBits = {}; // for each format the values of all 65,536 patterns, made when first needed
const scratch = new DataView(new ArrayBuffer(8));

/// The elements of a tensor {data, dtype}, such as call.input, as a Float64Array; exact for every dtype.
export function toFloat64({ data, dtype }) {
  if (!(dtype in formats)) return Float64Array.from(data);
  valuesOfBits[dtype] ??= Float64Array.from({ length: 65536 }, (_, bits) => valueOfBits(bits, formats[dtype]));
  const values = valuesOfBits[dtype];
  const result = new Float64Array(data.length);
  for (let i = 0; i < data.length; ++i) result[i] = values[data[i]];
  return result;
}

/// Numbers as a typed array of `dtype` ("f16", "bf16", "f32" or "f64"), rounded once to nearest, ties to even.
export function fromFloat64(values, dtype) {
  const format = formats[dtype];
  return format ? Uint16Array.from(values, (value) => nearestBits(value, format)) : arrayTypes[dtype].from(values);
}

function valueOfBits(bits, { digits, least, largest }) {
  const sign = bits & 0x8000 ? -1 : 1;
  const fraction = bits & (2 ** (digits - 1) - 1);
  const exponent = (bits & 0x7fff) >> (digits - 1); // biased; 0 has the exponent of 1 and no leading digit
  if (exponent > largest - least + 1) return fraction ? NaN : sign * Infinity;
  return sign * (fraction + (exponent ? 2 ** (digits - 1) : 0)) * 2 ** (Math.max(exponent, 1) - 1 + least - digits + 1);
}

function nearestBits(value, { digits, least, largest }) {
  if (Number.isNaN(value)) return ((largest - least + 2) << (digits - 1)) | (1 << (digits - 2));
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.min(Math.abs(value), 2 ** (largest + 1)); // from there on all is infinity
  scratch.setFloat64(0, magnitude);
  const exponent = Math.min(Math.max((scratch.getUint16(0) >> 4) - 1023, least), largest);
  const units = magnitude * 2 ** (digits - 1 - exponent); // of the last digit; exact
  const nearest = units + 2 ** 52 - 2 ** 52; // numbers as large as 2^52 have no fraction, so the addition rounds
  return sign | (((exponent - least) << (digits - 1)) + nearest); // a leading digit, and a carry, add to the exponent
}

// --------------------------------------------------------------------------------------------------------------------
// Calls

// What `compute` gets. A tensor is {data, shape, dtype}: data a typed array (of bits for f16 and bf16).
//
// Axes: n batch, ih and iw the image, c the input's channels, oh and ow the output, kh and kw the filter, ic the
// channels of one group (c / groups), oc the output channels.
function callOf(header, tensors) {
  const { arguments: given, derived } = header;
  const call = {
    input: tensors.input, // NHWC [n, ih, iw, c], NCHW [n, c, ih, iw]
    outBackprop: tensors.out_backprop, // NHWC [n, oh, ow, oc], NCHW [n, oc, oh, ow]
    arguments: given, // by TensorFlow's names, as they came
    // Whether the arguments are right. If not (only a candidate with `validates` is sent such), only the fields up to
    // here exist, and nothing in them can be relied upon; dtypes may be i32 (Int32Array), numbers above 2^53 rounded.
    isValid: derived !== undefined,
  };
  if (!call.isValid) return new Proxy(call, { get: refuseUnknown });
  const rows = given.data_format.indexOf("H");
  return Object.assign(call, {
    dtype: header.dtype, // of input and outBackprop
    resultDtype: header.result_dtype, // the same, or "f32" beside "f16" and "bf16"
    filterSizes: given.filter_sizes, // [kh, kw, ic, oc]
    strides: given.strides.slice(rows, rows + 2), // [rows, columns]
    dilations: given.dilations.slice(rows, rows + 2), // [rows, columns]
    pads: [[derived.pad_top, derived.pad_bottom], [derived.pad_left, derived.pad_right]], // whatever word says it
    padding: given.padding, // that word: "SAME", "VALID" or "EXPLICIT"
    explicitPaddings: given.explicit_paddings, // with EXPLICIT (before, after) for each axis in dataFormat's order
    dataFormat: given.data_format, // "NHWC" or "NCHW"
    groups: derived.groups, // oc reads input channels g * ic to (g + 1) * ic - 1, g = floor(oc / (all oc / groups))
    problem: header.problem, // all of it as one line of text
  });
}

// Without it `undefined` would cause a TypeError, and that count as a refusal though nobody looked at what is wrong.
function refuseUnknown(call, name) {
  if (typeof name !== "string" || name in call) return call[name];
  throw new Misuse(`a call with wrong arguments has no ${name}, see isValid`);
}

async function serveOne(fields, compute) {
  const header = readHeader();
  if (header === null) return false;
  const tensors = {};
  for (const entry of header.tensors ?? []) tensors[entry.name] = readTensor(entry);
  const { answer, data } = await answerTo(header, tensors, fields, compute);
  writeFrame({ ...answer, id: header.id }, data);
  return true;
}

async function answerTo(header, tensors, fields, compute) {
  try {
    if (header.operation !== "filter_gradient") throw new Unsupported(`operation ${header.operation}`);
    if (header.derived) requireExactNumbers(header);
    const call = callOf(header, tensors);
    return resultAnswer(header, call, await compute(call), fields.result_layout ?? "hwio");
  } catch (error) {
    return { answer: failureAnswer(error, header.derived !== undefined) };
  }
}

function requireExactNumbers({ arguments: given, derived, tensors }) {
  const numbers = [given.filter_sizes, given.strides, given.dilations, given.explicit_paddings, Object.values(derived),
    tensors.map((entry) => entry.shape)].flat(2);
  if (!numbers.every(Number.isSafeInteger)) throw new Unsupported("JavaScript has no such large whole numbers");
}

// The answer with `result`, after a look at its type and size. Nothing is converted: it would hide a mistake.
function resultAnswer(header, call, result, layout) {
  const dueShape = call.isValid ? [...layout].map((axis) => call.filterSizes["hwio".indexOf(axis)]) : undefined;
  const { data, shape } = ArrayBuffer.isView(result) ? { data: result, shape: dueShape } : result ?? {};
  // Bits are those of the dtype that is due; of the input's where nothing is due.
  const dtypes = call.isValid ? [call.resultDtype] : [call.input.dtype, ...Object.keys(arrayTypes)];
  const dtype = dtypes.find((name) => data instanceof arrayTypes[name]);
  if (dtype === undefined || data.length !== shape?.reduce((product, size) => product * size, 1) ||
      (call.isValid && String(shape) !== String(dueShape))) {
    const actual = `${data?.constructor?.name} of ${data?.length} elements and shape [${shape}]`;
    const due = call.isValid ? `${arrayTypes[dtypes[0]].name} of shape [${dueShape}]` : "{data, shape} of a tensor";
    throw new Misuse(`the result is ${actual}, but ${due} is due`);
  }
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const entry = { name: "filter_backprop", dtype, shape, bytes: bytes.length };
  const answer = { kind: "result", tensors: [entry] };
  if (!call.isValid || header.result_at === undefined) return { answer, data: bytes };
  entry.shared_at = header.result_at;
  writeFully(shared, bytes, header.result_at);
  return { answer };
}

function failureAnswer(error, isValid) {
  const text = error instanceof Error ? error.message : String(error);
  const message = printable(text.slice(0, mostMessage)) || error.constructor.name;
  if (error instanceof Unsupported) return { kind: "unsupported", message };
  if (error instanceof Rejected) return { kind: "rejected", error_kind: error.kind, message };
  if (error instanceof Misuse) return { kind: "error", message };
  const detail = printable(String(error?.stack ?? error).slice(0, mostDetail));
  return { kind: isValid ? "error" : "rejected", error_kind: error?.constructor?.name ?? "thrown", message, detail };
}

// `text` as JSON may carry it: without halves of surrogate pairs.
function printable(text) {
  return Buffer.from(text).toString();
}

// --------------------------------------------------------------------------------------------------------------------
// Descriptors

// Whether wgrad started this program: descriptors 3 and 4 are pipes.
function isConnected() {
  try {
    return [requests, answers].every((descriptor) => fs.fstatSync(descriptor).isFIFO());
  } catch {
    return false;
  }
}

// Repeats a call on a descriptor that is not ready: it may be one that does not block.
function patiently(transfer) {
  for (;;) {
    try {
      return transfer();
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // a millisecond
    }
  }
}

// Fills `bytes`, from `position` of the file or (null) as they come. How many there were: fewer only at the end.
function readFully(descriptor, bytes, position = null) {
  let count = 0;
  while (count < bytes.length) {
    const most = Math.min(bytes.length - count, 2 ** 30);
    const at = position === null ? null : position + count;
    const read = patiently(() => fs.readSync(descriptor, bytes, count, most, at));
    if (read === 0) break;
    count += read;
  }
  return count;
}

function writeFully(descriptor, bytes, position = null) {
  for (let count = 0; count < bytes.length;) {
    const most = Math.min(bytes.length - count, 2 ** 30);
    const at = position === null ? null : position + count;
    count += patiently(() => fs.writeSync(descriptor, bytes, count, most, at));
  }
}

function writeFrame(header, data = new Uint8Array(0)) {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  writeFully(answers, Buffer.concat([length, text, data])); // at once, since each piece would wake wgrad
}

// The next frame's header; null at the end of the requests.
function readHeader() {
  const length = Buffer.alloc(4);
  if (readFully(requests, length) === 0) return null;
  const text = Buffer.alloc(length.readUInt32LE());
  if (readFully(requests, text) < text.length) throw new Error("the request ends in its middle");
  return JSON.parse(text.toString());
}

function readTensor({ dtype, shape, bytes, shared_at: sharedAt }) {
  const buffer = new Uint8Array(bytes);
  const count = sharedAt === undefined ? readFully(requests, buffer) : readFully(shared, buffer, sharedAt);
  if (count < bytes) throw new Error("the request ends in its middle");
  return { data: new arrayTypes[dtype](buffer.buffer), shape, dtype };
}
