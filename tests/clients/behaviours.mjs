// Does what conformance.py calls behaviours, by the number of images.
import { Rejected, Unsupported, serve } from "../../clients/javascript/wgrad_candidate.mjs";

const behaviours = [
  async () => { throw new RangeError("it broke \udc80 \u03b1\"\n" + "x".repeat(20_000)); },
  () => { throw new Unsupported("not done here"); },
  () => { throw new Rejected("refused", "Unimplemented"); },
  () => new Float64Array(36),
  () => ({ data: new Float32Array(36), shape: [2, 2, 3, 3] }),
];

function greeting() {
  if (process.argv.length > 2) throw new Error("libfoo.so is not installed");
  return { name: "behaviours", validates: true, dtypes: ["f32"] };
}

serve(greeting, (call) => {
  if (!call.isValid) throw new TypeError("wrong arguments");
  return behaviours[call.input.shape[0] - 1](call);
});
