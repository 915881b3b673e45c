/** Where held-out records are from: a part of the rows, a file of their own, or another split of the Hub's dataset. */
import { useMutation } from '@tanstack/react-query';
import type { ImportPlan } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { ChooseFile } from '../components/ChooseFile.tsx';
import { Failed } from '../components/Feedback.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { Panel } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { HeldOutSplit } from './HeldOutSplit.tsx';
import classes from './Import.module.css';
import { type HeldOutChoice, type HeldOutKind, RECORD_FILES, type Source } from './import-source.ts';
import { withoutFolders } from './import-words.ts';

export interface HeldOutProps {
  readonly source: Source;
  readonly choice: HeldOutChoice;
  /** What is wrong with the chosen file or split; null: nothing. */
  readonly problem: ImportPlan['problem'];
  readonly columns: ImportPlan['columns'];
  readonly testShare: number;
  readonly splitBy: string;
  readonly onChoose: (choice: HeldOutChoice) => void;
  readonly onChange: (part: { readonly testShare?: number; readonly splitBy?: string }) => void;
}

const KINDS: readonly { readonly value: HeldOutKind; readonly label: string }[] = [
  { value: 'part', label: 'A part of these rows' },
  { value: 'file', label: 'Another file' },
  { value: 'split', label: 'Another split' },
];

export function HeldOut({ source, choice, problem, columns, testShare, splitBy, onChoose, onChange }: HeldOutProps) {
  const { kind, upload } = choice;
  /** One that is replaced is needed no more; that the host may have forgotten it already is no matter. */
  const choose = (next: HeldOutChoice): void => {
    if (upload !== null) void client.imports.drop({ uploadId: upload.uploadId }).catch(() => undefined);
    onChoose(next);
  };
  const split = source.hub !== null && (
    <HeldOutSplit
      {...{ hub: source.hub, kind, upload }}
      onKind={() => choose({ kind: 'split', upload: null })}
      onDownload={(downloaded) => choose({ kind: 'split', upload: downloaded })}
    />
  );
  return (
    <Panel title="Held-out records">
      <div className={classes.heldOut}>
        <Segments
          aria-label="Held-out records"
          data={KINDS.filter(({ value }) => value !== 'split' || source.hub !== null)}
          value={kind}
          onChange={(value) => choose({ kind: value, upload: null })}
        />
        {kind === 'part' && (
          <div className={classes.rows}>
            <NumberEntry
              label="Held out"
              description="Percent of the rows"
              min={0}
              max={90}
              value={Math.round(testShare * 100)}
              onChange={(percent) => onChange({ testShare: (percent ?? 0) / 100 })}
            />
            <div>
              <span className={classes.label}>Kept together by</span>
              <Choice
                aria-label="Kept together by"
                data={[
                  { value: '', label: 'each row by itself' },
                  ...columns.map((column) => ({ value: column, label: column })),
                ]}
                value={splitBy}
                onChange={(column) => onChange({ splitBy: column })}
              />
            </div>
          </div>
        )}
        {kind === 'file' && <HeldOutFile {...{ upload }} onUpload={(kept) => choose({ kind: 'file', upload: kept })} />}
        {kind !== 'file' && split}
        {problem !== null && (
          <p className={classes.bad} role="alert">
            {withoutFolders(problem.message)}. {problem.remedy}
          </p>
        )}
      </div>
    </Panel>
  );
}

interface HeldOutFileProps extends Pick<HeldOutChoice, 'upload'> {
  readonly onUpload: (upload: NonNullable<HeldOutChoice['upload']>) => void;
}

function HeldOutFile({ upload, onUpload }: HeldOutFileProps) {
  const keep = useMutation({
    mutationFn: async (file: File) => {
      const { uploadId } = await client.imports.upload({ name: file.name, content: file });
      return { uploadId, name: file.name };
    },
    onSuccess: onUpload,
  });
  return (
    <>
      <div className={classes.chosen}>
        <ChooseFile
          label="File of held-out records"
          accept={RECORD_FILES}
          loading={keep.isPending}
          onChoose={(file) => keep.mutate(file)}
        >
          {upload === null ? 'Choose a file …' : 'Choose another file …'}
        </ChooseFile>
        <span className="soft">{upload === null ? 'With the same columns' : `All rows of ${upload.name}`}</span>
      </div>
      {keep.error !== null && <Failed what="The file could not be read" error={keep.error} />}
    </>
  );
}
