/** The records that an import would give, as prompts; faults with file and line come first. */
import { useState } from 'react';
import type { ImportPlan } from '../../main/api/contract/index.ts';
import { Conversation } from '../components/Conversation.tsx';
import { Panel } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import classes from './Import.module.css';
import { countsInWords, sharedInWords, withoutFolders } from './import-words.ts';

export interface ImportPreviewProps {
  readonly plan: ImportPlan;
  readonly isOld: boolean;
}

export function ImportPreview({ plan, isOld }: ImportPreviewProps) {
  const [side, setSide] = useState<'train' | 'test'>('train');
  const { problem, counts, faults, leakage, quoted, unwritable, notes } = plan;
  const leaks = leakage && sharedInWords(leakage, counts.test);
  const records = plan[side];
  return (
    <Panel
      title="Preview"
      actions={
        <Segments
          aria-label="Side"
          data={[
            { value: 'train', label: 'Training' },
            { value: 'test', label: 'Held out' },
          ]}
          value={side}
          onChange={setSide}
        />
      }
    >
      <div className={classes.preview} aria-busy={isOld} data-old={isOld || undefined}>
        {problem === null ? (
          <p role="status">{countsInWords(counts)}</p>
        ) : (
          <p className={classes.bad} role="status">
            {withoutFolders(problem.message)}. {problem.remedy}
          </p>
        )}
        {leaks !== null && (
          <p className={classes.warn}>{leaks}. Where they come from one source, keep rows together by its column.</p>
        )}
        {notes.map((note) => (
          <p key={note} className={classes.warn}>
            {note}
          </p>
        ))}
        {quoted !== null && <p className={classes.warn}>{quoted}</p>}
        {unwritable !== null && <p className={classes.warn}>{unwritable}</p>}
        {faults.length > 0 && (
          <ul className={classes.faults} aria-label="Faults">
            {faults.map((fault) => (
              <li key={fault}>{withoutFolders(fault)}</li>
            ))}
          </ul>
        )}
        <ol className={classes.records}>
          {records.map(({ id, line, prompt, messages, reference }) => (
            <li key={id}>
              <p className="faint mono">
                {id}, line {line}
              </p>
              {messages === null ? (
                <p className={`own-direction ${classes.prompt}`}>{prompt}</p>
              ) : (
                <Conversation messages={messages} label={`Prompt of ${id}`} user="User" />
              )}
              {reference !== '' && (
                <p className="own-direction">
                  <span className="faint">target: </span>
                  {reference}
                </p>
              )}
            </li>
          ))}
        </ol>
      </div>
    </Panel>
  );
}
