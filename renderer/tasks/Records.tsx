/** Records of a task as the prompts that they become; those that don't fit come first, with the reason. */

import { Button, UnstyledButton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { DraftRecord, RecordsSource } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { visible } from '../components/visible.ts';
import { sharedStart } from './shared-start.ts';
import classes from './Task.module.css';
import type { Draft } from './use-draft.ts';

export interface RecordsProps {
  readonly draft: Draft;
  /** Whether task.yaml has no faults: only then are records read. null: not known yet. */
  readonly isValid: boolean | null;
}

const PAGE = 50;

export function Records({ draft, isValid }: RecordsProps) {
  const sources = useQuery(api.tasks.recordsSources.queryOptions({ input: { name: draft.name } }));
  const [chosen, setChosen] = useState('0');
  const [shown, setShown] = useState(PAGE);
  const [, navigate] = useLocation();
  const source = sources.data?.[Number(chosen)] ?? sources.data?.[0];
  const importing = (
    <Button variant="default" onClick={() => navigate(`/tasks/${draft.name}/import`)}>
      Import records …
    </Button>
  );
  return (
    <section className={classes.records} aria-label="Records">
      <div className={classes.paneHead}>
        <h2>Records</h2>
        {sources.data !== undefined && sources.data.length > 1 && (
          <Choice
            aria-label="Which records"
            data={sources.data.map(({ label }, i) => ({ value: String(i), label }))}
            value={chosen}
            onChange={(value) => {
              setChosen(value);
              setShown(PAGE);
            }}
          />
        )}
      </div>
      {sources.error !== null && (
        <Failed what="The records can't be listed" error={sources.error} onRetry={() => void sources.refetch()} />
      )}
      {sources.data?.length === 0 && (
        <div className={classes.none}>
          <p className="soft">This task has no records yet.</p>
          {importing}
        </div>
      )}
      {source !== undefined && isValid === true && (
        <List {...{ draft, source, shown }} onMore={() => setShown(shown + PAGE)} />
      )}
      {source !== undefined && isValid === null && <Loading what="the records" />}
      {source !== undefined && isValid === false && (
        <p className={`soft ${classes.none}`}>Fix task.yaml to see the records as prompts.</p>
      )}
      {source !== undefined && <div className={classes.paneFoot}>{importing}</div>}
    </section>
  );
}

interface ListProps {
  readonly draft: Draft;
  readonly source: RecordsSource;
  readonly shown: number;
  readonly onMore: () => void;
}

function List({ draft, source: { datasetId, side }, shown, onMore }: ListProps) {
  const { data, error, refetch } = useQuery(
    api.tasks.records.queryOptions({
      // The reward doesn't change how a record is read.
      input: { draft: { ...draft, reward: '' }, from: { datasetId, side }, limit: Math.min(200, shown) },
      placeholderData: keepPreviousData,
      retry: false,
    }),
  );
  if (error !== null) return <Failed what="The records can't be read" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the records" />;
  const { total, faults, records } = data;
  const shared = sharedStart(records.flatMap((record) => (record.kind === 'fault' ? [] : record.prompt)));
  return (
    <>
      <p className={`num soft ${classes.counts}`} role="status">
        {number(total)} records{faults > 0 && <span className={classes.bad}>, {number(faults)} with faults</span>}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <ol className={classes.recordList} tabIndex={0} aria-label="Prompts">
        {records.map((record) => (
          <li key={record.line}>
            <Row {...{ record, shared }} />
          </li>
        ))}
      </ol>
      {records.length < total && shown < 200 && (
        <Button variant="subtle" onClick={onMore}>
          Show more
        </Button>
      )}
    </>
  );
}

interface RowProps {
  readonly record: DraftRecord;
  /** Characters that all prompts begin with. */
  readonly shared: number;
}

function Row({ record, shared }: RowProps) {
  const [open, setOpen] = useState(false);
  if (record.kind === 'fault')
    return (
      <p className={classes.bad}>
        <span className="mono">line {record.line}</span> {record.reason}
      </p>
    );
  const { id, prompt, messages, reference } = record;
  return (
    <>
      <UnstyledButton className={classes.recordHead} aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="mono faint">{id}</span>
        <span className={classes.oneLine}>{shared === 0 ? prompt : `… ${prompt.slice(shared)}`}</span>
      </UnstyledButton>
      {open && (
        <dl className={classes.prompt}>
          {(messages ?? [{ role: 'prompt', content: prompt }]).map(({ role, content }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of messages is fixed
            <div key={i}>
              <dt>{role}</dt>
              <dd className="own-direction">{visible(content ?? '')}</dd>
            </div>
          ))}
          {reference !== '' && (
            <div>
              <dt>target</dt>
              <dd className="own-direction">{visible(reference)}</dd>
            </div>
          )}
        </dl>
      )}
    </>
  );
}
