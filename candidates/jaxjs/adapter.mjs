// jax-js as a candidate. See README.md.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { serve } from "../../clients/javascript/wgrad_candidate.mjs";

const cache = process.env.WGRAD_CACHE_FOLDER;
const require = createRequire(`${cache}/package.json`);
let jax;

async function greeting() {
  globalThis.Float16Array ??= class Float16Array {}; // it asks for this class by name wherever there is a float64
  jax = await import(pathToFileURL(require.resolve("@jax-js/jax").replace(/cjs$/, "js")));
  await jax.init("wasm"); // the others look for a browser
  jax.defaultDevice("wasm");
  const { version } = require(`${cache}/node_modules/@jax-js/jax/package.json`);
  return {
    name: "jax-js", version, libraries: { "@jax-js/jax": version, node: process.version },
    dtypes: ["f32", "f64"], zero_sizes: false, pad: "either", result_layout: "oihw",
    accuracy_class: { f32: "order", f64: "order" },
    max_work: 3e7, // a call's seconds: 10 million multiply-adds take one
  };
}

await serve(greeting, (call) => {
  const { numpy, lax } = jax;
  const { input, outBackprop, filterSizes: [kh, kw, ic, oc], strides, dilations, pads, padding, groups } = call;
  // An array is consumed by the first function that takes it.
  const [x, dy] = [input, outBackprop].map(({ data, shape }) => {
    const array = numpy.array(data).reshape(shape);
    return call.dataFormat === "NHWC" ? numpy.transpose(array, [0, 3, 1, 2]) : array; // the only layout it knows
  });
  const kernel = numpy.zeros([oc, ic, kh, kw], { dtype: x.dtype });
  const options = { rhsDilation: dilations, featureGroupCount: groups };
  const convolution = (weights) =>
    lax.convGeneralDilated(x, weights, strides, padding === "EXPLICIT" ? pads : padding, options);
  const [y, gradient] = jax.vjp(convolution, [kernel]);
  const [result] = gradient(dy);
  y.dispose();
  gradient.dispose();
  return result.dataSync();
});
