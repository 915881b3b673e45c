/** RMSNorm, RoPE and SwiGLU with their gradients. */
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program, variants } from '../program.ts';
import { expDownOf } from './finite.ts';
import { joined, joining, lanesFor, sumColumns } from './reduce.ts';

const LANES = 256;

const sum = (lanes: number): string => `fn join(a: f32, b: f32) -> f32 { return a + b; }
${joining('f32', lanes)}`;

/** Declares `inverse`, 1 / rms of the workgroup's row. */
const inverseRms = (lanes: number): string => `  if (group >= p.rows) { return; }
  let base = group * p.width;
  var squares = 0.0;
  for (var i = lane; i < p.width; i += ${lanes}u) { squares += x[base + i] * x[base + i]; }
${joined('all', 'squares', lanes)}
  let inverse = inverseSqrt(all / f32(p.width) + p.eps);`;

interface Lanes {
  readonly lanes: number;
}

/** x [N, D], weight [D] → [N, D], a workgroup a row. */
const rmsNorm = variants(({ lanes }: Lanes) =>
  program({
    name: 'RmsNorm',
    parameters: ['rows', 'width', 'eps:f32'],
    buffers: { x: 'f32', weight: 'f32', out: 'rw f32' },
    workgroup: lanes,
    declarations: sum(lanes),
    main: `${inverseRms(lanes)}
  for (var i = lane; i < p.width; i += ${lanes}u) { out[base + i] = x[base + i] * inverse * weight[i]; }`,
  }),
);

const rmsNormGradX = variants(({ lanes }: Lanes) =>
  program({
    name: 'RmsNormGradX',
    parameters: ['rows', 'width', 'eps:f32'],
    buffers: { dy: 'f32', x: 'f32', weight: 'f32', out: 'rw f32' },
    workgroup: lanes,
    declarations: sum(lanes),
    main: `${inverseRms(lanes)}
  var along = 0.0;
  for (var i = lane; i < p.width; i += ${lanes}u) { along += dy[base + i] * weight[i] * x[base + i]; }
  workgroupBarrier();
${joined('projection', 'along', lanes)}
  let projected = projection / f32(p.width) * inverse * inverse;
  for (var i = lane; i < p.width; i += ${lanes}u) {
    out[base + i] = inverse * (dy[base + i] * weight[i] - x[base + i] * projected);
  }`,
  }),
);

/** dy · x / rms(x), which summed over the rows is the weight's gradient. */
const rmsNormScaled = variants(({ lanes }: Lanes) =>
  program({
    name: 'RmsNormGradWeight',
    parameters: ['rows', 'width', 'eps:f32'],
    buffers: { dy: 'f32', x: 'f32', out: 'rw f32' },
    workgroup: lanes,
    declarations: sum(lanes),
    main: `${inverseRms(lanes)}
  for (var i = lane; i < p.width; i += ${lanes}u) { out[base + i] = dy[base + i] * x[base + i] * inverse; }`,
  }),
);

/** x [N, heads*d], tables [P, d/2]; an invocation turns a pair. */
const rope = program({
  name: 'Rope',
  parameters: ['pairs', 'width', 'headDim', 'sign:f32'],
  buffers: { x: 'f32', positions: 'i32', cos: 'f32', sin: 'f32', out: 'rw f32' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.pairs) { return; }
  let half = p.headDim / 2u;
  let j = i % half;
  let head = i / half;
  let token = head * p.headDim / p.width;
  let angle = u32(positions[token]) * half + j;
  let c = cos[angle];
  let s = p.sign * sin[angle];
  let first = head * p.headDim + j;
  let a = x[first];
  let b = x[first + half];
  out[first] = a * c - b * s;
  out[first + half] = b * c + a * s;`,
});

const swiglu = program({
  name: 'SwiGlu',
  parameters: ['n'],
  buffers: { gate: 'vec4<f32>', up: 'vec4<f32>', out: 'rw vec4<f32>' },
  workgroup: LANES,
  declarations: expDownOf('vec4<f32>'),
  main: `  let i = group * ${LANES}u + lane;
  if (i < p.n) { out[i] = gate[i] / (1.0 + expDown(gate[i])) * up[i]; }`,
});

const swigluGrad = program({
  name: 'SwiGluGrad',
  parameters: ['n'],
  buffers: { dy: 'vec4<f32>', gate: 'vec4<f32>', up: 'vec4<f32>', dGate: 'rw vec4<f32>', dUp: 'rw vec4<f32>' },
  workgroup: LANES,
  declarations: expDownOf('vec4<f32>'),
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.n) { return; }
  let g = gate[i];
  let s = 1.0 / (1.0 + expDown(g));
  dGate[i] = dy[i] * up[i] * s * (1.0 + g * (1.0 - s));
  dUp[i] = dy[i] * g * s;`,
});

interface NormAttrs {
  readonly eps: number;
}

interface RopeAttrs {
  readonly headDim: number;
  readonly inverse: boolean;
}

export function registerNormRopeSwiGlu(register: Register): void {
  register<NormAttrs>('RmsNorm', ({ backend, input, attrs }) => {
    const [x, weight] = [input('x'), input('weight')];
    const [rows = 0, width = 0] = x.shape;
    const out = backend.output(x.shape);
    const buffers = [x, weight, out].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(rmsNorm({ lanes: lanesFor(width) }), buffers, [rows, width, attrs.eps], rows);
    return out;
  });
  register<NormAttrs>('RmsNormGradX', ({ backend, input, attrs }) => {
    const [dy, x, weight] = [input('dy'), input('x'), input('weight')];
    const [rows = 0, width = 0] = x.shape;
    const out = backend.output(x.shape);
    const buffers = [dy, x, weight, out].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(rmsNormGradX({ lanes: lanesFor(width) }), buffers, [rows, width, attrs.eps], rows);
    return out;
  });
  register<NormAttrs>('RmsNormGradWeight', ({ backend, input, attrs }) => {
    const [dy, x] = [input('dy'), input('x')];
    const [rows = 0, width = 0] = x.shape;
    const scaled = backend.output(x.shape);
    const buffers = [dy, x, scaled].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(rmsNormScaled({ lanes: lanesFor(width) }), buffers, [rows, width, attrs.eps], rows);
    const out = sumColumns(backend, scaled);
    backend.release(scaled);
    return out;
  });
  register<RopeAttrs>('Rope', ({ backend, input, attrs }) => {
    const x = input('x');
    const out = backend.output(x.shape);
    const buffers = [x, input('positions'), input('cos'), input('sin'), out].map((tensor) => backend.buffer(tensor));
    const pairs = sizeOf(x) / 2;
    const parameters = [pairs, x.shape[1] ?? 1, attrs.headDim, attrs.inverse ? -1 : 1];
    backend.gpu.run(rope, buffers, parameters, groupsFor(pairs, LANES));
    return out;
  });
  register('SwiGlu', ({ backend, input }) => {
    const [gate, up] = [input('gate'), input('up')];
    const out = backend.output(gate.shape);
    const n = Math.ceil(sizeOf(gate) / 4);
    backend.gpu.run(
      swiglu,
      [gate, up, out].map((tensor) => backend.buffer(tensor)),
      [n],
      groupsFor(n, LANES),
    );
    return out;
  });
  register('SwiGluGrad', ({ backend, input }) => {
    const [dy, gate, up] = [input('dy'), input('gate'), input('up')];
    const [dGate, dUp] = [backend.output(gate.shape), backend.output(gate.shape)];
    const n = Math.ceil(sizeOf(gate) / 4);
    const buffers = [dy, gate, up, dGate, dUp].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(swigluGrad, buffers, [n], groupsFor(n, LANES));
    return [dGate, dUp];
  });
}
