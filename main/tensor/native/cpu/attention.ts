import type { AttentionShape } from '../../ops/attention.ts';
import type { Handle } from '../ops.ts';
import type { RegisterCpu } from './kernel.ts';
import { type Call, matrixSize } from './kernel.ts';

// N tokens, H query heads.

export function registerAttention(register: RegisterCpu): void {
  register<AttentionShape>('PackedAttention', (call) => {
    const inputs = { ...qkv(call), segments: call.input('segments') };
    const [n] = matrixSize('q', inputs.q);
    const [out, lse] = [call.output(inputs.q.shape), call.output([n, call.attrs.numHeads])];
    call.run('attention', { ...inputs, out, lse }, headsOf(call.attrs));
    return [out, lse];
  });
  register<AttentionShape>('PackedAttentionGrad', (call) => {
    const inputs = { ...qkv(call), segments: call.input('segments') };
    const saved = { dy: call.input('dy'), out: call.input('out'), lse: call.input('lse') };
    const [dq, dk, dv] = [inputs.q, inputs.k, inputs.v].map(({ shape }) => call.output(shape)) as ThreeHandles;
    call.run('attentionGrad', { ...inputs, ...saved, dq, dk, dv }, headsOf(call.attrs));
    return [dq, dk, dv];
  });
  register<AttentionShape & { places: number }>('PackPrefix', (call) => {
    const inputs = { k: call.input('k'), v: call.input('v'), prompts: call.input('prompts') };
    const { numKvHeads, headDim, places } = call.attrs;
    const [packedK, packedV] = [0, 1].map(() => call.output([numKvHeads, places, headDim])) as [Handle, Handle];
    call.run('packPrefix', { ...inputs, packedK, packedV }, headsOf(call.attrs));
    return [packedK, packedV];
  });
  register<AttentionShape>('DecodeAttention', (call) => {
    const inputs = qkv(call);
    const prompts = { prefixK: call.input('prefixK'), prefixV: call.input('prefixV'), rows: call.input('rows') };
    const own = { ownK: call.input('ownK'), ownV: call.input('ownV'), positions: call.input('positions') };
    const out = call.output(inputs.q.shape);
    call.run('decodeAttention', { ...inputs, ...prompts, ...own, out }, headsOf(call.attrs));
    return out;
  });
}

type ThreeHandles = [Handle, Handle, Handle];

function qkv(call: Call<unknown>): { readonly q: Handle; readonly k: Handle; readonly v: Handle } {
  return { q: call.input('q'), k: call.input('k'), v: call.input('v') };
}

/** The numbers of a call that say how heads are laid out. */
export function headsOf({ numHeads, numKvHeads, headDim, scale }: AttentionShape) {
  return { numHeads, numKvHeads, headDim, scale };
}
