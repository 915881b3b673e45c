/** The preview of an import: files with errors, each text with similar ones, and the confirmation. */
import { Button, Checkbox, Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { ImportedFile, ImportOutcome, ImportPreview, IncomingText } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { CompareIncoming } from './CompareIncoming.tsx';
import styles from './Import.module.css';
import {
  comingCount,
  encodingNotes,
  type Fate,
  fateOf,
  faultsSummary,
  type ImportChoice,
  importLabel,
  isComparable,
  isDecided,
  summaryOf,
} from './import-choice.ts';
import { StageChanges } from './StageChanges.tsx';
import classes from './Texts.module.css';
import type { Incoming } from './use-incoming.ts';

export interface ImportPreviewProps {
  readonly preview: ImportPreview;
  readonly incoming: Incoming;
  readonly choice: ImportChoice;
  readonly onChange: (choice: ImportChoice) => void;
  /** Goes back to choosing files. */
  readonly onRestart: () => void;
  readonly onDone: (told: string) => void;
}

export function ImportPreviewView({ preview, incoming, choice, onChange, onRestart, onDone }: ImportPreviewProps) {
  const [compared, setCompared] = useState<number | null>(null);
  const [minWords, setMinWords] = useState(incoming.minWords);
  const confirm = useMutation(
    api.texts.confirmImport.mutationOptions({ onSuccess: (outcome) => onDone(resultText(outcome)) }),
  );
  const { files, texts, stages, importId, skipped } = preview;
  const coming = comingCount(texts, choice);
  const bad = files.filter(({ faultCount }) => faultCount > 0);
  return (
    <div className={styles.preview}>
      {bad.length > 0 && <Faults files={bad} all={files} />}
      {texts.length > 0 && (
        <>
          <p className={styles.summary}>{summaryOf(texts, choice)}</p>
          <IncomingTexts {...{ texts, choice }} onChange={onChange} onCompare={setCompared} />
          {!isDecided(choice) && <StageChanges stages={stages} />}
        </>
      )}
      {(skipped > 0 || encodingNotes(files).length > 0) && (
        <p className={`${styles.notes} soft`}>
          {encodingNotes(files).join(' ')}
          {skipped > 0 &&
            ` ${counted(skipped, 'other file was', 'other files were')} skipped: no texts, or not the conversations of a chat export.`}
        </p>
      )}
      {compared !== null && (
        <CompareIncoming
          {...{ importId }}
          position={compared}
          onClose={() => setCompared(null)}
          onDecide={(keep) => {
            onChange({ ...choice, keep: new Map(choice.keep).set(compared, keep) });
            setCompared(null);
          }}
        />
      )}
      {confirm.error !== null && <Failed what="Nothing was imported" error={confirm.error} />}
      <div className={`${classes.dialogEnd} ${styles.end}`}>
        <BoundedNumber
          className={styles.minWords ?? ''}
          label="Min. answer length in chat exports, in words"
          min={1}
          max={100_000}
          value={minWords}
          onChange={setMinWords}
          onBlur={() => minWords !== incoming.minWords && incoming.setMinWords(minWords)}
        />
        <Switch
          className={styles.split ?? ''}
          label="Split at headings"
          checked={incoming.splitAtHeadings}
          onChange={({ currentTarget }) => incoming.setSplitAtHeadings(currentTarget.checked)}
        />
        <span className={classes.gap} />
        <Button variant="default" onClick={onRestart}>
          Choose other files
        </Button>
        <Button
          data-autofocus={coming > 0 || undefined}
          disabled={coming === 0}
          loading={confirm.isPending}
          onClick={() =>
            confirm.mutate({
              importId,
              without: [...choice.without],
              keep: [...choice.keep].map(([position, keep]) => ({ position, keep })),
            })
          }
        >
          {importLabel(coming, files)}
        </Button>
      </div>
    </div>
  );
}

function resultText({ added, removed, leftOut }: ImportOutcome): string {
  const parts = [
    `${counted(added, 'text')} imported`,
    removed.length > 0 ? `${counted(removed.length, 'shorter version')} replaced` : '',
    leftOut > 0 ? `${number(leftOut)} skipped as ${leftOut === 1 ? 'a duplicate' : 'duplicates'}` : '',
  ];
  return `${parts.filter((part) => part !== '').join(', ')}.`;
}

const FAULTS_SHOWN = 8;

interface FaultsProps {
  /** Those with errors. */
  readonly files: readonly ImportedFile[];
  readonly all: readonly ImportedFile[];
}

/** The errors, with their lines; what else is in those files can be imported. */
function Faults({ files, all }: FaultsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={styles.faults} tabIndex={0} aria-label="File errors">
      <p>{faultsSummary(all)}</p>
      <ul>
        {files.map(({ name, faults, faultCount }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two dropped files may share a name
          <li key={i}>
            <strong>{name}</strong>
            <ul>
              {faults.slice(0, FAULTS_SHOWN).map(({ line, reason }) => (
                <li key={`${line}:${reason}`}>
                  {line !== null && <span className="mono">line {line}: </span>}
                  {reason}
                </li>
              ))}
              {faultCount > FAULTS_SHOWN && <li className="soft">and {number(faultCount - FAULTS_SHOWN)} more</li>}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface IncomingTextsProps {
  readonly texts: readonly IncomingText[];
  readonly choice: ImportChoice;
  readonly onChange: (choice: ImportChoice) => void;
  readonly onCompare: (position: number) => void;
}

function IncomingTexts({ texts, choice, onChange, onCompare }: IncomingTextsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: texts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 44,
    overscan: 8,
  });
  const { without, keep } = choice;
  const toggle = (index: number): void => {
    const next = new Set(without);
    if (!next.delete(index)) next.add(index);
    onChange({ ...choice, without: next });
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={styles.incoming} tabIndex={0} aria-label="Texts to import">
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, size }) => {
          const text = texts[index];
          if (text === undefined) return null;
          const fate = fateOf(text, keep.get(index));
          const out = fate === 'left-out';
          return (
            <li key={index} style={{ top: start, height: size }} data-out={out || without.has(index) || undefined}>
              <Checkbox
                aria-label={`Import ${text.title}`}
                checked={!out && !without.has(index)}
                disabled={out}
                onChange={() => toggle(index)}
              />
              <span className={styles.what}>
                <strong>{text.title}</strong>
                <span className="faint own-direction">{text.beginning}</span>
              </span>
              <span className="mono soft">{number(text.words)}</span>
              <FateCell {...{ text, fate }} onCompare={() => onCompare(index)} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const fates: Readonly<Record<Fate, string>> = {
  new: 'new',
  replaces: 'replaces',
  'left-out': 'skipped',
  besides: 'kept with',
};

interface FateCellProps {
  readonly text: IncomingText;
  readonly fate: Fate;
  readonly onCompare: () => void;
}

function FateCell({ text, fate, onCompare }: FateCellProps) {
  const { resembles, title } = text;
  const [first] = resembles;
  const share = first === undefined ? '' : `${Math.round(first.similarity * 100)}% similar`;
  return (
    <span className={styles.fate} data-fate={fate}>
      <span>
        {fates[fate]}
        {isComparable(text) && (
          <PlainButton className={styles.compare} aria-label={`Compare … ${title}`} onClick={onCompare}>
            Compare …
          </PlainButton>
        )}
      </span>
      {first !== undefined && (
        <span className="soft" title={resembles.map((other) => other.title).join(', ')}>
          {first.kind === 'exact' ? `same as “${first.title}”` : `“${first.title}”, ${share}`}
          {resembles.length > 1 && ` and ${resembles.length - 1} more`}
        </span>
      )}
      {fate === 'left-out' && first === undefined && <span className="soft">a longer version is imported, too</span>}
    </span>
  );
}
