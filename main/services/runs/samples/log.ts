/** The text of `sample_outputs.log`: for each step, the best and the worst completion with their target. */

import { wholeText } from '../../../samples/completion.ts';
import type { Sample } from '../../../samples/sample.ts';
import { counted } from '../../../text/format.ts';
import { visible } from '../../../text/visible.ts';

const width = 100;
const indent = '    ';

/** One step's entry: a header, then the best and the worst of its completions. */
export function formatSamples(step: number, samples: readonly Sample[]): string {
  const sorted = [...samples].sort((a, b) => rank(b.reward) - rank(a.reward));
  const best = sorted[0];
  const worst = sorted.at(-1);
  if (best === undefined || worst === undefined) return '';
  const parts = [header(step, samples), block('best', best)];
  if (worst !== best) parts.push(block('worst', worst));
  return `${parts.join('\n')}\n`;
}

/** A completion without a reward counts as the worst. */
function rank(reward: number): number {
  return Number.isNaN(reward) ? Number.NEGATIVE_INFINITY : reward;
}

function header(step: number, samples: readonly Sample[]): string {
  const rewards = samples.map((sample) => sample.reward).filter((reward) => !Number.isNaN(reward));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return `=== step ${step}: ${counted(samples.length, 'completion')}, mean reward ${mean.toFixed(4)}\n`;
}

function block(title: string, sample: Sample): string {
  const components = Object.entries(sample.components).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  const end = sample.terminated ? 'ended by itself' : 'cut off at max_completion_length';
  const text = wholeText(sample);
  return [
    `--- ${title}: reward ${sample.reward.toFixed(4)}, advantage ${sample.advantage.toFixed(4)}`,
    `  record ${sample.recordId}, group ${sample.group}, completion ${sample.index}, ${counted(sample.length, 'token')}, ${end}`,
    ...(components.length > 0 ? [`  components: ${components.join(', ')}`] : []),
    ...(typeof sample.failure === 'string' ? [`  no reward: ${visible(sample.failure)}`] : []),
    ...(sample.target === '' ? [] : ['  target:', wrap(sample.target)]),
    '  completion:',
    text.trim() === '' ? `${indent}(nothing)` : wrap(text),
    '',
  ].join('\n');
}

/** Wraps text to `width` characters, indented; words aren't broken, and existing line breaks are kept. */
function wrap(text: string): string {
  return visible(text).split('\n').flatMap(wrapLine).join('\n');
}

function wrapLine(line: string): string[] {
  const lines: string[] = [];
  let current = indent;
  for (const word of line.split(/\s+/u)) {
    if (current !== indent && current.length + 1 + word.length > width) {
      lines.push(current);
      current = indent;
    }
    current += current === indent ? word : ` ${word}`;
  }
  return [...lines, current.trimEnd()];
}
