/** One model's lane: the model select, and its completion aligned with the target as it streams. */
import { ActionIcon } from '@mantine/core';
import { IconCut, IconX } from '@tabler/icons-react';
import type { Answer, PlayedRecord } from '../../main/api/contract/index.ts';
import { Aligned } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { CompletionText } from '../components/CompletionText.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, duration, number, score } from '../components/format.ts';
import { LongChoice } from '../components/LongChoice.tsx';
import type { ModelOptionGroup } from '../components/model-options.ts';
import classes from './Playground.module.css';
import { endedScores, meanScore } from './samples.ts';
import type { Completed, Lane } from './use-answers.ts';

export interface LaneViewProps {
  readonly number: number;
  readonly options: readonly ModelOptionGroup[];
  readonly model: string;
  readonly onModel: (model: string) => void;
  /** Null if it can't be removed. */
  readonly onRemove: (() => void) | null;
  readonly lane: Lane | null;
  readonly hidden: ReadonlySet<WordKind>;
  /** What appears here, until something does. */
  readonly about: string;
}

export function LaneView({ number: position, options, model, onModel, onRemove, lane, hidden, about }: LaneViewProps) {
  return (
    <section className={classes.lane} aria-label={`Model ${position}`}>
      <header>
        <LongChoice
          aria-label={`Model ${position}`}
          className={classes.model}
          placeholder="Choose a model or a checkpoint"
          currentLabel={options.flatMap(({ items }) => items).find(({ value }) => value === model)?.label}
          nothingFoundMessage="No matching models"
          data={[...options]}
          value={model === '' ? null : model}
          onChange={(ref) => onModel(ref ?? '')}
        />
        {onRemove !== null && (
          <ActionIcon aria-label={`Remove model ${position}`} onClick={onRemove}>
            <IconX size={14} />
          </ActionIcon>
        )}
      </header>
      {lane === null && <p className="faint">{about}</p>}
      {lane !== null && (
        <>
          {lane.state === 'running' && lane.answers.length === 0 && (
            <p className="soft" role="status">
              Loading the model …
            </p>
          )}
          <Several lane={lane} />
          {lane.answers.map((answer, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: samples are identified by their order only
            <div key={i} className={classes.sample}>
              <Sample
                {...{ answer, hidden }}
                label={`Completion of model ${position}${i === 0 ? '' : `, sample ${i + 1}`}`}
                growing={answer.end === null && lane.state === 'running'}
              />
            </div>
          ))}
          {lane.state === 'cancelled' && <p className="soft">Cancelled</p>}
          {lane.state === 'failed' && <Failed what="The model could not answer" error={lane.error} />}
        </>
      )}
    </section>
  );
}

interface SampleProps {
  readonly answer: Completed;
  readonly label: string;
  readonly hidden: ReadonlySet<WordKind>;
  readonly growing: boolean;
}

function Sample({ answer, label, hidden, growing }: SampleProps) {
  if (answer.kind === 'texts')
    return (
      <>
        <Result answer={answer} />
        <Aligned words={answer.alignment.words} {...{ label, hidden, growing }} open />
      </>
    );
  const failure = answer.end?.failure ?? null;
  return (
    <>
      <RewardResult answer={answer} />
      <CompletionText sample={answer} {...{ label, hidden, growing }} />
      {failure !== null && <p className={`mono ${classes.failure}`}>No reward: {failure}</p>}
    </>
  );
}

/** Mean, best and spread, once there are several samples. */
function Several({ lane }: { readonly lane: Lane }) {
  const scores = endedScores(lane);
  const mean = meanScore(lane);
  if (scores.length < 2 || mean === null) return null;
  return (
    <p className={`num ${classes.several}`}>
      {counted(scores.length, 'sample')}: mean <strong className="mono">{score(mean)}</strong>, best{' '}
      {score(Math.max(...scores))}, worst {score(Math.min(...scores))}
    </p>
  );
}

function Result({ answer: { alignment, tokens, end } }: { readonly answer: Answer }) {
  const { score: aligned, firstError, counts } = alignment;
  return (
    <p className={`num ${classes.result}`}>
      <strong className="mono" title={end === null ? 'Alignment so far' : 'Alignment with the target'}>
        {score(aligned)}
      </strong>
      {end === null && <span>so far</span>}
      <span>
        {counts.match} of {counted(counts.match + counts.wrong + counts.missing, 'word')} right
      </span>
      {end !== null && <span>{firstError === null ? 'exact' : `first error at word ${firstError + 1}`}</span>}
      <span>{counted(tokens, 'token')}</span>
      {end !== null && <span>{duration(end.seconds)}</span>}
      <AskedAs name={end?.askedAs ?? null} />
      {end?.terminated === false && <CutOff />}
    </p>
  );
}

/** The reward with its parts, once it is known. */
function RewardResult({ answer: { messages, tokens, end } }: { readonly answer: PlayedRecord }) {
  const turns = messages?.filter(({ role }) => role === 'assistant').length ?? 0;
  const parts = Object.entries(end?.components ?? {});
  return (
    <p className={`num ${classes.result}`}>
      {end !== null && (
        <strong className="mono" title="Reward">
          {score(end.reward)}
        </strong>
      )}
      {parts.length > 1 &&
        parts.map(([name, value]) => (
          <span key={name} title={`Reward component ${name}`}>
            {name} {number(value)}
          </span>
        ))}
      {end?.check != null && (
        <span title="The check, which no reward looks at">
          {end.check.name} {number(end.check.value)}
        </span>
      )}
      {messages !== undefined && <span>{counted(turns, 'turn')}</span>}
      <span>{counted(tokens, 'token')}</span>
      {end !== null && <span>{duration(end.seconds)}</span>}
      <AskedAs name={end?.askedAs ?? null} />
      {end?.terminated === false && <CutOff />}
    </p>
  );
}

function AskedAs({ name }: { readonly name: string | null }) {
  if (name === null) return null;
  return <span title="This model has no system prompt or chat template settings of its own">asked as {name}</span>;
}

function CutOff() {
  return (
    <span className={classes.cut}>
      <IconCut size={12} aria-hidden="true" /> cut off
    </span>
  );
}
