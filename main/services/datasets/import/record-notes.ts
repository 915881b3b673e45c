/** What an import says of its records: what they may not be meant to teach, and what they lack. */
import { parsedText, RESPONSES } from '../../../tasks/folder/conversation.ts';
import { hidesThoughts } from '../../../tasks/folder/message-forms.ts';
import { counted } from '../../../text/format.ts';
import { pairsOf } from './joined-columns.ts';
import { columnOf, type Mapping, mappedTo, type TaskField, valueAt } from './mapping.ts';
import type { Mapped } from './select.ts';
import type { Row } from './table.ts';

/** A row and what became of it. */
export interface Noted {
  readonly row: Row;
  readonly fields: Mapped['fields'];
}

/** What would be learned from the records and can't be meant. */
export function recordNotes(fields: readonly TaskField[], mapping: Mapping, records: readonly Noted[]): string[] {
  return [
    ...emptyTexts(fields, records),
    ...badExamples(fields, mapping, records),
    ...unusedColumns(mapping, records),
    ...hiddenThoughts(fields, mapping, records),
    ...earlierTurns(mapping, records),
  ];
}

/** Where a text that every record needs is empty: a missing answer would be trained on, and reward silence. */
function emptyTexts(fields: readonly TaskField[], records: readonly Noted[]): string[] {
  return fields.flatMap(({ name, type, optional }) => {
    if (type !== 'text' || optional) return [];
    const empty = records.filter(({ fields: own }) => typeof own[name] === 'string' && own[name].trim() === '');
    const [first] = empty;
    if (first === undefined) return [];
    return `${name} is empty in ${empty.length} of ${counted(records.length, 'record')}, first on line ${first.row.line}; filter those rows out unless that is meant.`;
  });
}

const usedBy = (mapping: Mapping): readonly string[] =>
  Object.values(mapping).flatMap((column) => columnOf(column).split('+'));

/** What marks an answer as bad in single rows: KTO's label of TRL and ms-swift, LLaMA-Factory's. */
const VERDICTS = ['label', 'kto_tag'];

/** Of preferences in single rows the rejected answers aren't targets. */
function badExamples(fields: readonly TaskField[], mapping: Mapping, records: readonly Noted[]): string[] {
  const used = usedBy(mapping);
  const isSpoken = fields.some(({ name, type }) => type === 'messages' && mappedTo(mapping, name) !== undefined);
  if (!isSpoken && !used.includes('completion')) return [];
  return VERDICTS.filter((name) => !used.includes(name)).flatMap((name) => {
    const bad = records.filter(({ row }) => row.values[name] === false || row.values[name] === 'False');
    const [first] = bad;
    if (first === undefined) return [];
    return [
      `${name} is false in ${bad.length} of ${counted(records.length, 'row')}, first on line ${first.row.line}: bad examples, which would be trained on as good ones; filter those rows out.`,
    ];
  });
}

const REJECTED = ['rejected', 'rejected_response'];

/** Columns that say something about the rows, and that no field is made of. */
function unusedColumns(mapping: Mapping, records: readonly Noted[]): string[] {
  const used = usedBy(mapping);
  const rowsWith = (name: string, has: (value: unknown) => boolean): number =>
    used.includes(name) ? 0 : records.filter(({ row }) => has(row.values[name])).length;
  const notes = REJECTED.map((name): [string, number, string] => {
    const why = 'there is no training on preferences, so only the better answers are kept, as targets';
    return [name, rowsWith(name, (value) => value != null && value !== ''), why];
  });
  const earlier = rowsWith('history', (value) => (pairsOf(value) ?? []).length > 0);
  notes.push(['history', earlier, 'earlier turns are left out; the task "conversation" takes them']);
  return notes.flatMap(([name, count, why]) =>
    count === 0 ? [] : [`${name} isn't used, in ${counted(count, 'row')}: ${why}.`],
  );
}

/** Thoughts that are encrypted can't be trained on; the conversation is whole without them. */
function hiddenThoughts(fields: readonly TaskField[], mapping: Mapping, records: readonly Noted[]): string[] {
  const column = mapping[fields.find(({ type }) => type === 'messages')?.name ?? ''];
  if (column === undefined) return [];
  const hiding = records.filter(({ row }) => hidesThoughts(parsedText(valueAt(row.values, column))));
  const [first] = hiding;
  if (first === undefined) return [];
  return [
    `${counted(hiding.length, 'record has', 'records have')} encrypted thoughts, which are left out, first on line ${first.row.line}.`,
  ];
}

/** Of OpenAI's Responses, turns that their server kept. */
function earlierTurns(mapping: Mapping, records: readonly Noted[]): string[] {
  const used = Object.values(mapping).flatMap((column) => columnOf(column).split('+'));
  if (!used.includes(RESPONSES.asked)) return [];
  const continuing = records.filter(({ row }) => typeof row.values.previous_response_id === 'string');
  const [first] = continuing;
  if (first === undefined) return [];
  return [
    `${counted(continuing.length, 'record continues', 'records continue')} an earlier response (previous_response_id) without its turns, first on line ${first.row.line}; filter those rows out, or add the turns.`,
  ];
}
