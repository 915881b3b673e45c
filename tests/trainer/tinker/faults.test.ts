import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BraidError } from '../../../main/errors.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { tinyRun } from '../run/tiny-run.ts';
import { HASTE, type RemoteRunOptions, remoteConfig, remoteRun } from './remote-run.ts';
import { openTinkerServer, type Seen, type ServerOptions, type TinkerServer } from './tinker-server.ts';
import { openTinyBase } from './tiny-base.ts';

const { folder, base } = await openTinyBase();

const SETTINGS = { max_steps: 3 };
/** For servers that never answer again. */
const LITTLE = { ...HASTE, totalMs: 300, attemptMs: 200 };

/** Patience that `shrink` cuts to that little: what goes well before may take long on a busy machine. */
function shrinking() {
  const patience = { ...HASTE };
  return { patience, shrink: () => void Object.assign(patience, LITTLE) };
}

interface Tried {
  readonly server: TinkerServer;
  readonly events: readonly TrainerEvent[];
  readonly error: BraidError | null;
}

/** A run on a server that has these faults. */
async function tried(
  options: Partial<ServerOptions>,
  run: Partial<RemoteRunOptions> = {},
  during: (server: TinkerServer, event: TrainerEvent) => void = () => undefined,
  patience = HASTE,
): Promise<Tried> {
  const server = await openTinkerServer({ model: base, ...options });
  const events: TrainerEvent[] = [];
  const onEvent = (event: TrainerEvent): void => during(server, event);
  try {
    const error = await remoteRun({ server, model: folder, config: SETTINGS, onEvent, ...run }, events, patience).then(
      () => null,
      (thrown: BraidError) => thrown,
    );
    return { server, events, error };
  } finally {
    await server.close();
  }
}

const stepsIn = (events: readonly TrainerEvent[]): number => events.filter(({ kind }) => kind === 'step').length;
/** The n-th request of a route, from 1. */
const nth = (route: string, n: number) => (seen: Seen, before: readonly Seen[]) =>
  seen.route === route && before.filter((one) => one.route === route).length === n - 1;
const losses = (events: readonly TrainerEvent[]) =>
  events.flatMap((event) => (event.kind === 'step' ? [event.metrics.loss?.toFixed(6)] : []));

describe('a server that is slow', () => {
  it('gets each request once, whatever order its futures are ready in, and the numbers are the same', async () => {
    const quick = await tried({ adapterSeed: 1 });
    const slow = await tried({ adapterSeed: 1, notYet: (n) => (n * 5) % 4, delay: (n) => ((n * 7) % 5) * 3 });
    expect(slow.error).toBeNull();
    expect(losses(slow.events)).toEqual(losses(quick.events));
    for (const route of ['create_model', 'asample', 'forward_backward', 'optim_step', 'save_weights'])
      expect([route, slow.server.count(route)]).toEqual([route, quick.server.count(route)]);
    expect(slow.server.count('retrieve_future')).toBeGreaterThan(quick.server.count('retrieve_future'));
  });

  it('is waited for where it is too busy to accept a request, or fails while a future is asked for', async () => {
    const busy = nth('forward_backward', 5);
    const broken = nth('retrieve_future', 9);
    const { error, events } = await tried({
      fault: (seen, before) => {
        if (busy(seen, before)) return { kind: 'answer', status: 503, body: { detail: 'overloaded' } };
        return broken(seen, before) ? { kind: 'answer', status: 500, body: { detail: 'database is locked' } } : null;
      },
    });
    expect(error).toBeNull();
    expect(stepsIn(events)).toBe(3);
  });
});

describe('a connection that breaks', () => {
  it("loses a future's answer and asks for it again: nothing is done twice", async () => {
    const whole = await tried({ adapterSeed: 1 });
    const lost = await tried({
      adapterSeed: 1,
      fault: (seen, before) =>
        seen.route === 'retrieve_future' && before.length % 3 === 0 ? { kind: 'break', when: 'after' } : null,
    });
    expect(lost.error).toBeNull();
    expect(losses(lost.events)).toEqual(losses(whole.events));
    for (const route of ['forward_backward', 'optim_step'])
      expect(lost.server.count(route)).toBe(whole.server.count(route));
  });

  it.each(['before', 'after'] as const)(
    '%s the work was done: the request is not sent again, the run ends',
    async (when) => {
      const second = nth('optim_step', 5);
      const { error, server, events } = await tried({
        fault: (seen, before) => (second(seen, before) ? { kind: 'break', when } : null),
      });
      expect(error?.code).toBe('ENGINE_ANSWER_LOST');
      expect(error?.remedy).toMatch(/history is safe.*Resume/);
      expect(server.count('optim_step')).toBe(5);
      expect(stepsIn(events)).toBe(2);
    },
  );

  it.each([
    ['the way to a checkpoint', '/archive', { kind: 'break', when: 'before' }],
    ['the first half of a checkpoint', '/download', { kind: 'break', when: 'after' }],
    ['a gateway’s patience with a checkpoint', '/download', { kind: 'answer', status: 502, body: 'Bad Gateway' }],
  ] as const)('loses %s, which is fetched again', async (_, end, what) => {
    const { error, server, events } = await tried({
      fault: ({ route }, before) =>
        route.endsWith(end) && !before.some((one) => one.route.endsWith(end)) ? what : null,
    });
    expect(error).toBeNull();
    expect(stepsIn(events)).toBe(3);
    expect(server.seen.filter(({ route }) => route.endsWith('/archive'))).toHaveLength(2);
  });

  it('whenever a checkpoint is fetched: the run ends after a while', async () => {
    const { patience, shrink } = shrinking();
    const { error, events } = await tried(
      {
        fault: ({ route }) => {
          // What is asked for right before it.
          if (route === 'save_weights') shrink();
          return route.endsWith('/download') ? { kind: 'break', when: 'after' } : null;
        },
      },
      {},
      undefined,
      patience,
    );
    expect(error?.code).toBe('ENGINE_UNREACHABLE');
    expect(stepsIn(events)).toBe(3);
  });

  it('for good: the run ends after a while', async () => {
    const { patience, shrink } = shrinking();
    const { error } = await tried(
      {
        fault: ({ route }) => {
          // What is sent right before the first future is asked for.
          if (route === 'create_model') shrink();
          return route === 'retrieve_future' ? { kind: 'break', when: 'before' } : null;
        },
      },
      {},
      undefined,
      patience,
    );
    expect(error?.code).toBe('ENGINE_UNREACHABLE');
  });

  it('is refused from the start where nothing listens', async () => {
    const server = { url: 'http://127.0.0.1:9' };
    const error = await remoteRun({ server, model: folder }, [], LITTLE).catch((thrown: BraidError) => thrown);
    expect(error).toMatchObject({ code: 'ENGINE_UNREACHABLE' });
  });
});

describe('a server that fails', () => {
  const failing = (route: string, n: number, detail: string) =>
    tried({
      fault: (seen, before) => {
        const asked = before.filter((one) => one.route === route).length === n;
        return seen.route === 'retrieve_future' && asked ? { kind: 'answer', status: 400, body: { detail } } : null;
      },
    });

  it('ends the run with its own words', async () => {
    const { error, events } = await failing('forward_backward', 5, 'Loss functions are out of order');
    expect(error?.code).toBe('ENGINE_FAILED');
    expect(error?.message).toMatch(/"forward_backward": 400 Loss functions are out of order/);
    expect(stepsIn(events)).toBe(2);
  });

  it('says that its disk is full', async () => {
    const { error } = await failing('save_weights_for_sampler', 2, '[Errno 28] No space left on device');
    expect(error?.code).toBe('ENGINE_DISK_FULL');
    expect(error?.remedy).toMatch(/Free space there/);
  });

  it.each([
    [500, { detail: 'Internal Server Error' }, 'ENGINE_FAILED'],
    [422, { detail: [{ loc: ['body', 'x'], msg: 'Field required' }] }, 'ENGINE_PROTOCOL'],
    [404, { detail: 'Not Found' }, 'ENGINE_PROTOCOL'],
  ])('answers %i to a request', async (status, body, code) => {
    const { error } = await tried({
      fault: ({ route }) => (route === 'create_model' ? { kind: 'answer', status, body } : null),
    });
    expect(error?.code).toBe(code);
  });

  it('is of another version: its answers have another form', async () => {
    const { error } = await tried({
      alter: (route, answer) => (route === 'asample' ? { samples: [] } : answer),
    });
    expect(error?.code).toBe('ENGINE_PROTOCOL');
    expect(error?.message).toMatch(/"sequences"/);
  });

  it('sends no archive that can be used', async () => {
    const { error } = await tried({
      fault: ({ route }) =>
        route.endsWith('/archive') ? { kind: 'answer', status: 200, body: { not: 'a tar' } } : null,
    });
    expect(error?.code).toBe('ENGINE_BAD_ANSWER');
  });

  it('refuses a wrong key, which goes nowhere but to it', async () => {
    const wrong = await tried({ key: 'right' }, { remote: { key: 'wrong' } });
    expect(wrong.error?.code).toBe('ENGINE_KEY_REFUSED');
    expect(wrong.error?.message).not.toContain('wrong');
    const right = await tried({ key: 'right' }, { remote: { key: 'right' } });
    expect(right.error).toBeNull();
    expect(right.server.seen.every(({ key }) => key === 'right')).toBe(true);
    expect(JSON.stringify(right.events)).not.toContain('"right"');
  });

  it("doesn't have the model", async () => {
    const { error } = await tried({ name: 'other/model' });
    expect(error?.code).toBe('ENGINE_NO_MODEL');
    expect(error?.message).toMatch(/other\/model/);
  });

  it('applies weights in a way that is not known here', async () => {
    const { error } = await tried({ rule: 'squared' });
    expect(error?.code).toBe('ENGINE_GRADIENT_UNKNOWN');
  });
});

describe('a session that is lost', () => {
  it('by a server that expired it: the run ends, what came before is kept', async () => {
    const { error, events } = await tried({}, {}, (server, event) => {
      if (event.kind === 'step' && event.step === 2) server.expire();
    });
    expect(error?.code).toBe('ENGINE_SESSION_LOST');
    expect(stepsIn(events)).toBe(2);
  });

  it('by a server that was restarted: the run resumes from the state there', async () => {
    const server = await openTinkerServer({ model: base, adapterSeed: 1 });
    const events: TrainerEvent[] = [];
    const config = { max_steps: 4, save_steps: 2 };
    const onEvent = (event: TrainerEvent): void => {
      if (event.kind === 'step' && event.step === 3) server.restart();
    };
    const error = await remoteRun({ server, model: folder, config, onEvent }, events).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'ENGINE_SESSION_LOST' });
    const saved = events.find((event) => event.kind === 'checkpoint');
    const resumeFrom = saved?.kind === 'checkpoint' ? saved.path : '';
    const resumed = await remoteRun({ server, model: folder, config, resumeFrom });
    expect(resumed.steps).toHaveLength(2);
    await server.close();
  });

  it('together with its checkpoints: the run says that the state is gone', async () => {
    const first = await tried({}, { config: { max_steps: 2 } });
    const done = first.events.find((event) => event.kind === 'done');
    const resumeFrom = done?.kind === 'done' ? (done.path ?? '') : '';
    const server = await openTinkerServer({ model: base });
    const state = join(resumeFrom, 'engine.json');
    writeFileSync(state, readFileSync(state, 'utf8').replace(/http:[^"]+/, server.url));
    rmSync(join(resumeFrom, 'checksums.json'), { force: true });
    const error = await remoteRun({ server, model: folder, resumeFrom }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'ENGINE_STATE_GONE' });
    expect(error.remedy).toMatch(/adapter of the checkpoint is here/);
    await server.close();
  });
});

describe('an answer that cannot be right', () => {
  type Sequences = { sequences: { tokens: number[]; logprobs: (number | null)[]; stop_reason: string }[] };
  const sampling = (change: (answer: Sequences) => unknown) =>
    tried({ alter: (route, answer) => (route === 'asample' ? change(structuredClone(answer) as Sequences) : answer) });

  it.each<[string, RegExp, (answer: Sequences) => unknown]>([
    ['too few completions', /4 completions, got 3/, ({ sequences }) => ({ sequences: sequences.slice(1) })],
    [
      'no tokens',
      /1 to \d+ tokens, got 0/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, tokens: [] })) }),
    ],
    [
      'too many tokens',
      /tokens, got 99/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, tokens: Array(99).fill(7) })) }),
    ],
    [
      'foreign tokens',
      /tokens from 0 to 31, got 4000/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, tokens: [4000], logprobs: [-1] })) }),
    ],
    [
      'a wrong number of log-probabilities',
      /log-probabilities for/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, logprobs: [] })) }),
    ],
    [
      'NaN log-probabilities',
      /got NaN/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, logprobs: one.tokens.map(() => null) })) }),
    ],
    [
      'positive log-probabilities',
      /at most 0, got 3/,
      ({ sequences }) => ({ sequences: sequences.map((one) => ({ ...one, logprobs: one.tokens.map(() => 3) })) }),
    ],
    [
      'an end without an end token',
      /an end token where/,
      ({ sequences }) => ({
        sequences: sequences.map((one) => ({ ...one, tokens: [7], logprobs: [-1], stop_reason: 'stop' })),
      }),
    ],
    [
      'tokens after the end token',
      /no end token before/,
      ({ sequences }) => ({
        sequences: sequences.map((one) => ({ ...one, tokens: [1, 1], logprobs: [-1, -1], stop_reason: 'stop' })),
      }),
    ],
  ])('%s ends the run', async (_, message, change) => {
    const { error, server } = await sampling(change);
    expect(error?.code).toBe('ENGINE_BAD_ANSWER');
    expect(error?.message).toMatch(message);
    // Only the trial of the gradients, which samples nothing.
    expect(
      server.seen.filter(({ route, body }) => route === 'forward_backward' && body.model_id === 'model_1'),
    ).toEqual([]);
  });

  it.each<[string, RegExp, (outputs: readonly { logprobs: { data: unknown[] } }[]) => unknown]>([
    [
      'NaN',
      /got NaN/,
      (outputs) => outputs.map(({ logprobs }) => ({ logprobs: { data: logprobs.data.map(() => null) } })),
    ],
    [
      'too few log-probabilities',
      /log-probabilities, got 1/,
      (outputs) => outputs.map(() => ({ logprobs: { data: [-1] } })),
    ],
    ['too few sequences', /8 sequences, got 7/, (outputs) => outputs.slice(1)],
  ])('%s of a training pass ends the run', async (_, message, change) => {
    const { error, events } = await tried({
      alter: (route, answer) => {
        const { loss_fn_outputs: outputs = [] } = answer as { loss_fn_outputs?: { logprobs: { data: unknown[] } }[] };
        // The trial's passes have one or two sequences.
        return route === 'forward_backward' && outputs.length > 2 ? { loss_fn_outputs: change(outputs) } : answer;
      },
    });
    expect(error?.code).toBe('ENGINE_BAD_ANSWER');
    expect(error?.message).toMatch(message);
    expect(stepsIn(events)).toBe(0);
  });
});

describe('what the engine cannot do', () => {
  it('is refused before anything is sent', async () => {
    const { error, server } = await tried({}, { config: { beta: 0.1 } });
    expect(error).toMatchObject({ code: 'ENGINE_REFUSES' });
    expect(server.seen).toEqual([]);
  });

  it('is to start from an adapter that lies here only', async () => {
    const here = await tinyRun({ model: folder, config: { ...remoteConfig, engine: null, max_steps: 1 } });
    const { error, server } = await tried({}, { config: { from_checkpoint: here.checkpoint } });
    expect(error?.code).toBe('ENGINE_NO_IMPORT');
    expect(server.seen).toEqual([]);
  });

  it("is to continue on another engine than the checkpoint's", async () => {
    const first = await tried({}, { config: { max_steps: 1 } });
    const done = first.events.find((event) => event.kind === 'done');
    const from_checkpoint = done?.kind === 'done' ? done.path : null;
    const { error } = await tried({}, { config: { from_checkpoint } });
    expect(error?.code).toBe('ENGINE_OTHER');
  });

  it('is to continue on another base model than the one that the adapter was trained on', async () => {
    const server = await openTinkerServer({ model: base });
    try {
      const { checkpoint } = await remoteRun({ server, model: folder, config: { max_steps: 1 } });
      // The engine was given another base model since; the server would load the adapter onto it.
      const file = join(checkpoint, 'engine.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('"tiny"', '"tiny-before"'));
      const loads = server.count('load_weights');
      const settings = { server, model: folder, config: SETTINGS };
      for (const more of [{ resumeFrom: checkpoint }, { config: { ...SETTINGS, from_checkpoint: checkpoint } }])
        await expect(remoteRun({ ...settings, ...more })).rejects.toMatchObject({
          code: 'ENGINE_OTHER_MODEL',
          message: expect.stringMatching(/tiny-before.*"tiny"/),
        });
      expect(server.count('load_weights')).toBe(loads);
    } finally {
      await server.close();
    }
  });
});
