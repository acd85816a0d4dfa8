// TensorFlow.js in headless Chromium as a candidate. README.md says what the variants are and how each is judged.
//
// This program serves page.html on loopback and opens it in Chromium. The page posts what it has done to /next, and
// the response, which may be long in coming, is the next call.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { serve, startError, variant } from "../../clients/javascript/wgrad_candidate.mjs";

const modules = `${process.env.WGRAD_CACHE_FOLDER}/node_modules/@tensorflow`;
const files = {
  "/": [new URL("page.html", import.meta.url), "text/html"],
  "/tfjs.js": [`${modules}/tfjs/dist/tf.min.js`, "text/javascript"],
  "/webgpu.js": [`${modules}/tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js`, "text/javascript"],
};
const backend = variant() || "webgl";
const flags = {
  webgl: ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  webgpu: ["--enable-unsafe-webgpu", "--enable-features=Vulkan", "--use-vulkan=swiftshader",
    "--use-webgpu-adapter=swiftshader"],
};

// --------------------------------------------------------------------------------------------------------------------
// The page

let idlePage; // the response that the page waits for
let report; // called with what the page has done: {failure, body}

const server = http.createServer(async (request, response) => {
  if (request.method === "GET") {
    const [file, type] = files[request.url] ?? [];
    response.writeHead(file ? 200 : 404, { "Content-Type": type ?? "text/plain" });
    response.end(file ? fs.readFileSync(file) : "");
    return;
  }
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  idlePage = response;
  report({ failure: request.headers["x-failure"] !== undefined, body: Buffer.concat(pieces) });
});
server.keepAliveTimeout = 0; // serve() blocks while it waits for wgrad: no connection is to expire for that

const pageReport = () => new Promise((resolve, reject) => {
  report = ({ failure, body }) => (failure ? reject(new Error(body.toString())) : resolve(body));
});

// --------------------------------------------------------------------------------------------------------------------
// Chromium

// A new folder for all that Chromium writes. wgrad ends its candidates by SIGKILL, and Chromium makes a folder again
// that is removed too early: so a shell outside the process group waits for the end of this program and removes it.
function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "wgrad-tfjsweb-"));
  spawn("/bin/sh", ["-c", 'cat; sleep 1; rm -rf "$0"', folder],
    { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  return folder;
}

function startChromium(address) {
  const folder = temporaryFolder();
  // No zygote: it would leave the process group by which wgrad ends everything.
  const chromium = spawn("/usr/bin/chromium", ["--headless=new", "--no-sandbox", "--no-zygote", "--disable-breakpad",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-component-update", "--disable-background-networking",
    "--disable-gpu-shader-disk-cache", "--no-first-run", `--user-data-dir=${folder}`, ...flags[backend], address],
    { stdio: "ignore", env: { ...process.env, HOME: folder, TMPDIR: folder } });
  process.on("exit", () => chromium.kill("SIGKILL"));
  chromium.on("error", (error) => startError(`Chromium cannot be started: ${error.message}`));
  chromium.on("exit", (code, signal) => {
    console.error(`Chromium has ended: ${signal ?? `exit ${code}`}`);
    process.exit(1);
  });
}

async function greeting() {
  const ready = pageReport();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  startChromium(`http://127.0.0.1:${server.address().port}/#${backend}`);
  const about = JSON.parse(await ready.catch(({ message }) =>
    startError(`TensorFlow.js has no backend ${backend} in this Chromium: ${message}`)));
  return {
    name: "tfjsweb", version: about.version,
    libraries: { "@tensorflow/tfjs": about.version, chromium: about.chromium, gpu: about.gpu },
    dtypes: ["f32"], dilation: false, groups: false, pad: "skip", ftz: true, daz: true, max_work: 4e6,
    accuracy_class: { f32: "order" },
  };
}

await serve(greeting, async ({ input, outBackprop, filterSizes, strides, padding, pads, dataFormat }) => {
  const pairs = dataFormat === "NHWC" ? [[0, 0], ...pads, [0, 0]] : [[0, 0], [0, 0], ...pads];
  const job = JSON.stringify({
    shapes: [input.shape, outBackprop.shape],
    attributes: {
      strides, pad: padding === "EXPLICIT" ? pairs : padding.toLowerCase(), dataFormat, filterShape: filterSizes,
    },
  });
  const bytes = [input, outBackprop].map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const result = pageReport();
  idlePage.setHeader("X-Job", job);
  idlePage.end(Buffer.concat(bytes));
  const { buffer, byteOffset, byteLength } = await result;
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
});
