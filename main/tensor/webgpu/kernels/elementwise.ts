/** Element by element: one tensor, two (with broadcasting), a choice, a change of type. */
import { type DataType, type TensorInfo, util } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program, variants } from '../program.ts';
import { expDownOf } from './finite.ts';

const WORKGROUP = 256;

/** Dimensions that index arithmetic here goes up to; more are merged or refused. */
const MAX_RANK = 6;

/** Of x: vec4<f32>. */
const UNARY: Readonly<Record<string, string>> = {
  Neg: '-x',
  Abs: 'abs(x)',
  Exp: 'exp(x)',
  Expm1: 'exp(x) - 1.0',
  Log: 'log(x)',
  Log1p: 'log(1.0 + x)',
  Sqrt: 'sqrt(x)',
  Rsqrt: 'inverseSqrt(x)',
  Square: 'x * x',
  Reciprocal: '1.0 / x',
  Sigmoid: '1.0 / (1.0 + expDown(x))',
  // tanh itself overflows on some drivers.
  Tanh: 'tanh(clamp(x, vec4(-20.0), vec4(20.0)))',
  Relu: 'max(x, vec4(0.0))',
  // WGSL's own are good to three digits only.
  Sin: 'wave(x, 0)',
  Cos: 'wave(x, 1)',
  Floor: 'floor(x)',
  Ceil: 'ceil(x)',
  Round: 'round(x)',
  Sign: 'sign(x)',
  // Abramowitz and Stegun 7.1.26, as tfjs's other backends have it: an error of at most 1.5e-7.
  Erf: 'sign(x) * (1.0 - erfTail(1.0 / (1.0 + 0.3275911 * abs(x))) * exp(-x * x))',
};

const ERF_TAIL = `fn erfTail(t: vec4<f32>) -> vec4<f32> {
  return ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
}`;

/** Sine, a quarter later the cosine: reduced to ±π/4 in three steps (Cody and Waite), then their Taylor series. */
const WAVE = `fn wave(x: vec4<f32>, later: i32) -> vec4<f32> {
  let turns = round(x * 0.636619772);
  let r = ((x - turns * 1.5703125) - turns * 4.837512969970703e-4) - turns * 7.549789948768648e-8;
  let s = r * r;
  let sine = r * (1.0 + s * (-0.166666667 + s * (8.33333333e-3 + s * (-1.98412698e-4 + s * 2.75573192e-6))));
  let cosine = 1.0 + s * (-0.5 + s * (4.16666667e-2 + s * (-1.38888889e-3 + s * 2.48015873e-5)));
  let quarter = (vec4<i32>(turns) + vec4<i32>(later)) & vec4<i32>(3);
  let value = select(sine, cosine, (quarter & vec4<i32>(1)) == vec4<i32>(1));
  return select(value, -value, quarter >= vec4<i32>(2));
}`;

/** What an op's expression calls. */
const HELPERS: Readonly<Record<string, string>> = {
  Erf: ERF_TAIL,
  Sin: WAVE,
  Cos: WAVE,
  Sigmoid: expDownOf('vec4<f32>'),
};

/** Of x: vec4<i32>. */
const UNARY_INTEGER: Readonly<Record<string, string>> = {
  Neg: '-x',
  Abs: 'abs(x)',
  Square: 'x * x',
  Sign: 'sign(x)',
};

interface BinaryOp {
  /** Of a and b, both vec4<T>. */
  readonly of: string;
  readonly comparison?: boolean;
}

const BINARY: Readonly<Record<string, BinaryOp>> = {
  Add: { of: 'a + b' },
  Sub: { of: 'a - b' },
  Multiply: { of: 'a * b' },
  RealDiv: { of: 'a / b' },
  Maximum: { of: 'max(a, b)' },
  Minimum: { of: 'min(a, b)' },
  SquaredDifference: { of: '(a - b) * (a - b)' },
  Pow: { of: 'power(a, b)' },
  FloorDiv: { of: 'T4(floor(vec4<f32>(a) / vec4<f32>(b)))' },
  Mod: { of: 'a - b * T4(floor(vec4<f32>(a) / vec4<f32>(b)))' },
  Greater: { of: 'a > b', comparison: true },
  GreaterEqual: { of: 'a >= b', comparison: true },
  Less: { of: 'a < b', comparison: true },
  LessEqual: { of: 'a <= b', comparison: true },
  Equal: { of: 'a == b', comparison: true },
  NotEqual: { of: 'a != b', comparison: true },
  LogicalAnd: { of: '(a != T4(0)) & (b != T4(0))', comparison: true },
  LogicalOr: { of: '(a != T4(0)) | (b != T4(0))', comparison: true },
};

/** WGSL's pow knows no negative base. */
const POWER = `fn power(a: T4, b: T4) -> T4 {
  let x = vec4<f32>(a);
  let y = vec4<f32>(b);
  let odd = abs(y - 2.0 * floor(y / 2.0)) == vec4(1.0);
  let size = select(pow(abs(x), y), vec4(1.0), y == vec4(0.0));
  return T4(select(size, -size, (x < vec4(0.0)) & odd));
}`;

type Scalar = 'f32' | 'i32';

interface BinaryKey {
  readonly op: string;
  readonly type: Scalar;
  /** Which operand is a number among the parameters. */
  readonly number: 'a' | 'b' | 'none';
}

const unaryProgram = variants(({ op, type }: { readonly op: string; readonly type: Scalar }) =>
  program({
    name: op,
    parameters: ['n'],
    buffers: { x: `vec4<${type}>`, out: `rw vec4<${type}>` },
    workgroup: WORKGROUP,
    declarations: `${HELPERS[op] ?? ''}
fn applied(x: vec4<${type}>) -> vec4<${type}> { return ${(type === 'f32' ? UNARY : UNARY_INTEGER)[op]}; }`,
    main: `  let i = group * ${WORKGROUP}u + lane;
  if (i < p.n) { out[i] = applied(x[i]); }`,
  }),
);

function operation({ op, type }: Pick<BinaryKey, 'op' | 'type'>): string {
  const { of, comparison } = BINARY[op] ?? { of: '' };
  const result = comparison ? 'vec4<i32>' : 'T4';
  const value = comparison ? `select(vec4<i32>(0), vec4<i32>(1), ${of})` : of;
  return `alias T4 = vec4<${type}>;
${op === 'Pow' ? POWER : ''}
fn applied(a: T4, b: T4) -> ${result} { return ${value}; }`;
}

const outType = ({ op, type }: Pick<BinaryKey, 'op' | 'type'>): Scalar =>
  BINARY[op]?.comparison === true ? 'i32' : type;

/** Operands of one size, or one of them a number: four elements an invocation. */
const flatProgram = variants((key: BinaryKey) =>
  program({
    name: key.op,
    parameters: ['n', `number:${key.type}`],
    buffers: {
      ...(key.number === 'a' ? {} : { a: `vec4<${key.type}>` }),
      ...(key.number === 'b' ? {} : { b: `vec4<${key.type}>` }),
      out: `rw vec4<${outType(key)}>`,
    },
    workgroup: WORKGROUP,
    declarations: operation(key),
    main: `  let i = group * ${WORKGROUP}u + lane;
  if (i < p.n) { out[i] = applied(${key.number === 'a' ? 'T4(p.number)' : 'a[i]'}, ${key.number === 'b' ? 'T4(p.number)' : 'b[i]'}); }`,
  }),
);

/** Declares the members that `coordinates` divides by. */
export const dimensions = (prefix: string): string[] => Array.from({ length: MAX_RANK }, (_, i) => `${prefix}${i}`);

/** Statements that turn the linear index `i` into an offset by each of the named strides. */
export function offsets(strides: readonly string[]): string {
  const lines = ['  var rest = i;', ...strides.map((name) => `  var at_${name} = 0u;`)];
  for (let axis = MAX_RANK - 1; axis >= 0; axis--) {
    lines.push(`  let c${axis} = rest % p.d${axis}; rest /= p.d${axis};`);
    for (const name of strides) lines.push(`  at_${name} += c${axis} * p.${name}${axis};`);
  }
  return lines.join('\n');
}

/** Operands that broadcast against each other. */
const broadcastProgram = variants(({ op, type }: Pick<BinaryKey, 'op' | 'type'>) =>
  program({
    name: op,
    parameters: ['n', ...dimensions('d'), ...dimensions('a'), ...dimensions('b')],
    buffers: { x: type, y: type, out: `rw ${outType({ op, type })}` },
    workgroup: WORKGROUP,
    declarations: operation({ op, type }),
    main: `  let i = group * ${WORKGROUP}u + lane;
  if (i >= p.n) { return; }
${offsets(['a', 'b'])}
  out[i] = applied(T4(x[at_a]), T4(y[at_b])).x;`,
  }),
);

const selectProgram = program({
  name: 'Select',
  parameters: ['n', ...dimensions('d'), ...dimensions('a'), ...dimensions('b'), ...dimensions('c')],
  buffers: { condition: 'i32', t: 'u32', e: 'u32', out: 'rw u32' },
  workgroup: WORKGROUP,
  main: `  let i = group * ${WORKGROUP}u + lane;
  if (i >= p.n) { return; }
${offsets(['a', 'b', 'c'])}
  out[i] = select(e[at_c], t[at_b], condition[at_a] != 0);`,
});

/** 1 above zero, `alpha` elsewhere: the gradient of abs has -1 there. */
const stepProgram = program({
  name: 'Step',
  parameters: ['n', 'alpha:f32'],
  buffers: { x: 'vec4<f32>', out: 'rw vec4<f32>' },
  workgroup: WORKGROUP,
  main: `  let i = group * ${WORKGROUP}u + lane;
  if (i < p.n) { out[i] = select(vec4(p.alpha), vec4(1.0), x[i] > vec4(0.0)); }`,
});

const castProgram = variants(({ to }: { readonly to: 'f32' | 'i32' | 'bool' | 'bool-f32' }) =>
  program({
    name: 'Cast',
    parameters: ['n'],
    buffers: {
      x: to === 'f32' || to === 'bool' ? 'vec4<i32>' : 'vec4<f32>',
      out: `rw vec4<${to === 'f32' ? 'f32' : 'i32'}>`,
    },
    workgroup: WORKGROUP,
    main: `  let i = group * ${WORKGROUP}u + lane;
  if (i < p.n) { out[i] = ${
    to === 'f32'
      ? 'vec4<f32>(x[i])'
      : to === 'i32'
        ? 'vec4<i32>(x[i])'
        : `select(vec4<i32>(0), vec4<i32>(1), x[i] != ${to === 'bool' ? 'vec4<i32>(0)' : 'vec4<f32>(0.0)'})`
  }; }`,
  }),
);

const fillProgram = program({
  name: 'Fill',
  parameters: ['n', 'value:f32'],
  buffers: { out: 'rw vec4<f32>' },
  workgroup: WORKGROUP,
  main: `  let i = group * ${WORKGROUP}u + lane;
  if (i < p.n) { out[i] = vec4(p.value); }`,
});

/** Row-major strides. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let i = shape.length - 2; i >= 0; i--) strides[i] = (strides[i + 1] ?? 1) * (shape[i + 1] ?? 1);
  return strides;
}

/** Values for the last dimensions, filled up in front to MAX_RANK. */
export function padded(values: readonly number[], filler: number): number[] {
  if (values.length > MAX_RANK) throw new Error(`Expected at most ${MAX_RANK} dimensions, got ${values.length}`);
  return [...new Array<number>(MAX_RANK - values.length).fill(filler), ...values];
}

/** Strides of an operand for the shape that it broadcasts to: 0 where it repeats. */
function broadcastStrides(shape: readonly number[], rank: number): number[] {
  const own = stridesOf(shape).map((stride, i) => (shape[i] === 1 ? 0 : stride));
  return padded([...new Array<number>(rank - shape.length).fill(0), ...own], 0);
}

const vectors = (size: number): number => Math.ceil(size / 4);

const typeOf = (dtype: DataType): Scalar => (dtype === 'float32' ? 'f32' : 'i32');

export function unary(backend: WebGpuBackend, op: string, x: TensorInfo): TensorInfo {
  const type = typeOf(x.dtype);
  if ((type === 'f32' ? UNARY : UNARY_INTEGER)[op] === undefined)
    throw new Error(`Expected floats for ${op}, got ${x.dtype}`);
  const out = backend.output(x.shape, x.dtype);
  const n = vectors(sizeOf(x));
  backend.gpu.run(unaryProgram({ op, type }), [backend.buffer(x), backend.buffer(out)], [n], groupsFor(n, WORKGROUP));
  return out;
}

export function binary(backend: WebGpuBackend, op: string, a: TensorInfo, b: TensorInfo): TensorInfo {
  const shape = broadcastShape(a.shape, b.shape);
  const type = typeOf(a.dtype === 'float32' ? a.dtype : b.dtype);
  const [x, y] = [converted(backend, a, type), converted(backend, b, type)];
  const dtype = BINARY[op]?.comparison === true ? 'bool' : a.dtype === 'bool' ? b.dtype : a.dtype;
  const out = backend.output(shape, type === 'f32' && dtype !== 'bool' ? 'float32' : dtype);
  runBinary(backend, { op, type, number: 'none' }, x, y, out);
  for (const made of [x !== a && x, y !== b && y]) if (made) backend.release(made);
  return out;
}

function runBinary(backend: WebGpuBackend, key: BinaryKey, a: TensorInfo, b: TensorInfo, out: TensorInfo): void {
  const { gpu } = backend;
  const size = sizeOf(out);
  const n = vectors(size);
  const groups = groupsFor(n, WORKGROUP);
  const number = { a: scalarOf(backend, a), b: scalarOf(backend, b) };
  const whole = { a: sizeOf(a) === size, b: sizeOf(b) === size };
  const result = backend.buffer(out);
  if (number.b !== null && whole.a) {
    gpu.run(flatProgram({ ...key, number: 'b' }), [backend.buffer(a), result], [n, number.b], groups);
  } else if (number.a !== null && whole.b) {
    gpu.run(flatProgram({ ...key, number: 'a' }), [backend.buffer(b), result], [n, number.a], groups);
  } else if (whole.a && whole.b) {
    gpu.run(flatProgram(key), [backend.buffer(a), backend.buffer(b), result], [n, 0], groups);
  } else {
    const strides = [a, b].flatMap(({ shape }) => broadcastStrides(shape, out.shape.length));
    const parameters = [size, ...padded(out.shape, 1), ...strides];
    const buffers = [backend.buffer(a), backend.buffer(b), result];
    gpu.run(broadcastProgram({ op: key.op, type: key.type }), buffers, parameters, groupsFor(size, WORKGROUP));
  }
}

function scalarOf(backend: WebGpuBackend, tensor: TensorInfo): number | null {
  return sizeOf(tensor) === 1 ? (backend.known(tensor)?.[0] ?? null) : null;
}

function converted(backend: WebGpuBackend, tensor: TensorInfo, type: Scalar): TensorInfo {
  return typeOf(tensor.dtype) === type ? tensor : cast(backend, tensor, type === 'f32' ? 'float32' : 'int32');
}

function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i, rank = Math.max(a.length, b.length)) => {
    const [x = 1, y = 1] = [a[i - rank + a.length], b[i - rank + b.length]];
    if (x !== y && x !== 1 && y !== 1) throw new Error(`Expected shapes that broadcast, got [${a}] and [${b}]`);
    return x === 1 ? y : x;
  });
}

function cast(backend: WebGpuBackend, x: TensorInfo, dtype: DataType): TensorInfo {
  const [from, to] = [typeOf(x.dtype), typeOf(dtype)];
  if (from === to && (dtype !== 'bool' || x.dtype === 'bool')) return { ...backend.share(x, x.shape), dtype };
  const out = backend.output(x.shape, dtype);
  const n = vectors(sizeOf(x));
  const kind = dtype === 'bool' ? (from === 'f32' ? 'bool-f32' : 'bool') : to;
  backend.gpu.run(castProgram({ to: kind }), [backend.buffer(x), backend.buffer(out)], [n], groupsFor(n, WORKGROUP));
  return out;
}

function step(backend: WebGpuBackend, x: TensorInfo, alpha: number): TensorInfo {
  if (x.dtype !== 'float32') throw new Error(`Expected floats for Step, got ${x.dtype}`);
  const out = backend.output(x.shape);
  const n = vectors(sizeOf(x));
  backend.gpu.run(stepProgram, [backend.buffer(x), backend.buffer(out)], [n, alpha], groupsFor(n, WORKGROUP));
  return out;
}

/** A tensor of one value. */
export function fill(backend: WebGpuBackend, shape: readonly number[], value: number, dtype: DataType): TensorInfo {
  const size = util.sizeFromShape([...shape]);
  if (dtype !== 'float32')
    return { dataId: backend.write(new Int32Array(size).fill(value), [...shape], dtype), shape: [...shape], dtype };
  const out = backend.output(shape, dtype);
  const n = vectors(size);
  backend.gpu.run(fillProgram, [backend.buffer(out)], [n, value], groupsFor(n, WORKGROUP));
  return out;
}

export function registerElementwise(register: Register): void {
  for (const op of Object.keys(UNARY)) register(op, ({ backend, input }) => unary(backend, op, input('x')));
  for (const op of Object.keys(BINARY))
    register(op, ({ backend, input }) => binary(backend, op, input('a'), input('b')));
  register<{ alpha?: number }>('Step', ({ backend, input, attrs }) => step(backend, input('x'), attrs.alpha ?? 0));
  register<{ dtype: DataType }>('Cast', ({ backend, input, attrs }) => cast(backend, input('x'), attrs.dtype));
  register<{ shape: number[]; value: number; dtype?: DataType }>('Fill', ({ backend, attrs }) =>
    fill(backend, attrs.shape, attrs.value, attrs.dtype ?? 'float32'),
  );
  register('ZerosLike', ({ backend, input }) => fill(backend, input('x').shape, 0, input('x').dtype));
  register('OnesLike', ({ backend, input }) => fill(backend, input('x').shape, 1, input('x').dtype));
  register('LogicalNot', ({ backend, input }) => {
    const zero = backend.integers(Int32Array.of(0), []);
    const out = binary(backend, 'Equal', input('x'), zero);
    backend.release(zero);
    return out;
  });
  register<{ clipValueMin: number; clipValueMax: number }>('ClipByValue', ({ backend, input, attrs }) => {
    const bounds = [attrs.clipValueMin, attrs.clipValueMax].map(
      (value): TensorInfo => ({
        dataId: backend.write(Float32Array.of(value), [], 'float32'),
        shape: [],
        dtype: 'float32',
      }),
    ) as [TensorInfo, TensorInfo];
    const low = binary(backend, 'Maximum', input('x'), bounds[0]);
    const out = binary(backend, 'Minimum', low, bounds[1]);
    backend.release(...bounds, low);
    return out;
  });
  register('Select', ({ backend, input }) => {
    const [condition, t, e] = [input('condition'), input('t'), input('e')];
    const shape = broadcastShape(broadcastShape(alignedCondition(condition.shape, t.shape), t.shape), e.shape);
    const out = backend.output(shape, t.dtype);
    const size = sizeOf(out);
    const strides = [alignedCondition(condition.shape, t.shape), t.shape, e.shape].flatMap((own) =>
      broadcastStrides(own, shape.length),
    );
    const buffers = [condition, t, e, out].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(selectProgram, buffers, [size, ...padded(shape, 1), ...strides], groupsFor(size, WORKGROUP));
    return out;
  });
}

/** tfjs allows a vector that chooses whole rows. */
function alignedCondition(condition: readonly number[], shape: readonly number[]): number[] {
  if (condition.length !== 1 || shape.length <= 1) return [...condition];
  return [...condition, ...new Array<number>(shape.length - 1).fill(1)];
}
