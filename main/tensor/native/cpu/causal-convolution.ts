/** The causal convolution of each channel by itself, its gradient, and one token of it. */
import { type Call, matrixSize, type RegisterCpu } from './kernel.ts';

interface Attrs {
  readonly silu: boolean;
}

export function registerCausalConvolution(register: RegisterCpu): void {
  register<Attrs>('CausalConvolution', (call) => {
    const [inputs, rows] = [inputsOf(call), call.input('rows')];
    const before = call.has('before') ? call.input('before') : undefined;
    const out = call.output(inputs.x.shape);
    call.run('convolution', { ...inputs, rows, before, out }, { silu: call.attrs.silu });
    return out;
  });
  register<Attrs>('CausalConvolutionGrad', (call) => {
    const [inputs, rows, dy] = [inputsOf(call), call.input('rows'), call.input('dy')];
    const { x, weight, bias } = inputs;
    const [dx, dWeight, dBias] = [call.output(x.shape), call.output(weight.shape), call.output(bias.shape)];
    call.run('convolutionGrad', { dy, ...inputs, rows, dx, dWeight, dBias }, { silu: call.attrs.silu });
    return [dx, dWeight, dBias];
  });
  register<Attrs>('CausalConvolutionStep', (call) => {
    const [inputs, states] = [inputsOf(call), call.changed('states')];
    const out = call.output([...matrixSize('x', inputs.x)]);
    call.run('convolutionStep', { ...inputs, states, out }, { silu: call.attrs.silu });
    return out;
  });
}

function inputsOf(call: Call<Attrs>) {
  return { x: call.input('x'), weight: call.input('weight'), bias: call.input('bias') };
}
