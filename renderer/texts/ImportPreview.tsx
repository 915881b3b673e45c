/** The preview of an import: files with errors, each text with similar ones, and the confirmation. */
import { Button, Checkbox, NumberInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { ImportedFile, ImportOutcome, ImportPreview, IncomingText } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import styles from './Import.module.css';
import { StageChanges } from './StageChanges.tsx';
import classes from './Texts.module.css';
import type { Incoming } from './use-incoming.ts';

export interface ImportPreviewProps {
  readonly preview: ImportPreview;
  readonly incoming: Incoming;
  readonly onDone: (told: string) => void;
}

export function ImportPreviewView({ preview, incoming, onDone }: ImportPreviewProps) {
  const [without, setWithout] = useState<ReadonlySet<number>>(new Set());
  const confirm = useMutation(
    api.texts.confirmImport.mutationOptions({ onSuccess: (outcome) => onDone(resultText(outcome)) }),
  );
  const { files, texts, stages, importId } = preview;
  const coming = texts.filter(({ fate }, i) => fate !== 'left-out' && !without.has(i)).length;
  const bad = files.filter(({ faultCount }) => faultCount > 0);
  return (
    <div className={styles.preview}>
      {bad.length > 0 && <Faults files={bad} all={files.length} />}
      {texts.length > 0 && (
        <>
          <p className={styles.summary}>{summaryOf(texts, without)}</p>
          <IncomingTexts texts={texts} without={without} onChange={setWithout} />
          {without.size === 0 && <StageChanges stages={stages} />}
        </>
      )}
      {confirm.error !== null && <Failed what="Nothing was imported" error={confirm.error} />}
      <div className={classes.dialogEnd}>
        <NumberInput
          className={styles.minWords ?? ''}
          label="Min. answer length in chat exports"
          suffix=" words"
          min={1}
          max={100_000}
          value={incoming.minWords}
          onBlur={({ currentTarget }) => {
            const words = Number.parseInt(currentTarget.value, 10);
            if (words >= 1 && words !== incoming.minWords) incoming.setMinWords(words);
          }}
        />
        <span className={classes.gap} />
        <Button variant="default" onClick={incoming.restart}>
          Choose other files
        </Button>
        <Button
          data-autofocus
          disabled={coming === 0}
          loading={confirm.isPending}
          onClick={() => confirm.mutate({ importId, without: [...without] })}
        >
          {coming === 0 ? 'Nothing to import' : `Import ${number(coming)} ${coming === 1 ? 'text' : 'texts'}`}
        </Button>
      </div>
    </div>
  );
}

function resultText({ added, removed, leftOut }: ImportOutcome): string {
  const parts = [
    `${number(added)} ${added === 1 ? 'text' : 'texts'} imported`,
    removed.length > 0
      ? `${number(removed.length)} shorter ${removed.length === 1 ? 'version' : 'versions'} replaced`
      : '',
    leftOut > 0 ? `${number(leftOut)} skipped as ${leftOut === 1 ? 'a duplicate' : 'duplicates'}` : '',
  ];
  return `${parts.filter((part) => part !== '').join(', ')}.`;
}

function summaryOf(texts: readonly IncomingText[], without: ReadonlySet<number>): string {
  const count = (fate: IncomingText['fate']) => texts.filter((text, i) => text.fate === fate && !without.has(i)).length;
  const parts = [
    `${number(texts.length)} ${texts.length === 1 ? 'text' : 'texts'} found`,
    `${number(count('new'))} new`,
    ...(count('replaces') > 0 ? [`${number(count('replaces'))} replacing shorter versions`] : []),
    ...(count('left-out') > 0
      ? [`${number(count('left-out'))} skipped as ${count('left-out') === 1 ? 'a duplicate' : 'duplicates'}`]
      : []),
    ...(without.size > 0 ? [`${number(without.size)} deselected`] : []),
  ];
  return `${parts.join(', ')}.`;
}

const FAULTS_SHOWN = 8;

/** A file with errors is skipped entirely: half of a file would be worse than none. */
function Faults({ files, all }: { readonly files: readonly ImportedFile[]; readonly all: number }) {
  return (
    <section className={styles.faults} aria-label="File errors">
      <p>
        {files.length} of {all} {all === 1 ? 'file' : 'files'} {files.length === 1 ? 'has' : 'have'} errors and{' '}
        {files.length === 1 ? 'is' : 'are'} skipped. Fix {files.length === 1 ? 'it' : 'them'} and import again.
      </p>
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
  readonly without: ReadonlySet<number>;
  readonly onChange: (without: ReadonlySet<number>) => void;
}

function IncomingTexts({ texts, without, onChange }: IncomingTextsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: texts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 44,
    overscan: 8,
  });
  const toggle = (index: number): void => {
    const next = new Set(without);
    if (!next.delete(index)) next.add(index);
    onChange(next);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={styles.incoming} tabIndex={0} aria-label="Texts to import">
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, size }) => {
          const text = texts[index];
          if (text === undefined) return null;
          const out = text.fate === 'left-out';
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
              <Fate text={text} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const fates = { new: 'new', replaces: 'replaces', 'left-out': 'skipped' } as const;

function Fate({ text: { fate, resembles } }: { readonly text: IncomingText }) {
  const [first] = resembles;
  const share = first === undefined ? '' : `${Math.round(first.similarity * 100)} % similar`;
  return (
    <span className={styles.fate} data-fate={fate}>
      <span>{fates[fate]}</span>
      {first !== undefined && (
        <span className="soft" title={resembles.map(({ title }) => title).join(', ')}>
          {first.kind === 'exact' ? `same as “${first.title}”` : `“${first.title}”, ${share}`}
          {resembles.length > 1 && ` and ${resembles.length - 1} more`}
        </span>
      )}
      {fate === 'left-out' && first === undefined && <span className="soft">a longer version is imported, too</span>}
    </span>
  );
}
