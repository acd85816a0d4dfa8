// ONNX Runtime's ConvGrad as a candidate. See README.md.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { serve } from "../../clients/javascript/wgrad_candidate.mjs";
import { convGradModel } from "./onnx.mjs";

const folder = path.join(process.env.WGRAD_CACHE_FOLDER ?? "", "node_modules/onnxruntime-web");
let ort;

// The training build is for browsers and takes a wrong turn where it sees Node. So it gets a world of its own, in which
// a browser would find itself at home, and whose only download is its own WebAssembly from the package's folder.
function loadAsInBrowser() {
  const script = "ort.training.wasm.min.js";
  const world = {
    ArrayBuffer, DataView, Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array, WebAssembly, TextDecoder, TextEncoder, URL, Blob, console, performance,
    setTimeout, clearTimeout, navigator: { userAgent: "", hardwareConcurrency: 1 },
    location: { href: "http://localhost/", origin: "http://localhost" },
    document: { currentScript: { src: `http://localhost/${script}` } },
    fetch: async (url) => new Response(fs.readFileSync(path.join(folder, "dist", path.basename(url))),
      { headers: { "Content-Type": "application/wasm" } }),
  };
  world.self = world.window = world;
  vm.runInContext(fs.readFileSync(path.join(folder, "dist", script), "utf8"), vm.createContext(world));
  return world.ort;
}

async function greeting() {
  ort = loadAsInBrowser();
  ort.env.wasm.numThreads = 1;
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const plainest = { kernel: [1, 1], strides: [1, 1], dilations: [1, 1], pads: [0, 0, 0, 0], groups: 1 };
  await runnerOf({ dataFormat: "NCHW", ...plainest }); // starts the WebAssembly, a second that no call should wait
  return {
    name: "onnxruntime-web", version, libraries: { "onnxruntime-web": version, node: process.version },
    dtypes: ["f32"], zero_sizes: false, accuracy_class: { f32: "order" }, pad: "either", result_layout: "oihw",
    max_work: 5e9, restart_after_error: true, // WebAssembly that has trapped once does so again
  };
}

// A runner belongs to one model, that is to one set of attributes. The last one is kept.
let last = { key: "" };
async function runnerOf(attributes) {
  const key = JSON.stringify(attributes);
  if (key !== last.key) {
    await last.runner?.release();
    last = { key: "" };
    const runner = await ort.InferenceSession.create(convGradModel(attributes), { executionProviders: ["wasm"] });
    last = { key, runner };
  }
  return last.runner;
}

await serve(greeting, async (call) => {
  const { input, outBackprop, filterSizes: [kh, kw, ic, oc], strides, dilations, pads, groups, dataFormat } = call;
  const [[top, bottom], [left, right]] = pads;
  const runner = await runnerOf(
    { dataFormat, kernel: [kh, kw], strides, dilations, pads: [top, left, bottom, right], groups });
  const tensor = ({ data, shape }) => new ort.Tensor("float32", data, shape);
  const w = tensor({ data: new Float32Array(oc * ic * kh * kw), shape: [oc, ic, kh, kw] });
  const { dw } = await runner.run({ dy: tensor(outBackprop), x: tensor(input), w });
  return { data: dw.data, shape: [...dw.dims] };
});
