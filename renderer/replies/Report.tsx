/** The comparison of the methods: charts, a table that names winners only where differences are significant, files. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { MethodView, ReportView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { Share } from '../components/Share.tsx';
import { saveFile, svgToPng } from '../components/save-file.ts';
import { When } from '../components/When.tsx';
import classes from './Replies.module.css';
import { ReportCharts } from './ReportCharts.tsx';
import { Differences, ReportTable } from './ReportTables.tsx';
import type { ReplyWork } from './use-reply-work.ts';

export interface ReportProps {
  readonly methods: readonly MethodView[];
  /** Whether a starting checkpoint was chosen; it is compared too. */
  readonly hasStart: boolean;
  readonly seed: number;
  readonly work: ReplyWork;
}

export function Report({ methods, hasStart, seed, work }: ReportProps) {
  const { data: report, error, refetch } = useQuery(api.replies.report.queryOptions());
  const done = methods.filter(({ newest }) => newest?.state === 'done').length + (hasStart ? 1 : 0);
  const save = useMutation({ mutationFn: saveReportFile });
  return (
    <Panel
      title="Comparison on held-out posts"
      actions={
        <>
          {report && <Share subject={{ of: 'replies' }} hasTexts={false} />}
          <Button
            variant="default"
            disabled={work.isBusy || done < 2}
            onClick={() => work.begin('The comparison was not started', () => client.replies.compare({ seed }))}
          >
            Compare the newest runs
          </Button>
        </>
      }
    >
      {error !== null && <Failed what="The report can't be shown" error={error} onRetry={() => void refetch()} />}
      {save.error !== null && <Failed what="The file could not be saved" error={save.error} />}
      {report === null && (
        <p className="soft">
          {done < 2
            ? `No comparison yet. It needs finished runs of two methods; so far there ${done === 0 ? 'are none' : 'is one'}.`
            : `No comparison yet. It samples ten replies per held-out post from each of ${done} models.`}
        </p>
      )}
      {report && (
        <>
          <p className="soft">
            {counted(report.numbers.prompts, 'post')}, {counted(report.numbers.samples, 'reply', 'replies')} each,{' '}
            <When at={report.at} />. Means with 95% intervals; a winner is named only where it beats all others
            significantly.
          </p>
          <ReportCharts report={report} />
          <ReportTable report={report} />
          <Differences report={report} />
          <Files report={report} onSave={save.mutate} />
        </>
      )}
    </Panel>
  );
}

interface FilesProps {
  readonly report: ReportView;
  readonly onSave: (file: string) => void;
}

/** The files of the report: its text, numbers and replies, and each figure for print with its data. */
function Files({ report: { files, folder }, onSave }: FilesProps) {
  const figures = files.filter((file) => file.endsWith('.svg'));
  return (
    <details className={classes.some}>
      <summary>Files of the report</summary>
      <div className={classes.foot}>
        {files
          .filter((file) => !file.includes('/'))
          .map((file) => (
            <Button key={file} variant="default" onClick={() => onSave(file)}>
              Save {file}
            </Button>
          ))}
        <span className={`mono soft ${classes.path}`}>{folder}</span>
      </div>
      <ul className={classes.saves}>
        {figures.map((file) => {
          const name = (file.split('/').at(-1) ?? file).replace('.svg', '').replaceAll(/[-_]/g, ' ');
          const data = file.replace('figures/', 'data/').replace('.svg', '.csv');
          return (
            <li key={file}>
              <span>{name}</span>
              <Save label={`${name}, SVG`} text="SVG" onClick={() => onSave(file)} />
              <Save label={`${name}, PNG`} text="PNG" onClick={() => onSave(file.replace(/svg$/, 'png'))} />
              {files.includes(data) && <Save label={`${name}, data as CSV`} text="CSV" onClick={() => onSave(data)} />}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

interface SaveProps {
  readonly label: string;
  readonly text: string;
  readonly onClick: () => void;
}

function Save({ label, text, onClick }: SaveProps) {
  return (
    <Button variant="subtle" size="compact-xs" aria-label={`Save ${label}`} onClick={onClick}>
      {text}
    </Button>
  );
}

/** PNGs are rendered from the SVG here. */
async function saveReportFile(file: string): Promise<void> {
  const name = file.split('/').at(-1) ?? file;
  const { text } = await client.replies.reportFile({ file: file.replace(/png$/, 'svg') });
  saveFile(name, file.endsWith('png') ? await svgToPng(text) : new Blob([text]));
}
