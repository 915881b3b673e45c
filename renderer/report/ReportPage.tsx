/** The page of a report: its title and result, the content by its kind, and where it is from. */
import { Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useEffect } from 'react';
import type { Report } from '../../main/api/contract/index.ts';
import { When } from '../components/When.tsx';
import { StrandMark } from '../theme/strand-mark.tsx';
import { ComparisonReport } from './ComparisonReport.tsx';
import { CurriculumReport } from './CurriculumReport.tsx';
import { RepliesReport } from './RepliesReport.tsx';
import classes from './Report.module.css';
import { RunReport } from './RunReport.tsx';
import { SweepReport } from './SweepReport.tsx';

export function ReportPage({ report }: { readonly report: Report }) {
  usePaperWhenPrinting();
  return (
    <div className={classes.page}>
      <main>
        <Content report={report} />
      </main>
      <footer className={`soft ${classes.foot}`}>
        <StrandMark size={18} />
        <span>
          Made by Braid {report.version}, <When at={report.madeAt} />, on {report.machine}.
          {!report.hasTexts && ' Prompts, targets and completions were left out.'}
        </span>
        <Scheme />
      </footer>
    </div>
  );
}

function Content({ report: { content, hasTexts } }: { readonly report: Report }) {
  switch (content.kind) {
    case 'run':
      return <RunReport content={content} />;
    case 'comparison':
      return <ComparisonReport content={content} hasTexts={hasTexts} />;
    case 'sweep':
      return <SweepReport content={content} />;
    case 'replies':
      return <RepliesReport content={content} />;
    case 'curriculum':
      return <CurriculumReport content={content} />;
  }
}

function Scheme() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme();
  const other = shown === 'dark' ? 'light' : 'dark';
  return (
    <Button variant="subtle" className={classes.scheme ?? ''} onClick={() => setColorScheme(other)}>
      {other === 'dark' ? 'Dark' : 'Light'}
    </Button>
  );
}

/** Ink on white on paper, whatever the screen shows. */
function usePaperWhenPrinting(): void {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme();
  useEffect(() => {
    const before = (): void => setColorScheme('light');
    const after = (): void => setColorScheme(shown);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, [setColorScheme, shown]);
}
