/** The template that calls reward functions of other trainers, with the Python of this machine. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCommand } from '../../main/rewards/command.ts';
import { inGroups } from '../../main/tasks/groups.ts';
import { answersTo, outcomesOf, specOf } from './answers.ts';

const python = process.platform === 'win32' ? 'python' : 'python3';
const call = readFileSync(join(import.meta.dirname, '../../resources/tasks/python-functions/call.py'), 'utf8');
const functions = `
import asyncio, subprocess, sys
def trl(prompts, completions, word, **kwargs):
    print("not an answer")
    assert prompts == [[{"role": "user", "content": "Say it"}]] and word == ["it"]
    return [len(completions[0][0]["content"])]
class Swift:
    def __call__(self, completions, **kwargs):
        return [None if text == "none" else 2 * len(text) for text in completions]
def verl(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": len(solution_str) > 1, "acc": ground_truth == "it"}
def plain(completions):
    return [len(text.strip()) for text in completions]
async def rlhf(queries, prompts):
    return {"rewards": [len(queries[0]) - len(prompts[0])]}
calls = 0
def longest(completions, word, **kwargs):
    global calls
    calls += 1
    return [float(len(text) == max(map(len, completions))) + 10 * calls for text in completions]
def batch(data_sources, solution_strs, ground_truths, extra_infos):
    return [solution_strs.index(text) for text in solution_strs]
def few(completions):
    return [1]
loop = None
async def client(completions):
    global loop
    loop = loop or asyncio.get_running_loop()
    return [float(loop is asyncio.get_running_loop())]
def reads(completions):
    return [len(sys.stdin.read() + subprocess.run([sys.executable, "-c", "print(input())"], capture_output=True, text=True).stdout)]
def two(completions):
    return [1.0, 2.0]
def text(completions):
    return "17"
def leaves(completions):
    sys.exit("no" if completions == ["a"] else 0)
`;

async function grouped(name: string, record: object = {}) {
  const spec = specOf<'command'>({ command: [python, 'call.py', 'mine.py', name, 'text'], group: true });
  const component = openCommand(spec, { 'call.py': call, 'mine.py': functions });
  const answers = answersTo('a', 'abc', 'ab', 'x').map((answer) => {
    return { ...answer, record: { ...answer.record, id: 'r', ...record } };
  });
  const { outcomes } = await component.score(inGroups(answers, (i) => Math.floor(i / 3)));
  await component.close();
  return outcomes;
}

function outcomes(...how: readonly string[]) {
  const command = [python, 'call.py', 'mine.py', ...how];
  return outcomesOf(
    openCommand(specOf<'command'>({ command }), { 'call.py': call, 'mine.py': functions }),
    'a',
    'none',
  );
}

describe.skipIf(spawnSync(python, ['--version']).status !== 0)('call.py', () => {
  it('calls functions as TRL, ms-swift, verl and OpenRLHF do', async () => {
    expect(await outcomes('trl')).toEqual([1, 4]);
    expect(await outcomes('Swift', 'text')).toEqual([2, 0]);
    expect(await outcomes('rlhf')).toEqual([1, 4]);
  });

  it("gives verl's functions the fields of their names, and says which the records lack", async () => {
    expect(await outcomes('verl')).toEqual(Array(2).fill(expect.stringContaining('needs a field ground_truth')));
    const command = [python, 'call.py', 'mine.py', 'verl'];
    const component = openCommand(specOf<'command'>({ command }), { 'call.py': call, 'mine.py': functions });
    const [answer] = answersTo('ab');
    const record = { id: 'r', prompt: 'Say it', ground_truth: 'it' };
    const { outcomes: scored } = await component.score(answer === undefined ? [] : [{ ...answer, record }]);
    await component.close();
    expect(scored).toEqual([1]);
  });

  it('calls a function that compares once for the completions of a prompt', async () => {
    expect(await grouped('longest')).toEqual([10, 11, 10, 21]);
    expect(await grouped('batch', { ground_truth: 'it' })).toEqual([0, 1, 2, 0]);
    expect((await grouped('few'))[0]).toContain('expected a list with 3 numbers');
  });

  it('runs all calls in one loop, and gives the completions to itself alone', async () => {
    expect(await outcomes('client')).toEqual([1, 1]);
    expect(await outcomes('reads')).toEqual([0, 0]);
  });

  it('fails a completion for which the function leaves, or gives more than a number', async () => {
    expect(await outcomes('leaves', 'text')).toEqual(['SystemExit: no', 'SystemExit: 0']);
    for (const name of ['two', 'text'])
      expect(await outcomes(name)).toEqual(Array(2).fill(expect.stringContaining('a list with one number')));
  });

  it('says what is wrong with a function, and which is missing', async () => {
    expect((await outcomes('trl', 'text'))[0]).toMatch(/^AssertionError/);
    expect((await outcomes('no'))[0]).toContain('mine.py has no function no');
    expect((await outcomes('plain'))[0]).toMatch(/^AttributeError: .* needs `text` at the end of the command/);
  });
});
