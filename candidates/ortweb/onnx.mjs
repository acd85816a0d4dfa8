// The few messages of ONNX's protocol buffers that a model of one ConvGrad takes. Numbers are those of onnx.proto.

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
}
const number = (field, value) => [...varint(field * 8), ...varint(value)];
function message(field, ...parts) {
  const bytes = parts.flat(Infinity);
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
}
const text = (field, value) => message(field, [...Buffer.from(value)]);

const numberAttribute = (name, value) => message(5, text(1, name), number(3, value), number(20, 2));
const listAttribute = (name, values) =>
  message(5, text(1, name), values.map((value) => number(8, value)), number(20, 7));
const node = (inputs, outputs, operator, ...rest) =>
  message(1, inputs.map((name) => text(1, name)), outputs.map((name) => text(2, name)), text(4, operator), rest);
const floats = (field, name) => message(field, text(1, name), message(2, message(1, number(1, 1)))); // of any shape

/// A model with the inputs dy, x (both in `dataFormat`) and w (of which only the shape counts), all OIHW or NCHW
/// inside, and the output dw. `pads` are top, left, bottom, right.
export function convGradModel({ dataFormat, kernel, strides, dilations, pads, groups }) {
  const nodes = [];
  const nchw = ["dy", "x"].map((name) => {
    if (dataFormat === "NCHW") return name;
    nodes.push(node([name], [`${name}_nchw`], "Transpose", listAttribute("perm", [0, 3, 1, 2])));
    return `${name}_nchw`;
  });
  nodes.push(node([...nchw, "w"], ["", "dw"], "ConvGrad", listAttribute("kernel_shape", kernel),
    listAttribute("strides", strides), listAttribute("dilations", dilations), listAttribute("pads", pads),
    numberAttribute("group", groups), text(7, "com.microsoft")));
  const graph = message(7, nodes, text(2, "g"), ["dy", "x", "w"].map((name) => floats(11, name)), floats(12, "dw"));
  const operators = [["", 15], ["com.microsoft", 1]].map(([domain, version]) =>
    message(8, text(1, domain), number(2, version)));
  return Uint8Array.from([number(1, 8), graph, operators].flat(Infinity));
}
