import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../main/commands/terminal-text.ts';
import { watchFrame } from '../../main/commands/watch-frame.ts';
import type { Sample } from '../../main/samples/sample.ts';
import { recordEvents } from '../../main/services/runs/events.ts';
import { type RunView, runView } from '../../main/services/runs/run-view.ts';
import { createRun } from '../../main/services/runs/runs.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { sampleOf, temporaryStore } from '../store/helpers.ts';

function view(task: 'interleave' | 'reply' = 'interleave', sample: Partial<Sample> = {}): RunView {
  const store = temporaryStore();
  const { runId } = createRun(store, parseConfig({ task, dataset: 'datasets/10words.jsonl', max_steps: 40 }));
  recordEvents(store, runId, [
    { kind: 'evaluation', step: 0, metrics: {}, items: [{ id: 'a', completion: '', metrics: { alignment: 0.25 } }] },
    ...Array.from({ length: 20 }, (_, i) => {
      const metrics = { reward: i / 20, loss: 0, step_time: 2, 'groups/dead': 0 };
      return { kind: 'step', step: i + 1, metrics } as const;
    }),
    { kind: 'evaluation', step: 20, metrics: {}, items: [{ id: 'a', completion: '', metrics: { alignment: 0.75 } }] },
    { kind: 'samples', step: 20, samples: [sampleOf({ index: 1, reward: 1, completion: 'red one blue two' })] },
    { kind: 'samples', step: 20, samples: [sampleOf({ reward: 0.25, completion: 'red green', ...sample })] },
    { kind: 'warning', step: 20, rule: 'kl', message: 'KL is\nhigh', remedy: 'Lower the rate.' },
  ]);
  return runView(store, runId);
}

const all = { columns: 100, rows: null, colour: false };

describe('watchFrame', () => {
  it('says everything about a run', () => {
    const frame = watchFrame(view(), all);
    expect(frame.slice(0, 3)).toEqual([
      'run-0001-10words-grpo (run 1) · running',
      'grpo · tiny · 10words.jsonl',
      '████████████░░░░░░░░░░░░ 20/40 steps · 2.0 s each · 40 s left',
    ]);
    expect(frame).toContain('reward 0.950 at step 20');
    expect(frame.filter((line) => line.includes('┤'))).toHaveLength(8);
    const held = 'Held-out score 0.750 at step 20, above the 0.250 before the run. ▁█ [0.750, 0.750], 1';
    expect(frame).toContain(`held-out      ${held}`);
    expect(frame.find((line) => line.startsWith('verdict'))).toMatch(/^verdict {7}learning: Training reward \+/);
    expect(frame).toContain('Step 20, best and worst of 2: [wrong], (missing)');
    expect(frame).toContain('best    1.00  red one blue two');
    expect(frame).toContain('worst   0.25  red (one) (blue) [green]');
    expect(frame.at(-1)).toBe('step 20       KL is high. Lower the rate.');
  });

  it.each([
    [80, 24],
    [100, 50],
    [40, 12],
    [20, 5],
    [1, 1],
  ])('fits %i columns and %i rows, its hint last', (columns, rows) => {
    const frame = watchFrame(
      view('interleave', { completion: 'word '.repeat(300) }),
      { columns, rows, colour: false },
      'q',
    );
    expect(frame.length).toBeLessThanOrEqual(rows);
    expect(frame.at(-1)).toBe('q');
    expect(frame[0]?.length).toBeLessThanOrEqual(Math.max(1, columns));
    if (rows >= 24) expect(frame).toContainEqual(expect.stringMatching(/^step 20 {7}KL/));
    if (rows >= 24) expect(frame.length).toBe(rows);
  });

  it.each(['漢字', 'word', '👩‍👩‍👧字'])('keeps %s within the window, however often', (word) => {
    for (const task of ['interleave', 'reply'] as const) {
      const frame = watchFrame(view(task, { completion: word.repeat(200) }), { columns: 40, rows: 30, colour: false });
      expect(Math.max(...frame.map(columnsOf))).toBeLessThanOrEqual(40);
      expect(frame.some((line) => line.includes(word))).toBe(true);
    }
  });

  it('colours the verdict, words and warnings, and resets each', () => {
    const frame = watchFrame(view(), { ...all, colour: true });
    const text = frame.join('\n');
    expect(text).toContain('\x1b[32mlearning');
    expect(text).toContain('\x1b[31;2m(blue)\x1b[0m \x1b[31mgreen\x1b[0m');
    expect(frame.at(-1)).toBe('\x1b[33mstep 20       KL is high. Lower the rate.\x1b[0m');
  });

  it('lets no completion control the terminal', () => {
    const text = watchFrame(view('interleave', { completion: '\x1b[2Jred \x07' }), all).join('\n');
    expect(text).toContain('\\u001b[2Jred');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });

  it('shows replies with what people answered instead of word by word', () => {
    const frame = watchFrame(view('reply', { target: 'I love it', completion: ' ' }), all);
    expect(frame).toContain('worst   0.250 (nothing)');
    expect(frame).toContain('  target      I love it');
  });

  it('cuts a long event in a window, and wraps it elsewhere', () => {
    const { events, ...rest } = view();
    const long = { ...rest, events: events.map((event) => ({ ...event, remedy: 'word '.repeat(30) })) };
    const narrow = { columns: 60, rows: 40, colour: false };
    expect(watchFrame(long, narrow).at(-1)).toMatch(/^step 20 {7}KL is high. word .*…$/);
    expect(watchFrame(long, { ...narrow, rows: null }).slice(-4)).toEqual([
      expect.stringMatching(/^step 20 {7}KL is high\.( word)+$/),
      ...[1, 2, 3].map(() => expect.stringMatching(/^ {14}word( word)+$/)),
    ]);
  });

  it('says why a run has ended, and that nothing was drawn before the first step', () => {
    const { run, ...rest } = view();
    const ended = { ...run, state: 'interrupted', reason: 'killed', latest: {} } as const;
    const frame = watchFrame({ ...rest, run: ended, secondsLeft: null, extremes: null, heldOut: [], events: [] }, all);
    expect(frame[0]).toMatch(/· interrupted$/);
    expect(frame).toContain('interrupted   killed');
    expect(frame).toContain('There is nothing to draw before the first step.');
  });
});
