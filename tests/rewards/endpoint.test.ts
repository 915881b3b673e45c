import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openEndpoint } from '../../main/rewards/endpoint.ts';
import { until } from '../until.ts';
import { outcomesOf, specOf } from './answers.ts';
import { json, type Received, rewardServer } from './reward-server.ts';

const open = (url: string, more: object = {}, key: string | null = null) =>
  openEndpoint(specOf<'http'>({ http: `${url}/score`, retries: 2, ...more }), key, { pauseMs: 5 });
const lengths = ({ body }: Received) => ({
  scores: body.answers.map(({ completion }: { completion: string }) => completion.length),
});

describe('openEndpoint', () => {
  it('posts batches, so many at a time, and keeps the order of the completions', async () => {
    const server = await rewardServer(async (request, before, response) => {
      // All that may be under way at once are, before the first is answered.
      await until(() => server.most() === 3);
      await sleep(before % 2 === 0 ? 40 : 5);
      json(response, lengths(request));
    });
    const texts = Array.from({ length: 12 }, (_, i) => 'x'.repeat(i));
    const outcomes = await outcomesOf(open(server.url, { batch_size: 2, concurrency: 3 }), ...texts);
    expect(outcomes).toEqual(texts.map(({ length }) => length));
    expect(server.received).toHaveLength(6);
    expect(server.most()).toBe(3);
    expect(server.received[0]).toMatchObject({
      path: '/score',
      body: {
        answers: [{ id: 0, record: { id: 'r0', word: 'it' }, prompt: 'Say it', completion: '', finish: 'stop' }, {}],
      },
    });
  });

  it('posts the completions of the prompt with each one only where it compares them', async () => {
    const server = await rewardServer((request, _, response) => json(response, lengths(request)));
    for (const group of [true, false]) await outcomesOf(open(server.url, { group }), 'a');
    const [comparing, alone] = server.received.map(({ body }) => body.answers[0]);
    expect(comparing).toEqual({ ...alone, group: [{ completion: 'a', tokens: 1, finish: 'stop' }], place: 0 });
  });

  it('fails the completion alone whose score is NaN as Python writes it', async () => {
    const server = await rewardServer((_, __, response) => void response.end('{"scores": [0.5, NaN]}'));
    expect(await outcomesOf(open(server.url), 'a', 'b')).toEqual([
      0.5,
      'expected a finite number as the score, got "NaN"',
    ]);
  });

  it.each([409, 429, 500, 503, 529])('tries again after %i, with growing pauses', async (status) => {
    const server = await rewardServer((request, before, response) =>
      before < 2 ? json(response, {}, status) : json(response, lengths(request)),
    );
    expect(await outcomesOf(open(server.url), 'ab')).toEqual([2]);
    expect(server.received).toHaveLength(3);
  });

  it('tries again after half an answer, a page of HTML, and a failure that comes with status 200', async () => {
    const broken = ['{"scores": [1', '<html>', '{"error": {"message": "Provider failed", "code": 502}}'];
    const server = await rewardServer((request, before, response) =>
      before < 3 ? void response.end(broken[before]) : void response.end(`\uFEFF${JSON.stringify(lengths(request))}`),
    );
    expect(await outcomesOf(open(server.url, { retries: 3 }), 'ab')).toEqual([2]);
  });

  it('waits as long as the server asks for', async () => {
    const server = await rewardServer((request, before, response) =>
      before === 0 ? json(response, {}, 429, { 'retry-after': '1' }) : json(response, lengths(request)),
    );
    const began = performance.now();
    expect(await outcomesOf(open(server.url), 'ab')).toEqual([2]);
    expect(performance.now() - began).toBeGreaterThan(950);
  });

  it('gives up after the retries, with the reason for each completion', async () => {
    const server = await rewardServer((_, __, response) => json(response, { why: 'overloaded' }, 503));
    const outcomes = await outcomesOf(open(server.url), 'a', 'b');
    expect(outcomes).toEqual(Array(2).fill('answered with status 503: {"why":"overloaded"}, 3 times'));
  });

  it('tries a slow server again, and says that nobody is there', async () => {
    const slow = await rewardServer(async (request, before, response) => {
      if (before === 0) await sleep(400);
      json(response, lengths(request));
    });
    expect(await outcomesOf(open(slow.url, { timeout_s: 0.2 }), 'abc')).toEqual([3]);
    const never = await rewardServer(() => undefined);
    expect(await outcomesOf(open(never.url, { timeout_s: 0.1, retries: 1 }), 'a')).toEqual([
      'gave no answer within 0.1 s, 2 times',
    ]);
    expect(await outcomesOf(open('http://127.0.0.1:49151', { retries: 0 }), 'a')).toEqual([
      expect.stringContaining('ECONNREFUSED'),
    ]);
  });

  it('asks no more of a server that has not answered several requests in a row', async () => {
    const never = await rewardServer(() => undefined);
    const more = { timeout_s: 0.1, retries: 0, concurrency: 2, batch_size: 1 };
    const outcomes = await outcomesOf(open(never.url, more), ...Array.from({ length: 20 }, () => 'a'));
    expect(outcomes[0]).toBe('gave no answer within 0.1 s');
    expect(outcomes[19]).toMatch(/^was not asked, as it did not answer [34] requests in a row$/);
    expect(never.received.length).toBeLessThanOrEqual(4);
    // One that fails now and then is asked to the end.
    const flaky = await rewardServer((request, before, response) =>
      before % 2 === 0 ? json(response, {}, 500) : json(response, lengths(request)),
    );
    await outcomesOf(
      open(flaky.url, { ...more, timeout_s: 10, concurrency: 1 }),
      ...Array.from({ length: 12 }, () => 'a'),
    );
    expect(flaky.received).toHaveLength(12);
  });

  it('does not follow a redirect: what is sent was agreed to for one address', async () => {
    const other = await rewardServer((request, _, response) => json(response, lengths(request)));
    const server = await rewardServer((_, __, response) => json(response, {}, 307, { location: `${other.url}/score` }));
    const [outcome] = await outcomesOf(open(server.url), 'a');
    expect(outcome).toBe(`redirects to ${other.url}/score, which was not agreed to`);
    expect(server.received).toHaveLength(1);
    expect(other.received).toHaveLength(0);
  });

  it('stops reading a huge answer', async () => {
    let sent = 0;
    const server = await rewardServer((_, __, response) => {
      const piece = Buffer.alloc(2 ** 20, 'x');
      const more = (): void => {
        while (!response.destroyed && sent < 400 && response.write(piece)) sent++;
        if (!response.destroyed && sent++ < 400) response.once('drain', more);
      };
      more();
    });
    expect(await outcomesOf(open(server.url), 'a')).toEqual(['answered with more than 16 MiB']);
    expect(sent).toBeLessThan(200);
  });

  it.each([
    ['too few scores', { scores: [1] }, 'expected 2 scores, got 1'],
    ['too many scores', { scores: [1, 2, 3] }, 'expected 2 scores, got 3'],
    ['something else', { rewards: [1, 2] }, 'expected {"scores": [numbers]}, got {"rewards":[1,2]}'],
    ['a list', [1, 2], 'expected {"scores": [numbers]}'],
  ])('refuses %s', async (_, answer, reason) => {
    const server = await rewardServer((__, ___, response) => json(response, answer));
    const outcomes = await outcomesOf(open(server.url), 'a', 'b');
    expect(outcomes).toEqual([expect.stringContaining(reason), expect.stringContaining(reason)]);
  });

  it('marks single completions without a number', async () => {
    const server = await rewardServer((_, __, response) =>
      json(response, { scores: [null, '7', { error: 'rude' }, 0.5, -1e300] }),
    );
    expect(await outcomesOf(open(server.url), 'a', 'b', 'c', 'd', 'e')).toEqual([
      'expected a finite number as the score, got null',
      'expected a finite number as the score, got "7"',
      'rude',
      0.5,
      'expected the score to be a number within ±3.4e38, the range of float32, got -1e+300',
    ]);
  });

  it('sends the key as a bearer token, and leaves it out of reasons', async () => {
    const server = await rewardServer(({ headers }, _, response) =>
      json(response, { you: headers.authorization }, 400),
    );
    const [outcome] = await outcomesOf(open(server.url, {}, 's3cret'), 'a');
    expect(server.received[0]?.headers.authorization).toBe('Bearer s3cret');
    expect(outcome).toBe('answered with status 400: {"you":"Bearer [key]"}');
    const echoing = await rewardServer(({ headers }, _, response) =>
      json(response, { error: `${'x'.repeat(80)} ${headers.authorization}` }),
    );
    const [echoed] = await outcomesOf(open(echoing.url, {}, 's3cret'), 'a');
    expect(echoed).toContain('Bearer [key]');
    const refusing = await rewardServer((_, __, response) => json(response, {}, 401));
    expect(await outcomesOf(open(refusing.url), 'a')).toEqual([expect.stringContaining('needs a key (401)')]);
  });
});
