/**
 * Selective log-softmax: logits are made for some tokens at a time, reduced, and dropped; the gradient makes them again.
 * N tokens, D width, V vocabulary.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { program, variants } from '../program.ts';
import { matrixOf } from './matrix.ts';
import { product } from './product.ts';
import { joined, joining, lanesFor } from './reduce.ts';

const LANES = 256;

/** What the logits at hand may take. */
const LOGITS_BYTES = 128 * 2 ** 20;

/** logits [rows, V] → logps, entropies and logsumexp, from row `first` on. */
const reduceProgram = variants(({ lanes }: { readonly lanes: number }) =>
  program({
    name: 'SelectiveLogSoftmax',
    parameters: ['rows', 'vocabulary', 'first', 'inverse:f32'],
    buffers: { logits: 'f32', targets: 'i32', logps: 'rw f32', entropies: 'rw f32', lse: 'rw f32' },
    workgroup: lanes,
    declarations: `
var<private> adding: bool;
fn join(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return select(max(a, b), a + b, adding); }
${joining('vec2<f32>', lanes)}`,
    main: `  if (group >= p.rows) { return; }
  let base = group * p.vocabulary;
  adding = false;
  var top = -3.4028234e38;
  for (var i = lane; i < p.vocabulary; i += ${lanes}u) { top = max(top, logits[base + i]); }
${joined('most', 'vec2(top)', lanes)}
  workgroupBarrier();
  adding = true;
  var mass = vec2<f32>(0.0);
  for (var i = lane; i < p.vocabulary; i += ${lanes}u) {
    let x = (logits[base + i] - most.x) * p.inverse;
    let e = exp(x);
    mass += vec2(e, e * x);
  }
${joined('total', 'mass', lanes)}
  if (lane == 0u) {
    let row = p.first + group;
    let x = (logits[base + u32(targets[row])] - most.x) * p.inverse;
    logps[row] = x - log(total.x);
    entropies[row] = log(total.x) - total.y / total.x;
    lse[row] = most.x * p.inverse + log(total.x);
  }`,
  }),
);

/** logits [rows, V] become their gradient in place. */
const gradProgram = program({
  name: 'SelectiveLogSoftmaxGrad',
  parameters: ['rows', 'vocabulary', 'first', 'inverse:f32'],
  buffers: { logits: 'rw f32', targets: 'i32', lse: 'f32', entropies: 'f32', dLogp: 'f32', dEntropy: 'f32' },
  workgroup: LANES,
  main: `  let parts = (p.vocabulary + ${LANES - 1}u) / ${LANES}u;
  let row = group / parts;
  let id = (group % parts) * ${LANES}u + lane;
  if (row >= p.rows || id >= p.vocabulary) { return; }
  let token = p.first + row;
  let at = row * p.vocabulary + id;
  let logp = logits[at] * p.inverse - lse[token];
  let probability = exp(logp);
  let chosen = select(0.0, 1.0, u32(targets[token]) == id);
  let fromLogp = dLogp[token] * (chosen - probability);
  let fromEntropy = dEntropy[token] * probability * (logp + entropies[token]);
  logits[at] = (fromLogp - fromEntropy) * p.inverse;`,
});

/** Rows of hidden states whose logits fit, and those logits, handed to `work` one after the other. */
function byRows(
  backend: WebGpuBackend,
  hidden: TensorInfo,
  weight: TensorInfo,
  work: (part: { readonly first: number; readonly rows: TensorInfo; readonly logits: TensorInfo }) => void,
): void {
  const [tokens = 0, width = 0] = hidden.shape;
  const [vocabulary = 1] = weight.shape;
  const limit = Math.min(LOGITS_BYTES, backend.gpu.largestBuffer);
  const most = Math.max(1, Math.floor(limit / (4 * vocabulary)));
  for (let first = 0; first < tokens; first += most) {
    const count = Math.min(most, tokens - first);
    const rows = count === tokens ? backend.share(hidden, hidden.shape) : backend.output([count, width]);
    if (count < tokens) backend.gpu.copy(backend.buffer(hidden), first * width, backend.buffer(rows), 0, count * width);
    const logits = backend.output([count, vocabulary]);
    product(backend, matrixOf(backend, rows), matrixOf(backend, weight, true), backend.buffer(logits));
    work({ first, rows, logits });
    backend.release(rows, logits);
  }
}

export function registerLogSoftmax(register: Register): void {
  register<{ temperature: number }>('SelectiveLogSoftmax', ({ backend, input, attrs }) => {
    const [hidden, weight, targets] = [input('hidden'), input('weight'), input('targets')];
    const [tokens = 0] = hidden.shape;
    const outputs = [0, 1, 2].map(() => backend.output([tokens]));
    byRows(backend, hidden, weight, ({ first, logits }) => {
      const [rows = 0, vocabulary = 0] = logits.shape;
      const buffers = [logits, targets, ...outputs].map((tensor) => backend.buffer(tensor));
      backend.gpu.run(
        reduceProgram({ lanes: lanesFor(vocabulary) }),
        buffers,
        [rows, vocabulary, first, 1 / attrs.temperature],
        rows,
      );
    });
    return outputs;
  });
  register<{ temperature: number; needHidden: boolean; needWeight: boolean }>(
    'SelectiveLogSoftmaxGrad',
    ({ backend, input, attrs }) => {
      const [hidden, weight] = [input('hidden'), input('weight')];
      const dHidden = attrs.needHidden ? backend.output(hidden.shape) : null;
      const dWeight = attrs.needWeight ? backend.output(weight.shape) : null;
      const given = ['targets', 'lse', 'entropy', 'dlogp', 'dentropy'].map((name) => backend.buffer(input(name)));
      byRows(backend, hidden, weight, ({ first, rows, logits }) => {
        const [count = 0, vocabulary = 0] = logits.shape;
        const buffer = backend.buffer(logits);
        const parameters = [count, vocabulary, first, 1 / attrs.temperature];
        backend.gpu.run(gradProgram, [buffer, ...given], parameters, count * groupsFor(vocabulary, LANES));
        if (dHidden !== null) hiddenGradient(backend, logits, weight, backend.buffer(dHidden), first);
        if (dWeight !== null)
          product(backend, matrixOf(backend, logits, true), matrixOf(backend, rows), backend.buffer(dWeight), {
            accumulate: first > 0,
          });
      });
      return [dHidden ?? none(backend), dWeight ?? none(backend)];
    },
  );
}

/** dLogits · W for the rows from `first` on. */
function hiddenGradient(
  backend: WebGpuBackend,
  dLogits: TensorInfo,
  weight: TensorInfo,
  out: GpuBuffer,
  first: number,
): void {
  const [rows = 0] = dLogits.shape;
  const width = weight.shape[1] ?? 0;
  const part = backend.output([rows, width]);
  product(backend, matrixOf(backend, dLogits), matrixOf(backend, weight), backend.buffer(part));
  backend.gpu.copy(backend.buffer(part), 0, out, first * width, rows * width);
  backend.release(part);
}

function none(backend: WebGpuBackend): TensorInfo {
  return { dataId: backend.write(Float32Array.of(0), [], 'float32'), shape: [], dtype: 'float32' };
}
