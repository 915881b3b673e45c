/** One token of Mamba-2's state space. */
import type { StateSpaceShape } from '../../ops/state-space.ts';
import { matrixSize, type RegisterCpu } from './kernel.ts';

export function registerStateSpace(register: RegisterCpu): void {
  register<StateSpaceShape>('StateSpaceStep', (call) => {
    const { groups, heads, stateDim, headDim } = call.attrs;
    const [mixed, dt, states] = [call.input('mixed'), call.input('dt'), call.changed('states')];
    const weights = { timeBias: call.input('timeBias'), decay: call.input('decay'), skip: call.input('skip') };
    const [rows] = matrixSize('mixed', mixed);
    const out = call.output([rows, heads * headDim]);
    call.run('stateSpaceStep', { mixed, dt, ...weights, states, out }, { groups, heads, stateDim, headDim });
    return out;
  });
}
