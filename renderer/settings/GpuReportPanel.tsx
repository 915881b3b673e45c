/** A report on the GPU: made as a job, shown and saved as Markdown. */
import { Button, CopyButton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { JobProgress } from '../components/JobProgress.tsx';
import { Panel } from '../components/Screen.tsx';
import { saveFile } from '../components/save-file.ts';
import classes from './Settings.module.css';

const JOB_KINDS = ['gpu-report'];

export function GpuReportPanel() {
  const { data: report, error, refetch } = useQuery(api.app.gpuReport.queryOptions());
  const { data: status } = useQuery(api.app.status.queryOptions());
  const start = useMutation({ mutationFn: () => client.app.startGpuReport() });
  const running = status?.jobs.some(({ kind, state }) => JOB_KINDS.includes(kind) && state === 'running') ?? false;
  return (
    <Panel
      title="GPU report"
      className={classes.panel ?? ''}
      actions={
        <>
          {report != null && (
            <>
              <CopyButton value={report.text}>
                {({ copied, copy }) => (
                  <Button variant="default" onClick={copy}>
                    {copied ? 'Copied' : 'Copy'}
                  </Button>
                )}
              </CopyButton>
              <Button
                variant="default"
                onClick={() => saveFile('gpu-report.md', new Blob([report.text], { type: 'text/markdown' }))}
              >
                Save as file
              </Button>
            </>
          )}
          <Button variant="default" disabled={running} onClick={() => start.mutate()}>
            {report == null ? 'Make report' : 'Make again'}
          </Button>
        </>
      }
    >
      <p className={classes.about}>
        Compares what the GPU computes with the processor, and times models from tiny to 3.2 B with random weights. It
        takes some minutes and no network.
      </p>
      {error !== null && <Failed what="The newest report can't be read" error={error} onRetry={() => void refetch()} />}
      {start.error !== null && <Failed what="The report can't be made" error={start.error} />}
      <JobProgress kinds={JOB_KINDS} />
      {report != null && (
        <section aria-label="Newest GPU report">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
          <pre className={classes.log} tabIndex={0}>
            {report.text}
          </pre>
        </section>
      )}
    </Panel>
  );
}
