// ConvNetJS as a candidate. See README.md.
import { createRequire } from "node:module";
import { serve, Unsupported } from "../../clients/javascript/wgrad_candidate.mjs";

const load = createRequire(`${process.env.WGRAD_CACHE_FOLDER}/package.json`);
let convnetjs;

function greeting() {
  convnetjs = load("convnetjs");
  const { version } = load("convnetjs/package.json");
  return {
    name: "convnetjs", version, libraries: { convnetjs: version, node: process.version },
    dtypes: ["f64"], data_formats: ["NHWC"], asymmetric_padding: false, per_axis_strides: false, dilation: false,
    groups: false, accuracy_class: { f64: "order" }, pad: "skip", result_layout: "ohwi",
    max_work: 3e8, // a call's seconds: 150 million multiply-adds take one
  };
}

// A volume of height, width and channels that holds one image of a batch.
function volume({ data, shape: [, height, width, depth] }, image, field) {
  const result = new convnetjs.Vol(width, height, depth, 0);
  const size = height * width * depth;
  result[field] = data.subarray(image * size, (image + 1) * size);
  return result;
}

await serve(greeting, ({ input, outBackprop, filterSizes: [kh, kw, ic, oc], strides: [stride], pads }) => {
  const [[pad], [left]] = pads;
  if (pad !== left) throw new Unsupported("paddings of rows and columns that differ");
  const [count, height, width] = input.shape;
  const layer = new convnetjs.ConvLayer({
    filters: oc, sx: kw, sy: kh, in_depth: ic, in_sx: width, in_sy: height, stride, pad,
  });
  for (let image = 0; image < count; ++image) { // the layer knows one image, and adds to the gradient of the last
    layer.in_act = volume(input, image, "w"); // what the forward pass would leave behind
    layer.out_act = volume(outBackprop, image, "dw");
    layer.backward();
  }
  const result = new Float64Array(oc * kh * kw * ic);
  layer.filters.forEach((filter, at) => result.set(filter.dw, at * kh * kw * ic));
  return result;
});
