/** One completion: its reward and components, and its words aligned with the target. */

import { Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCut, IconFlag, IconPin, IconPinFilled } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { SampleFacts, SampleKey, SampleView } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Aligned } from '../components/Aligned.tsx';
import { fragmentOf, targetOf, type WordKind } from '../components/aligned-words.ts';
import { CompletionText } from '../components/CompletionText.tsx';
import { Conversation } from '../components/Conversation.tsx';
import { Failed } from '../components/Feedback.tsx';
import { number, score } from '../components/format.ts';
import { IconButton } from '../components/IconButton.tsx';
import { isolated } from '../components/isolated.ts';
import { MoreMenu } from '../components/MoreMenu.tsx';
import { visible } from '../components/visible.ts';
import { figuresOf } from './figures.ts';
import { usePins } from './pins.ts';
import classes from './Samples.module.css';

export interface SampleCardProps {
  readonly sample: SampleKey;
  readonly title: ReactNode;
  /** Accessible name; by default the title. */
  readonly name?: string;
  readonly hidden: ReadonlySet<WordKind>;
  /** Also shows the fragments and the target, where they aren't shown above. */
  readonly withTarget?: boolean;
  /** Opens the record's other completions. */
  readonly onRecord?: ((sample: SampleFacts) => void) | undefined;
}

/** Only the key of a completion, as query input. */
export function keyOf({ runId, step, group, index }: SampleKey): SampleKey {
  return { runId, step, group, index };
}

export function useSample(key: SampleKey) {
  return useQuery(api.samples.get.queryOptions({ input: keyOf(key), placeholderData: keepPreviousData }));
}

export function SampleCard({ sample: key, title, name: given, hidden, withTarget = false, onRecord }: SampleCardProps) {
  const { data: sample, error } = useSample(key);
  const name = given ?? (typeof title === 'string' ? title : `completion ${key.index + 1}`);
  return (
    <article className={classes.card} aria-label={name}>
      <header>
        <span className={classes.title}>{title}</span>
        {sample !== undefined && <Facts sample={sample} />}
        <Actions sampleKey={keyOf(key)} name={name} sample={sample} onRecord={onRecord} />
      </header>
      {error !== null && <Failed what="This completion can't be shown" error={error} />}
      {sample !== undefined && error === null && (
        <>
          {withTarget && <Target sample={sample} />}
          <CompletionText sample={sample} label={name} hidden={hidden} />
          {typeof sample.failure === 'string' && (
            <p className={`mono ${classes.failure}`}>No reward: {sample.failure}</p>
          )}
        </>
      )}
    </article>
  );
}

function Facts({ sample }: { readonly sample: SampleView }) {
  const { reward, terminated, components, alignment } = sample;
  const { data: columns = [] } = useQuery(api.samples.columns.queryOptions());
  return (
    <span className={`num ${classes.facts}`}>
      <strong className="mono" title="Reward">
        {score(reward)}
      </strong>
      {Object.entries(components).map(([name, value]) => (
        <span key={name} title={`Reward component ${name}`}>
          {isolated(name)} {number(value)}
        </span>
      ))}
      {figuresOf(columns, sample).map(({ name, text, title }) => (
        <span key={name} title={title}>
          {text}
        </span>
      ))}
      {typeof alignment?.firstError === 'number' && <span>first error at word {alignment.firstError + 1}</span>}
      {terminated ? (
        <span className={classes.ended}>
          <IconFlag size={12} aria-hidden="true" /> ended
        </span>
      ) : (
        <span className={classes.cut} title="It reached max_completion_length">
          <IconCut size={12} aria-hidden="true" /> cut off
        </span>
      )}
    </span>
  );
}

interface ActionsProps {
  readonly sampleKey: SampleKey;
  /** Of the card. */
  readonly name: string;
  readonly sample: SampleView | undefined;
  readonly onRecord: ((sample: SampleFacts) => void) | undefined;
}

function Actions({ sampleKey, name, sample, onRecord }: ActionsProps) {
  const pins = usePins();
  const pinned = pins.has(sampleKey);
  const clipboard = useClipboard();
  const copy = (text: string | undefined) => {
    if (text === undefined) return;
    clipboard.reset();
    clipboard.copy(text);
  };
  return (
    <span className={classes.actions}>
      <span role="status" className={classes.copied}>
        {clipboard.copied && 'Copied'}
        {clipboard.error !== null && 'Not copied: the browser denied access to the clipboard'}
      </span>
      <IconButton
        size="sm"
        aria-label={pinned ? 'Unpin' : pins.full ? 'Four are pinned: unpin one first' : 'Pin to compare'}
        aria-pressed={pinned}
        disabled={!pinned && pins.full}
        onClick={() => pins.toggle(sampleKey)}
      >
        {pinned ? <IconPinFilled size={14} /> : <IconPin size={14} />}
      </IconButton>
      <MoreMenu label={`Actions for ${name}`}>
        {() => (
          <>
            <Menu.Item onClick={() => copy(sample?.completion)}>Copy the completion</Menu.Item>
            <Menu.Item onClick={() => copy(sample?.target)}>Copy the target</Menu.Item>
            <Menu.Item onClick={() => copy(sample?.prompt)}>Copy the prompt</Menu.Item>
            <Menu.Item onClick={() => copy(sample && JSON.stringify(withoutWords(sample), null, 2))}>
              Copy as JSON
            </Menu.Item>
            {onRecord !== undefined && sample !== undefined && (
              <Menu.Item onClick={() => onRecord(sample)}>Show this record over the run</Menu.Item>
            )}
          </>
        )}
      </MoreMenu>
    </span>
  );
}

function withoutWords({ alignment, ...rest }: SampleView) {
  return { ...rest, first_error: alignment?.firstError ?? null };
}

/** The two fragments and the target in the colours of their strands; without fragments the prompt and what is wanted. */
export function Target({ sample }: { readonly sample: SampleView }) {
  const { words } = sample.alignment ?? { words: [] };
  const isBraid = words.some(({ strand }) => strand !== null);
  if (!isBraid)
    return (
      <>
        {sample.promptMessages === undefined ? (
          <p className={`mono own-direction ${classes.prompted}`}>{visible(sample.prompt)}</p>
        ) : (
          <div className={classes.asked}>
            <Conversation messages={sample.promptMessages} label="Prompt" user="User" />
          </div>
        )}
        {sample.target !== '' && (
          <dl className={classes.target}>
            <div>
              <dt>{sample.show === 'beside' ? 'Reference' : 'Target'}</dt>
              <dd className={`mono own-direction ${classes.wanted}`}>{visible(sample.target)}</dd>
            </div>
          </dl>
        )}
      </>
    );
  return (
    <dl className={classes.target}>
      {(['a', 'b'] as const).map((strand) => (
        <div key={strand}>
          <dt className={classes[strand]}>{strand.toUpperCase()}</dt>
          <dd className={`mono own-direction ${classes.fragment} ${classes[strand]}`} title={fragmentOf(words, strand)}>
            {fragmentOf(words, strand)}
          </dd>
        </div>
      ))}
      <div>
        <dt>Target</dt>
        <dd>
          <Aligned words={targetOf(words)} label="Target" />
        </dd>
      </div>
    </dl>
  );
}
