import { describe, expect, it, onTestFinished } from 'vitest';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import type { Answer, EnvironmentStep, EnvironmentTurn } from '../../../main/tasks/task.ts';
import { type Answers, guessing, openDouble } from '../../rewards/openenv/double.ts';
import { errorOf } from '../../store/helpers.ts';
import { until } from '../../until.ts';
import { agreedTo, guessTask } from './served-task.ts';

function opened(source: FolderSource = guessTask(), access = agreedTo(source)) {
  const task = openFolderTask(source, '', access);
  onTestFinished(task.close);
  /** The steps of a batch: each a seed and what the model says. */
  const say = (...turns: readonly (readonly [seed: number, text: string, state?: unknown])[]) =>
    task.environment?.step(
      turns.map(
        ([seed, content, state = null]): EnvironmentTurn<never> => ({
          record: task.parseRecord({ id: String(seed), seed }) as never,
          messages: [{ role: 'assistant', content }],
          turn: 1,
          finish: 'stop',
          state,
        }),
      ),
    ) ?? [];
  return { task, say };
}

const stateOf = (step: EnvironmentStep | string | undefined): unknown => (typeof step === 'object' ? step.state : null);
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const pidIn = (step: EnvironmentStep | string | undefined): number =>
  Number(/\d+/.exec(typeof step === 'object' ? (step.message ?? '') : '')?.[0]);

describe('the environment of a server that Braid starts', () => {
  it('plays a batch at once, a session each, and ends the server with the task', async () => {
    const { task, say } = opened();
    const seeds = Array.from({ length: 64 }, (_, i) => i % 9);
    const first = say(...seeds.map((seed) => [seed, 'I say 4'] as const));
    expect(first.map((step) => typeof step === 'object' && step.done)).toEqual(seeds.map((seed) => seed === 4));
    const second = say(...seeds.map((seed, i) => [seed, `${seed}`, stateOf(first[i])] as const));
    expect(second.every((step) => typeof step === 'object' && step.rewards?.won === 1)).toBe(true);
    const pid = pidIn(second[0]);
    expect(isRunning(pid)).toBe(true);
    task.close();
    await until(() => !isRunning(pid));
  });

  it('answers each completion as its session does, while a slow one is still waited for', async () => {
    const answers: (() => void)[] = [];
    const slow = (): Answers => {
      const fast = guessing();
      return (message, socket) => {
        if (message.data?.guess !== 5) return fast(message, socket);
        answers.push(() => socket.send(JSON.stringify(fast(message, socket))));
        return undefined;
      };
    };
    const double = await openDouble({ session: slow });
    onTestFinished(double.close);
    const { task } = opened(guessTask({ openenv: double.url, command: undefined }));
    const turns = ['5', '3'].map(
      (content, i): EnvironmentTurn<never> => ({
        record: task.parseRecord({ id: String(i), seed: 3 }) as never,
        messages: [{ role: 'assistant', content }],
        turn: 1,
        finish: 'stop',
        state: null,
      }),
    );
    const [waiting, quick] = task.environment?.stepLater?.(turns) ?? [];
    expect(await quick).toMatchObject({ done: true, rewards: { won: 1 } });
    await until(() => answers.length === 1);
    answers[0]?.();
    expect(await waiting).toMatchObject({ done: false, message: 'Lower.' });
  });

  it('fails the completions of a server that dies, with what it said, and starts it again for the next', () => {
    const { say } = opened();
    const [before] = say([1, '1']);
    const [dead] = say([1, '9']);
    expect(dead).toBe('environment: the server ended with code 3: Traceback: nine is not allowed');
    const [after] = say([1, '1']);
    expect(after).toMatchObject({ done: true, rewards: { won: 1 } });
    expect(pidIn(after)).not.toBe(pidIn(before));
  });

  it.each([
    ['cannot be started', { command: ['/none/python3', 'x'] }, "can't be started"],
    ['ends at once', { command: [process.execPath, '-e', 'console.error("no module"); process.exit(1)'] }, 'no module'],
    [
      'never answers',
      { command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'], start_timeout_s: 0.3 },
      'no answer within 0.3 s of its start',
    ],
  ])('fails the completions of a server that %s', (_, changes, why) => {
    const { say } = opened(guessTask(changes));
    const steps = say([1, '1'], [2, '2']);
    expect(steps).toEqual([expect.stringContaining(why), expect.stringContaining(why)]);
  });

  it('starts and reaches nothing that was not agreed to', () => {
    const source = guessTask();
    const refusal = { code: 'REWARD_NOT_ALLOWED' };
    const other = agreedTo(guessTask({}, ['other']));
    for (const access of [null, other]) {
      const task = openFolderTask(source, '', access);
      onTestFinished(task.close);
      const turn = {
        record: task.parseRecord({ seed: 1 }),
        messages: [],
        turn: 1,
        finish: 'stop',
        state: null,
      } as const;
      expect(errorOf(() => task.environment?.step([turn]))).toMatchObject(refusal);
    }
  });

  it('notices once that the same actions had another result', () => {
    const { task, say } = opened(guessTask({}, ['take']));
    say([1, '3']);
    expect(task.environment?.takeChanged?.()).toBe(false);
    say([1, '3']);
    expect([task.environment?.takeChanged?.(), task.environment?.takeChanged?.()]).toEqual([true, false]);
  });

  it('scores stored conversations by playing them again', () => {
    const { task } = opened();
    const answers = ['4', '9'].map(
      (last): Answer<never> => ({
        record: task.parseRecord({ id: 'a', seed: 4 }) as never,
        completion: '',
        tokens: 1,
        finish: 'stop',
        messages: [
          { role: 'assistant', content: '2' },
          { role: 'user', content: 'Higher.' },
          { role: 'assistant', content: last },
        ],
      }),
    );
    expect(task.score(answers.slice(0, 1))).toEqual([{ components: { won: 0.9 }, failure: null }]);
    expect(task.score(answers.slice(1))[0]?.failure).toContain('nine is not allowed');
  });

  it('examines the server with a record', () => {
    const wrong = opened(guessTask({ message: '{hnt}' })).task;
    const record = wrong.parseRecord({ seed: 1 });
    expect(wrong.environment?.examine?.(record).faults).toEqual([expect.stringContaining('did you mean "hint"?')]);
  });
});
