// deeplearn.js as a candidate. See README.md.
import { createRequire } from "node:module";
import { serve, Unsupported } from "../../clients/javascript/wgrad_candidate.mjs";

const load = createRequire(`${process.env.WGRAD_CACHE_FOLDER}/package.json`);
let dl;

function greeting() {
  dl = load("deeplearn");
  const { version } = load("deeplearn/package.json");
  return {
    name: "deeplearn", version, libraries: { deeplearn: version, node: process.version },
    dtypes: ["f32"], data_formats: ["NHWC"], dilation: false, groups: false, pad: "skip",
    accuracy_class: { f32: "wide:f64" }, // sums are JavaScript's numbers, rounded once
    max_work: 1.5e7, // a call's seconds: 5 million multiply-adds take one
  };
}

// An explicit padding is one number for all four sides, and then rows and columns count their outputs alike.
function padOf({ padding, pads, filterSizes: [kh, kw], strides: [rows, columns] }) {
  if (padding !== "EXPLICIT") return padding.toLowerCase();
  const [pad, ...others] = pads.flat();
  if (others.some((other) => other !== pad)) throw new Unsupported("paddings of the four sides that differ");
  if (kh !== kw || rows !== columns) throw new Unsupported("explicit padding of what is not square");
  return pad;
}

await serve(greeting, (call) => {
  const { input, outBackprop, filterSizes, strides } = call;
  const pad = padOf(call);
  return dl.tidy(() => {
    const [x, dy] = [input, outBackprop].map(({ data, shape }) => dl.tensor4d(data, shape));
    return dl.ENV.math.conv2dDerFilter(x, dy, filterSizes, strides, pad).dataSync();
  });
});
