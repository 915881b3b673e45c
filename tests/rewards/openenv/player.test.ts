import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlayer } from '../../../main/rewards/openenv/player.ts';
import { openServer } from '../../../main/rewards/openenv/server.ts';
import { checkOpenEnv, type GivenOpenEnv } from '../../../main/tasks/openenv/spec.ts';
import type { EnvironmentStep, TaskRecord } from '../../../main/tasks/task.ts';
import { until } from '../../until.ts';
import { type Answers, type DoubleOptions, GUESS_SCHEMA, guessing, observed, openDouble } from './double.ts';

const FIELDS = { seed: 'number', start: 'text?' };

async function opened({ given = {}, ...double }: DoubleOptions & { readonly given?: GivenOpenEnv } = {}) {
  const server = await openDouble(double);
  onTestFinished(server.close);
  const action = { guess: '{completion:last-number}' };
  const base = { openenv: server.url, action, message: '{hint}', timeout_s: 2 };
  const { spec, faults } = checkOpenEnv({ ...base, ...given }, FIELDS);
  if (spec === null) throw new Error(`Expected a server, got ${JSON.stringify(faults)}`);
  const player = openPlayer({ server: spec, component: 'reward', maxTurns: 3 }, openServer(spec, {}), null);
  onTestFinished(player.release);
  /** The model's next turn after a step. */
  const say = async (text: string, seed = 7, past: EnvironmentStep | null = null, record: object = {}, turn = 1) => {
    const { step, changed } = await player.step({
      record: { id: 'a', prompt: '', seed, ...record } as TaskRecord,
      messages: [{ role: 'assistant', content: text }],
      turn,
      finish: 'stop',
      state: past?.state ?? null,
    });
    return { step, changed, past: typeof step === 'string' ? null : step };
  };
  return { server, player, say };
}

const silent: () => Answers = () => () => undefined;
/** Begins, and then answers this to an action. */
const thenSays =
  (answer: unknown, onStep: (socket: Parameters<Answers>[1]) => void = () => undefined): (() => Answers) =>
  () =>
  ({ type }, socket) => {
    if (type === 'reset') return observed({ hint: 'Go.' }, null, false);
    onStep(socket);
    return answer;
  };

describe('openPlayer', () => {
  it('plays an episode in one session: reset by the seed, then an action and its observation for each turn', async () => {
    const { server, say } = await opened();
    const first = await say('I say 3');
    expect(first.step).toMatchObject({ message: 'Higher.', rewards: { reward: -0.1 }, done: false });
    const second = await say('7!', 7, first.past);
    expect(second.step).toMatchObject({ message: 'Right.', rewards: { reward: 1 }, done: true });
    expect(server.messages.slice(0, 3)).toEqual([
      { type: 'reset', data: { seed: 7 } },
      { type: 'step', data: { guess: 3 } },
      { type: 'step', data: { guess: 7 } },
    ]);
    expect(server.opened()).toBe(1);
    await until(() => server.open() === 0);
  });

  it('holds many sessions at once, and plays an earlier turn again from its actions', async () => {
    const { server, say } = await opened();
    const games = await Promise.all(Array.from({ length: 100 }, (_, seed) => say('5', seed % 10)));
    expect(games.filter(({ past }) => past?.done === true)).toHaveLength(10);
    await until(() => server.open() === 90);
    const [{ past } = { past: null }] = games;
    expect((await say('3', 0, past)).step).toMatchObject({ message: 'Lower.' });
    // The session is a turn ahead now.
    expect((await say('0', 0, past)).step).toMatchObject({ message: 'Right.', done: true });
    expect(server.opened()).toBe(101);
  });

  it('answers what can’t become an action with what was wrong, and asks the server nothing', async () => {
    const { server, say } = await opened();
    expect((await say('seven')).step).toMatchObject({
      message: 'No action could be read: expected a number in the answer',
      rewards: null,
      done: false,
    });
    expect((await say('7.5')).step).toMatchObject({
      message: 'This action doesn\'t fit: expected "guess" to be of type integer',
    });
    expect(server.messages).toEqual([]);
  });

  it('tells the model what the server refuses in its action, and a form that the schema didn’t tell fails', async () => {
    const refusing = (type: string) =>
      thenSays({
        type: 'error',
        data: {
          message: 'Invalid message',
          code: 'VALIDATION_ERROR',
          errors: [{ type, loc: ['guess'], msg: 'too high' }],
        },
      });
    const { say } = await opened({ session: refusing('less_than') });
    expect((await say('99')).step).toMatchObject({ message: "This action doesn't fit: guess: too high" });
    const { say: sayTo } = await opened({ session: refusing('missing') });
    expect((await sayTo('99')).step).toBe('environment: the server answered with an error: Invalid message');
  });

  it.each([
    ['is silent', silent, 'the server gave no answer within 0.3 s'],
    ['sends no JSON', thenSays('<html>'), `the server sent what isn't JSON: "<html>"`],
    [
      'sends another type',
      thenSays({ type: 'state', data: {} }),
      "the server sent a message that isn't an observation",
    ],
    ['sends a megabyte', thenSays('x'.repeat(2 ** 20 + 1)), 'the server sent more than 1 MiB'],
    [
      'sends a long message',
      thenSays(observed({ hint: 'x'.repeat(20_001) }, 0, false)),
      'a message of 20001 characters',
    ],
    ['sends no observation', thenSays({ type: 'observation', data: {} }), 'an observation whose observation is wrong'],
    [
      'sends a text as reward',
      thenSays({ type: 'observation', data: { observation: {}, reward: 'good', done: true } }),
      'whose reward is wrong',
    ],
    [
      'sends no finite reward',
      thenSays('{"type":"observation","data":{"observation":{},"reward":1e999,"done":true}}'),
      'wrong',
    ],
    ['lies about its observations', thenSays(observed({ text: 'no hint' }, 0, false)), 'without "hint"'],
    [
      'closes the connection',
      thenSays(undefined, (socket) => socket.close(1011, 'oops')),
      'the server closed the connection (1011 oops)',
    ],
    ['is lost', thenSays(undefined, (socket) => socket.terminate()), 'the server closed the connection (1006'],
    [
      'states an error',
      thenSays({ type: 'error', data: { message: 'boom', code: 'EXECUTION_ERROR' } }),
      'answered with an error: boom',
    ],
    [
      'speaks unasked',
      thenSays(undefined, (socket) => {
        socket.send('{"type":"observation","data":{"observation":{"hint":""},"reward":0,"done":false}}');
        socket.send('{}');
      }),
      null,
    ],
  ])('fails the completion of a server that %s', async (_, session, reason) => {
    const { say, server } = await opened({ session, given: { timeout_s: 0.3 } });
    const { step, past } = await say('1');
    // Unasked messages are noticed at the next turn.
    const last = reason === null ? (await say('1', 7, past)).step : step;
    expect(last).toContain(reason ?? 'a message that nobody had asked for');
    await until(() => server.open() === 0);
  });

  it('names a field that the form has too much or lacks, or that the message can’t have', async () => {
    const failed = async (given: GivenOpenEnv) => (await (await opened({ given })).say('1')).step;
    expect(await failed({ action: { gues: '{completion}' } })).toBe(
      'environment.action has "gues", which the server\'s actions don\'t have; did you mean "guess"?'.replace(
        /^/,
        'environment: ',
      ),
    );
    expect(await failed({ action: { metadata: '{completion:json}' } })).toContain('environment.action lacks "guess"');
    expect(await failed({ message: '{hnt}' })).toContain('environment.message names {hnt}');
  });

  it('waits for a place on a server with few, and says so where none comes', async () => {
    const { say } = await opened({ places: 1, given: { timeout_s: 0.5 } });
    const games = await Promise.all(['7', '7', '7'].map((text) => say(text)));
    expect(games.map(({ past }) => past?.done)).toEqual([true, true, true]);
    await say('1');
    const alone = await say('2');
    expect(alone.step).toContain('the server has no place for another session, beside 1 of this run');
  });

  it('ends the session of the last turn, which may be the only place of the server', async () => {
    const { server, say } = await opened({ places: 1 });
    const games = await Promise.all([1, 2, 3].map((seed) => say('9', seed, null, {}, 3)));
    expect(games.map(({ step }) => step)).toEqual(Array(3).fill(expect.objectContaining({ done: false })));
    await until(() => server.open() === 0);
  });

  it('begins an episode whose message the model reads, and plays no other in its place', async () => {
    const { server, say } = await opened({ places: 1, given: { opens: true } });
    const games = await Promise.all(
      [1, 2].map(async (seed) => {
        const { past, step } = await say('', seed, null, {}, 0);
        expect(step).toMatchObject({ message: `A number from 0 to 9, game ${seed}`, rewards: null, done: false });
        return say(`${seed}`, seed, past);
      }),
    );
    expect(games.map(({ past }) => past?.done)).toEqual([true, true]);
    expect(server.messages.filter((one) => (one as { type: string }).type === 'reset')).toHaveLength(2);
    const [lost] = games;
    expect((await say('1', 1, lost?.past ?? null)).step).toContain('has lost the episode');
  });

  it('notices that the same actions had another result', async () => {
    let games = 0;
    const random = (): Answers => {
      const game = games++;
      return thenSays(observed({ hint: `game ${game}` }, 0, false))();
    };
    const { say, player } = await opened({ session: random });
    expect([(await say('1')).changed, (await say('1')).changed]).toEqual([false, true]);
    const same = await opened();
    expect([(await same.say('1')).changed, (await same.say('1')).changed]).toEqual([false, false]);
    expect(await player.examine({ id: 'a', prompt: '' })).toEqual({ faults: [], notes: [] });
  });

  it('refuses a record whose beginning is another one than the prompt shows', async () => {
    const { say } = await opened({ given: { start: 'start' } });
    const start = 'A number from 0 to 9, game 7';
    expect((await say('7', 7, null, { start })).step).toMatchObject({ done: true });
    expect((await say('7', 8, null, { start })).step).toContain('began with "A number from 0 to 9, game 8"');
  });

  it('examines a server: what its schemas lack, and whether two resets begin alike', async () => {
    let games = 0;
    const session = (): Answers => () => observed({ hint: `${games++}` }, null, false);
    const { player } = await opened({ session, given: { action: { gues: '{completion}' } } });
    const { faults, notes } = await player.examine({ id: 'a', prompt: '' });
    expect(faults).toHaveLength(2);
    expect(notes).toEqual([expect.stringMatching(/it is not deterministic.*`opens: true`/)]);
    const { player: narrow } = await opened({ places: 1 });
    const found = await narrow.examine({ id: 'a', prompt: '' });
    expect(found).toEqual({ faults: [], notes: [expect.stringContaining('place for one session')] });
    const { player: without } = await opened({ schema: null });
    expect((await without.examine({ id: 'a', prompt: '' })).notes).toEqual([expect.stringContaining('no schema')]);
    expect(GUESS_SCHEMA).toBeDefined();
    expect(guessing).toBeDefined();
  });

  it('reads the state where the message names it', async () => {
    const { say } = await opened({ given: { message: '{hint} Turn {state.step_count} of 9, {reward}.' } });
    expect((await say('3')).step).toMatchObject({ message: 'Higher. Turn 1 of 9, -0.1.' });
  });
});
