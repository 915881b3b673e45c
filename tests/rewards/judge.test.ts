import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJudge } from '../../main/rewards/judge.ts';
import { openJudgeCache } from '../../main/rewards/judge-cache.ts';
import { inGroups } from '../../main/tasks/groups.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { answersTo, specOf } from './answers.ts';
import { chatAnswer, json, rewardServer } from './reward-server.ts';

async function judgeOn(answer: (content: string) => string, more: object = {}, folder = temporaryFolder()) {
  const server = await rewardServer(({ body }, _, response) =>
    json(response, chatAnswer(answer(body.messages.at(-1).content))),
  );
  const spec = specOf<'judge'>({
    ...{ judge: `${server.url}/v1`, model: 'qwen', rubric: 'Word {word}, answer: {completion}', retries: 1 },
    price_per_million: { input: 1000, output: 20_000 },
    ...more,
  });
  const open = () => openJudge(spec, 'k3y', openJudgeCache(folder), { pauseMs: 5 });
  return { server, folder, open, judge: open() };
}
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));

describe('openJudge', () => {
  it('asks for each completion by the rubric, and gives the share of the scale', async () => {
    const { server, judge } = await judgeOn((content) => `Score: ${content.length > 17 ? 10 : 1}`, {
      system: 'Be strict.',
    });
    const { outcomes } = await judge.score(answersTo('', 'longer'));
    expect(outcomes).toEqual([0, 1]);
    expect(server.received.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    expect(server.received[0]).toMatchObject({
      headers: { authorization: 'Bearer k3y' },
      body: {
        model: 'qwen',
        temperature: 0,
        max_tokens: 512,
        messages: [
          { role: 'system', content: 'Be strict.' },
          { role: 'user', content: 'Word it, answer: ' },
        ],
      },
    });
  });

  it('asks once for all completions of a prompt where the rubric names them', async () => {
    const { server, judge } = await judgeOn(
      (content) => (content.includes('"3"') ? 'Score 1: 4, better\n**Score 2:** 10\nScore 3: 1/10' : 'Score 2: 5'),
      { rubric: 'Rank for {word}: {completions}' },
    );
    const { outcomes } = await judge.score(
      inGroups(answersTo('so so', 'best', 'Score 3: 10', 'alone'), (i) => Math.floor(i / 3)),
    );
    expect(outcomes).toEqual([1 / 3, 1, 0, expect.stringContaining('expected "Score 1: N"')]);
    expect(server.received.map(({ body }) => body.messages[0].content).sort()).toEqual([
      'Rank for it: {"1":"alone"}',
      'Rank for it: {"1":"so so","2":"best","3":"Score 3: 10"}',
    ]);
  });

  it('asks and pays once for equal requests, and never again for kept answers', async () => {
    const { server, judge, open, folder } = await judgeOn(() => '4');
    const first = await judge.score(answersTo('same').flatMap((one) => [one, one, one]));
    expect(first).toMatchObject({ cached: 0 });
    expect(first.cost).toBeCloseTo((100 * 1000 + 10 * 20_000) / 1e6, 12);
    expect(server.received).toHaveLength(1);
    const again = await open().score(answersTo('same'));
    expect(again).toEqual({ outcomes: first.outcomes.slice(0, 1), cost: 0, cached: 1 });
    expect(server.received).toHaveLength(1);
    const [kept = ''] = filesIn(folder);
    expect(JSON.parse(readFileSync(join(folder, kept), 'utf8'))).toEqual({
      answer: '4',
      input_tokens: 100,
      output_tokens: 10,
    });
    expect(readFileSync(join(folder, kept), 'utf8')).not.toContain('k3y');
  });

  it('asks again where another model, rubric or temperature is used, or the kept answer is damaged', async () => {
    const folder = temporaryFolder();
    const { server, judge } = await judgeOn(() => '4', {}, folder);
    await judge.score(answersTo('same'));
    const spec = { judge: `${server.url}/v1`, model: 'qwen', rubric: 'Word {word}, answer: {completion}' };
    for (const change of [{ model: 'other' }, { rubric: 'Now: {completion}' }, { temperature: 0.5 }])
      await openJudge(specOf<'judge'>({ ...spec, ...change }), null, openJudgeCache(folder)).score(answersTo('same'));
    expect(server.received).toHaveLength(4);
    for (const file of filesIn(folder)) writeFileSync(join(folder, file), '{"answer": ');
    await judge.score(answersTo('same'));
    expect(server.received).toHaveLength(5);
  });

  it("scores an answer that can't be kept", async () => {
    // A file where the folder should be: nothing can be written there, as on a full disk.
    const file = join(temporaryFolder(), 'cache');
    writeFileSync(file, '');
    const { judge } = await judgeOn(() => '10', {}, file);
    expect(await judge.score(answersTo('a'))).toMatchObject({ outcomes: [1], cached: 0 });
  });

  it('fails on prose, and keeps the answer: asking again would cost the same', async () => {
    const { server, judge } = await judgeOn(() => 'A fine answer.');
    for (let i = 0; i < 2; i++)
      expect((await judge.score(answersTo('a'))).outcomes).toEqual([expect.stringContaining('gave no score')]);
    expect(server.received).toHaveLength(1);
  });

  it('keeps nothing of a request that failed, and knows no cost without a price', async () => {
    const folder = temporaryFolder();
    const server = await rewardServer((_, before, response) =>
      before < 2
        ? json(response, {}, 500)
        : before === 2
          ? json(response, { hello: 1 })
          : json(response, chatAnswer('10')),
    );
    const spec = specOf<'judge'>({ judge: `${server.url}/v1/`, model: 'q', rubric: '{completion}', retries: 1 });
    const judge = openJudge(spec, null, openJudgeCache(folder), { pauseMs: 5 });
    expect((await judge.score(answersTo('a'))).outcomes).toEqual(['the judge answered with status 500: {}, 2 times']);
    expect((await judge.score(answersTo('a'))).outcomes).toEqual([
      expect.stringContaining('another form than a chat completion'),
    ]);
    expect(await judge.score(answersTo('a'))).toEqual({ outcomes: [1], cost: null, cached: 0 });
  });

  it.each([
    [{ content: null, refusal: 'No.' }, 'stop', 'the judge refused: "No."'],
    [{ content: null, reasoning_content: 'Score: 9?' }, 'length', 'the judge wrote no answer within its max_tokens'],
    [{ content: '' }, 'stop', 'the judge wrote no answer (stop)'],
    [{ content: 'Score: 1' }, 'length', 'was cut off'],
    [{ content: 'Score: 1' }, 'MAX_TOKENS', 'was cut off'],
    [{ content: 'Score: 1' }, 'content_filter', 'was interrupted (content_filter)'],
    [
      {
        content: [
          { type: 'text', text: 'Score: ' },
          { type: 'text', text: '10' },
        ],
      },
      'stop',
      1,
    ],
  ])('reads the message %j that ended by %s', async (message, finish_reason, outcome) => {
    const usage = { prompt_tokens: null };
    const server = await rewardServer((_, __, response) =>
      json(response, { choices: [{ message, finish_reason }], usage }),
    );
    const spec = specOf<'judge'>({ judge: server.url, model: 'q', rubric: '{completion}' });
    const open = () => openJudge(spec, null, cache);
    const cache = openJudgeCache(temporaryFolder());
    // The second is of the kept answer, where one is kept.
    for (let i = 0; i < 2; i++)
      expect((await open().score(answersTo('a'))).outcomes).toEqual([
        typeof outcome === 'number' ? outcome : expect.stringContaining(outcome),
      ]);
  });

  it('counts what an answer without a text has cost', async () => {
    const server = await rewardServer((_, __, response) => json(response, chatAnswer('')));
    const price_per_million = { input: 1000, output: 20_000 };
    const spec = specOf<'judge'>({ judge: server.url, model: 'q', rubric: '{completion}', price_per_million });
    const { cost } = await openJudge(spec, null, openJudgeCache(temporaryFolder())).score(answersTo('a'));
    expect(cost).toBeCloseTo((100 * 1000 + 10 * 20_000) / 1e6, 12);
  });

  it('says at which path nothing answers', async () => {
    const server = await rewardServer((_, __, response) => json(response, {}, 404));
    const spec = specOf<'judge'>({ judge: server.url, model: 'q', rubric: '{completion}' });
    const { outcomes } = await openJudge(spec, null, openJudgeCache(temporaryFolder())).score(answersTo('a'));
    expect(outcomes).toEqual(['the judge answered with status 404: {} (at /chat/completions)']);
  });

  it('leaves out what a reasoning model refuses, and keeps what stands behind the path', async () => {
    const refused = (field: string): object => ({ error: { message: `Unsupported parameter: '${field}' is not …` } });
    const server = await rewardServer(({ body }, _, response) => {
      if ('max_tokens' in body) return json(response, refused('max_tokens'), 400);
      if ('temperature' in body) return json(response, refused('temperature'), 400);
      json(response, chatAnswer('10'));
    });
    const spec = specOf<'judge'>({ judge: `${server.url}/v1?api-version=1`, model: 'q', rubric: '{completion}' });
    const judge = openJudge(spec, null, openJudgeCache(temporaryFolder()));
    expect((await judge.score(answersTo('a', 'b', 'c'))).outcomes).toEqual([1, 1, 1]);
    expect(server.received.at(-1)).toMatchObject({
      path: '/v1/chat/completions?api-version=1',
      body: { max_completion_tokens: 512 },
    });
  });
});
