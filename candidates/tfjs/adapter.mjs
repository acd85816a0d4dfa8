// TensorFlow.js as a candidate. README.md says what the variants are and how each is judged.
import { createRequire } from "node:module";
import { serve, variant } from "../../clients/javascript/wgrad_candidate.mjs";

const load = createRequire(`${process.env.WGRAD_CACHE_FOLDER}/package.json`);
const backend = variant() || "cpu";
let tf;

// How far each backend goes in the time that one call may take, and what it sums in.
const capabilities = {
  cpu: { max_work: 2e7, accuracy_class: { f32: "wide:f64" } }, // sums are JavaScript's numbers, rounded once
  wasm: { max_work: 1e9, accuracy_class: { f32: "order" }, data_formats: ["NHWC"], paddings: ["SAME", "VALID"] },
};

async function greeting() {
  tf = load("@tensorflow/tfjs");
  if (backend === "wasm") load("@tensorflow/tfjs-backend-wasm");
  if (!(await tf.setBackend(backend))) throw new Error(`TensorFlow.js has no backend ${backend} here`);
  return {
    name: "tfjs", version: tf.version.tfjs, libraries: { "@tensorflow/tfjs": tf.version.tfjs, node: process.version },
    dtypes: ["f32"], dilation: false, groups: false, pad: "skip", ...capabilities[backend],
  };
}

const kernels = {
  cpu({ input, outBackprop, filterSizes, strides, padding, pads, dataFormat }) {
    const pairs = dataFormat === "NHWC" ? [[0, 0], ...pads, [0, 0]] : [[0, 0], [0, 0], ...pads];
    const inputs = { x: tf.tensor4d(input.data, input.shape), dy: tf.tensor4d(outBackprop.data, outBackprop.shape) };
    return tf.engine().runKernel("Conv2DBackpropFilter", inputs, {
      strides, pad: padding === "EXPLICIT" ? pairs : padding.toLowerCase(), dataFormat, filterShape: filterSizes,
    });
  },

  wasm({ input, outBackprop, filterSizes, strides, padding }) {
    const volume = ({ data, shape: [n, ...rest] }) => tf.tensor5d(data, [n, 1, ...rest]);
    return tf.engine().runKernel("Conv3DBackpropFilterV2", { x: volume(input), dy: volume(outBackprop) }, {
      strides: [1, ...strides], pad: padding.toLowerCase(), filterShape: [1, ...filterSizes],
    });
  },
};

// dataSync outlives the tensors that tidy frees: wasm copies it out of its memory.
await serve(greeting, (call) => tf.tidy(() => kernels[backend](call).dataSync()));
