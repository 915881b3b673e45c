import { describe, expect, it } from 'vitest';
import { openEngine, openSandbox } from '../../../main/tasks/sandbox/quickjs.ts';

describe('openEngine', () => {
  it.each([
    ['large', 'new Float64Array(1e5)'],
    ['small', '[{}, {}, {}]'],
  ])("bounds all memory of a program, also by many %s objects that QuickJS doesn't add up", async (_, object) => {
    const engine = await openEngine(8);
    const sandbox = openSandbox(engine, 8);
    const code = `const kept = []; for (;;) kept.push(${object});`;
    const run = () => sandbox.unwrap(sandbox.context.evalCode(code, 'reward.ts'));
    expect(() => sandbox.within(5000, 'reward.ts', run)).toThrow(/memory/);
    expect(engine.getWasmMemory().buffer.byteLength).toBeLessThanOrEqual((16 + 8) * 2 ** 20);
    sandbox.dispose();
  });
});
