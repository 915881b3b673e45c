import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSuite, type SuiteRunner } from '../../scripts/gpu-report/suites.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A test runner that does what its program says. */
function runner(program: string): SuiteRunner {
  const entry = join(temporaryFolder(), 'runner.mjs');
  writeFileSync(entry, program);
  return { entry, mostMs: 60_000 };
}

const says = (lines: readonly string[], code: number): string =>
  `console.log(${JSON.stringify(lines.join('\n'))}); process.exitCode = ${code};`;

describe('runSuite', () => {
  it('runs the suite on the own GPU, and tells passed from failed', () => {
    const echo = `console.log('Tests  2 passed', process.argv.slice(2).join(), process.env.BRAID_TEST_GPU);`;
    expect(runSuite(['tests/parity', '-t', 'webgpu'], runner(echo))).toEqual({
      name: 'tests/parity -t webgpu',
      state: 'passed',
      lines: ['Tests  2 passed run,tests/parity,-t,webgpu,--reporter=default real'],
    });
    const red = ['\u001b[31m FAIL \u001b[39m tests/a.test.ts > x', 'much else', ' Tests  1 failed | 3 passed (4)'];
    expect(runSuite(['tests/a'], runner(says(red, 1)))).toEqual({
      name: 'tests/a',
      state: 'failed',
      lines: ['FAIL  tests/a.test.ts > x', 'Tests  1 failed | 3 passed (4)'],
    });
  });

  it.each([
    ['is missing', null, /ended with code 1/],
    ['takes too long', 'setInterval(() => {}, 1000)', /Ended after 1 s/],
    // Windows has no signals, only the code.
    ['is killed', "process.kill(process.pid, 'SIGKILL')", /ended by SIGKILL|ended with code/],
    ['skips every test', says(['Tests  7 skipped (7)'], 0), /No test ran/],
  ])('does not say that a suite passed or failed whose runner %s', (what, program, why) => {
    const mostMs = what === 'takes too long' ? 500 : 60_000;
    const entry = program === null ? join(temporaryFolder(), 'nothing.mjs') : runner(program).entry;
    const { state, lines } = runSuite(['tests/a'], { entry, mostMs });
    expect([state, lines[0]]).toEqual(['not run', expect.stringMatching(why)]);
  });
});
