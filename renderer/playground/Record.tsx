/** A record of a task: which one, and the prompt that it becomes. */

import { IconChevronLeft, IconChevronRight, IconDice5 } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PlayRecord, TaskSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import { IconButton } from '../components/IconButton.tsx';
import { Link } from '../components/Link.tsx';
import { NumberField } from '../components/NumberField.tsx';
import { visible } from '../components/visible.ts';
import { Field } from './Field.tsx';
import type { Form, RecordsFrom } from './form.ts';
import classes from './Playground.module.css';

export interface RecordProps {
  readonly form: Form;
  readonly tasks: readonly TaskSummary[];
  readonly onForm: (change: Partial<Form>) => void;
  readonly record: PlayRecord | undefined;
}

/** The record that a form names, once its task is known. */
export function useRecord({ mode, task, from, index }: Form) {
  const sources = useQuery(
    api.tasks.recordsSources.queryOptions({ input: { name: task }, enabled: mode === 'record' && task !== '' }),
  );
  const source = sources.data?.find((known) => isSame(known, from)) ?? sources.data?.[0];
  const chosen = source && { datasetId: source.datasetId, side: source.side };
  const record = useQuery(
    api.playground.record.queryOptions({
      input: { task, from: chosen ?? { datasetId: null, side: 'train' }, index },
      enabled: chosen !== undefined,
      placeholderData: keepPreviousData,
      retry: false,
    }),
  );
  return { sources: sources.data, from: chosen, record };
}

function isSame({ datasetId, side }: RecordsFrom, from: RecordsFrom | null): boolean {
  return from !== null && datasetId === from.datasetId && side === from.side;
}

export function Record({ form, tasks, onForm }: Omit<RecordProps, 'record'>) {
  const { sources, from, record } = useRecord(form);
  const total = record.data?.total ?? 0;
  const { index } = form;
  return (
    <>
      <div className={classes.options}>
        <Field label="Task">
          {(id) => (
            <Choice
              id={id}
              width={230}
              data={tasks.map(({ name, title }) => ({
                value: name,
                label: title === null ? name : `${title} · ${name}`,
              }))}
              value={form.task}
              onChange={(task) => onForm({ task, from: null, index: 0 })}
            />
          )}
        </Field>
        {sources !== undefined && sources.length > 0 && (
          <Field label="Records">
            {(id) => (
              <Choice
                id={id}
                width={210}
                data={sources.map(({ label }, i) => ({ value: String(i), label }))}
                value={String(
                  Math.max(
                    0,
                    sources.findIndex((known) => isSame(known, from ?? null)),
                  ),
                )}
                onChange={(place) => {
                  const { datasetId = null, side = 'train' } = sources[Number(place)] ?? {};
                  onForm({ from: { datasetId, side }, index: 0 });
                }}
              />
            )}
          </Field>
        )}
        {from !== undefined && (
          <span className={classes.pick}>
            <NumberField
              label={total === 0 ? 'Record' : `Record of ${total}`}
              width={100}
              min={1}
              max={Math.max(1, total)}
              value={index + 1}
              onChange={(place) => onForm({ index: Math.max(0, (place ?? 1) - 1) })}
            />
            <IconButton
              aria-label="Previous record"
              disabled={index === 0}
              onClick={() => onForm({ index: index - 1 })}
            >
              <IconChevronLeft size={14} />
            </IconButton>
            <IconButton
              aria-label="Next record"
              disabled={index + 1 >= total}
              onClick={() => onForm({ index: index + 1 })}
            >
              <IconChevronRight size={14} />
            </IconButton>
            <IconButton
              aria-label="Draw a record"
              disabled={total < 2}
              onClick={() => onForm({ index: Math.floor(Math.random() * total) })}
            >
              <IconDice5 size={14} />
            </IconButton>
          </span>
        )}
      </div>
      {sources?.length === 0 && (
        <p className="soft">
          This task has no records yet. <Link href={`/tasks/${form.task}/import`}>Import records …</Link>
        </p>
      )}
      {record.error !== null && from !== undefined && <Failed what="This record can't be used" error={record.error} />}
      {record.data !== undefined && record.error === null && <Prompt record={record.data} />}
    </>
  );
}

function Prompt({ record: { messages, reference, maxTurns } }: { readonly record: PlayRecord }) {
  const alone = messages.length === 1;
  return (
    <dl className={classes.prompt}>
      {messages.map(({ role, content, tool_calls: calls = [] }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of messages is fixed
        <div key={i}>
          <dt>{alone ? 'Prompt' : ROLES[role]}</dt>
          <dd className="mono own-direction">
            {visible(content ?? '')}
            {calls.map(({ function: { name, arguments: given } }) => `${name}(${JSON.stringify(given)})`).join('\n')}
          </dd>
        </div>
      ))}
      {reference !== '' && (
        <div>
          <dt>Target</dt>
          <dd className="mono own-direction">{visible(reference)}</dd>
        </div>
      )}
      {maxTurns !== null && (
        <div>
          <dt>Turns</dt>
          <dd>up to {maxTurns}; the environment answers each of them</dd>
        </div>
      )}
    </dl>
  );
}

const ROLES = { system: 'System', user: 'User', assistant: 'Model', tool: 'Tool' } as const;
