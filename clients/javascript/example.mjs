// A complete candidate: the weight gradient as plain loops, summed in float64 and rounded once at the end.
//
//     wgrad check 'cmd:node clients/javascript/example.mjs'
import { fromFloat64, serve, toFloat64 } from "./wgrad_candidate.mjs";

const wide = "wide:f64";
const greeting = {
  name: "javascript",
  version: "1",
  libraries: { node: process.versions.node, v8: process.versions.v8 },
  accuracy_class: { f16: wide, bf16: wide, f32: wide, f16_f32: wide, bf16_f32: wide, f64: "order" },
  pad: "skip",
  deterministic: true,
};

// A tensor's elements as float64, with its sizes and the distances between neighbours along n, h, w and c.
function asImages(tensor, dataFormat) {
  const images = { data: toFloat64(tensor), size: {}, step: {} };
  let step = 1;
  for (let axis = 3; axis >= 0; --axis) {
    images.size[dataFormat[axis]] = tensor.shape[axis];
    images.step[dataFormat[axis]] = step;
    step *= tensor.shape[axis];
  }
  return images;
}

function filterGradient(call) {
  const x = asImages(call.input, call.dataFormat), dy = asImages(call.outBackprop, call.dataFormat);
  const [khCount, kwCount, icCount, ocCount] = call.filterSizes;
  const [[top], [left]] = call.pads;
  const dw = new Float64Array(khCount * kwCount * icCount * ocCount);
  for (let kh = 0; kh < khCount; ++kh) {
    for (let kw = 0; kw < kwCount; ++kw) {
      for (let n = 0; n < dy.size.N; ++n) {
        for (let oh = 0; oh < dy.size.H; ++oh) {
          const ih = oh * call.strides[0] + kh * call.dilations[0] - top;
          if (ih < 0 || ih >= x.size.H) continue; // padding takes no part, not even beside an infinity
          for (let ow = 0; ow < dy.size.W; ++ow) {
            const iw = ow * call.strides[1] + kw * call.dilations[1] - left;
            if (iw < 0 || iw >= x.size.W) continue;
            const xAt = n * x.step.N + ih * x.step.H + iw * x.step.W;
            const dyAt = n * dy.step.N + oh * dy.step.H + ow * dy.step.W;
            for (let ic = 0, at = (kh * kwCount + kw) * icCount * ocCount; ic < icCount; ++ic) {
              for (let oc = 0; oc < ocCount; ++oc, ++at) {
                const c = Math.floor(oc / (ocCount / call.groups)) * icCount + ic;
                dw[at] += x.data[xAt + c * x.step.C] * dy.data[dyAt + oc * dy.step.C];
              }
            }
          }
        }
      }
    }
  }
  return fromFloat64(dw, call.resultDtype);
}

serve(greeting, filterGradient);
