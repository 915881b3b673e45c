/** Small GGUF files for tests: any types, any metadata, any damage. */
import { writeFileSync } from 'node:fs';
import { READABLE_TYPES } from '../../main/model/gguf/import/dequantise.ts';

export type Value = number | boolean | string | readonly string[] | readonly number[];

export interface TestTensor {
  readonly name: string;
  /** Rows first. */
  readonly shape: readonly number[];
  /** The format's number of its type. */
  readonly type?: number;
  readonly data?: Buffer;
  /** In place of where it lies. */
  readonly offset?: bigint;
}

const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: number | bigint): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function encoded(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)]);
  if (typeof value === 'boolean') return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])]);
  if (typeof value === 'number')
    return Number.isInteger(value)
      ? Buffer.concat([u32(4), u32(value)])
      : Buffer.concat([u32(6), Buffer.from(Float32Array.of(value).buffer)]);
  const [first = 0] = value;
  const items = typeof first === 'string' ? (value as string[]).map(text) : (value as number[]).map(u32);
  return Buffer.concat([u32(9), u32(typeof first === 'string' ? 8 : 5), u64(value.length), ...items]);
}

/** The bytes of a file. Data that isn't given is zeros. */
export function ggufBytes(metadata: Readonly<Record<string, Value>>, tensors: readonly TestTensor[]): Buffer {
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) head.push(text(key), encoded(value));
  const data: Buffer[] = [];
  let at = 0;
  for (const tensor of tensors) {
    const { name, shape, type = 0, offset = BigInt(at) } = tensor;
    head.push(text(name), u32(shape.length), ...shape.toReversed().map(u64), u32(type), u64(offset));
    const bytes = padded(tensor.data ?? Buffer.alloc(bytesOf(shape, type)));
    data.push(bytes);
    at += bytes.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

/** Types by number, as the file has them: the test files name them, and the reader knows them. */
export const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q2_K: 10,
  Q3_K: 11,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  IQ4_NL: 20,
  BF16: 30,
};

function bytesOf(shape: readonly number[], number: number): number {
  const type = READABLE_TYPES.find(({ name }) => TYPE_NUMBERS[name] === number);
  const numbers = shape.reduce((a, b) => a * b, 1);
  return type === undefined || numbers > 2 ** 30 ? 0 : (numbers / type.block) * type.bytes;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
}

/** The tokens of a byte-level tokenizer without merges, with a control token for each name. */
export function byteTokens(...control: readonly string[]): { readonly tokens: string[]; readonly types: number[] } {
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
  return { tokens: [...bytes, ...control], types: [...bytes.map(() => 1), ...control.map(() => 3)] };
}

export const CHATML =
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const VOCABULARY = byteTokens('<|endoftext|>', '<|im_start|>', '<|im_end|>');
const [WIDTH, INNER] = [256, 256];

/** A llama of one layer with a chat template, whose end token is a document's and not a turn's. */
export const SMALL_METADATA: Readonly<Record<string, Value>> = {
  'general.architecture': 'llama',
  'general.name': 'Small',
  'llama.context_length': 128,
  'llama.embedding_length': WIDTH,
  'llama.block_count': 1,
  'llama.feed_forward_length': INNER,
  'llama.attention.head_count': 4,
  'llama.attention.head_count_kv': 2,
  'llama.attention.layer_norm_rms_epsilon': 1e-5,
  'llama.rope.freq_base': 10000.5,
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'smollm',
  'tokenizer.ggml.tokens': VOCABULARY.tokens,
  'tokenizer.ggml.token_type': VOCABULARY.types,
  'tokenizer.ggml.merges': ['h e', 'l l'],
  'tokenizer.ggml.eos_token_id': 256,
  'tokenizer.ggml.bos_token_id': 257,
  'tokenizer.chat_template': CHATML,
};

/** Its tensors, matrices of a type. Scales are small and finite, the rest is random. */
export function smallTensors(type: string): readonly TestTensor[] {
  const matrix = (name: string, rows: number, width: number): TestTensor => ({
    name,
    shape: [rows, width],
    type: TYPE_NUMBERS[type] ?? 0,
    data: randomData(type, rows * width),
  });
  const ones = (name: string): TestTensor => ({
    name,
    shape: [WIDTH],
    data: Buffer.from(new Float32Array(WIDTH).fill(1).buffer),
  });
  return [
    matrix('token_embd.weight', VOCABULARY.tokens.length, WIDTH),
    ones('blk.0.attn_norm.weight'),
    matrix('blk.0.attn_q.weight', WIDTH, WIDTH),
    matrix('blk.0.attn_k.weight', WIDTH / 2, WIDTH),
    matrix('blk.0.attn_v.weight', WIDTH / 2, WIDTH),
    matrix('blk.0.attn_output.weight', WIDTH, WIDTH),
    ones('blk.0.ffn_norm.weight'),
    matrix('blk.0.ffn_gate.weight', INNER, WIDTH),
    matrix('blk.0.ffn_up.weight', INNER, WIDTH),
    matrix('blk.0.ffn_down.weight', WIDTH, INNER),
    ones('output_norm.weight'),
  ];
}

/** Bytes whose every half is a finite float16, whatever the type. */
function randomData(name: string, numbers: number): Buffer {
  const type = READABLE_TYPES.find((one) => one.name === name);
  if (type === undefined) throw new Error(`Expected a type, got ${name}`);
  const bytes = Buffer.alloc((numbers / type.block) * type.bytes);
  let state = 7;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = (state >>> 24) & 0xbb;
  }
  return bytes;
}

export function writeSmall(
  file: string,
  type = 'F32',
  changed: Readonly<Record<string, Value>> = {},
  tensors: readonly TestTensor[] = smallTensors(type),
): string {
  writeFileSync(file, ggufBytes({ ...SMALL_METADATA, ...changed }, tensors));
  return file;
}
