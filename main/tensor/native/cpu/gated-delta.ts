/** The gated delta rule over packed sequences, its gradient, and one token of it. */
import type { GatedDeltaShape } from '../../ops/gated-delta.ts';
import { type Call, matrixSize, type RegisterCpu } from './kernel.ts';

export function registerGatedDelta(register: RegisterCpu): void {
  register<GatedDeltaShape & { states: number }>('GatedDelta', (call) => {
    const inputs = inputsOf(call);
    const initial = call.has('initial') ? call.input('initial') : undefined;
    const { states } = call.attrs;
    const out = outputOf(call);
    const last = call.output(states > 0 ? [states, stateWidth(call.attrs)] : [1, 1]);
    const wanted = states > 0 ? last : undefined;
    call.run('gatedDelta', { ...inputs, ...tablesOf(call), initial, out, last: wanted }, shapeOf(call));
    return [out, last];
  });
  register<GatedDeltaShape>('GatedDeltaGrad', (call) => {
    const [inputs, dy] = [inputsOf(call), call.input('dy')];
    const dMixed = call.output(inputs.mixed.shape);
    const [dA, dB, dDecay] = [call.output(inputs.a.shape), call.output(inputs.a.shape), call.output(inputs.a.shape)];
    call.run('gatedDeltaGrad', { dy, ...inputs, ...tablesOf(call), dMixed, dA, dB, dDecay }, shapeOf(call));
    return [dMixed, dA, dB, dDecay];
  });
  register<GatedDeltaShape>('GatedDeltaStep', (call) => {
    const [inputs, states, out] = [inputsOf(call), call.changed('states'), outputOf(call)];
    call.run('gatedDeltaStep', { ...inputs, states, out }, shapeOf(call));
    return out;
  });
}

function inputsOf(call: Call<GatedDeltaShape>) {
  const [mixed, a, b] = [call.input('mixed'), call.input('a'), call.input('b')];
  return { mixed, a, b, timeBias: call.input('timeBias'), decay: call.input('decay') };
}

function tablesOf(call: Call<GatedDeltaShape>) {
  return { sequences: call.input('sequences'), trees: call.input('trees') };
}

function outputOf(call: Call<GatedDeltaShape>) {
  const [tokens] = matrixSize('mixed', call.input('mixed'));
  return call.output([tokens, call.attrs.valueHeads * call.attrs.valueDim]);
}

const stateWidth = ({ valueHeads, keyDim, valueDim }: GatedDeltaShape): number => valueHeads * keyDim * valueDim;

function shapeOf({ attrs: { keyHeads, valueHeads, keyDim, valueDim } }: Call<GatedDeltaShape>) {
  return { keyHeads, valueHeads, keyDim, valueDim };
}
