/** One comparison: progress, results as numbers and charts, and every prompt with its completions. */
import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { ComparisonView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { MoreButton } from '../components/MoreMenu.tsx';
import { Screen } from '../components/Screen.tsx';
import { Share } from '../components/Share.tsx';
import { useKeys } from '../frame/keys.tsx';
import { Charts } from './Charts.tsx';
import { ComparisonProgress } from './ComparisonProgress.tsx';
import { linkTo } from './choice.ts';
import { ExportMenu } from './ExportMenu.tsx';
import { Leaks } from './Leaks.tsx';
import { Prompts } from './Prompts.tsx';
import { Result } from './Result.tsx';

export function Comparison({ id }: { readonly id: number }) {
  const { data, error, refetch } = useQuery(api.comparisons.get.queryOptions({ input: { id } }));
  if (error !== null) {
    return (
      <Screen title="Compare" actions={<Link href="/compare">All comparisons</Link>}>
        <Failed what="This comparison can't be shown" error={error} onRetry={() => void refetch()} />
      </Screen>
    );
  }
  if (data === undefined) {
    return (
      <Screen title="Compare">
        <Loading what="the comparison" />
      </Screen>
    );
  }
  return <Shown view={data} />;
}

function Shown({ view }: { readonly view: ComparisonView }) {
  const { id, models, prompts } = view;
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState(1);
  const [gains, setGains] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const answered = models.some(({ mean }) => mean !== null);
  const choose = (position: number): void => {
    setChosen(position);
    setGains(null);
  };
  useKeys(
    useMemo(
      () => [
        {
          key: 'm',
          label: 'Next model',
          run: () => {
            setChosen((before) => (before % (models.length - 1)) + 1);
            setGains(null);
          },
        },
      ],
      [models.length],
    ),
  );
  // The reference of a deleted model is on no list to choose from.
  const [base = null, ...others] = models.map(({ reference, standing }) => (standing === 'gone' ? null : reference));
  const change = linkTo({
    baseline: base,
    models: others.filter((reference) => reference !== null),
    datasetIds: prompts.datasetIds,
    n: Math.ceil(prompts.n / Math.max(1, prompts.datasets.length)),
    seed: prompts.seed,
  });
  return (
    <Screen
      title="Compare"
      about={
        <span>
          <span className="num">{counted(prompts.n, 'held-out prompt')}</span> of {prompts.datasets.join(', ')}, seed{' '}
          <span className="num">{prompts.seed}</span>
          <span className="faint" title={`Hash of the prompt set: identical sets have the same hash, ${prompts.hash}`}>
            , prompt set <span className="mono">{prompts.hash.slice(0, 8)}</span>
          </span>
        </span>
      }
      actions={
        <>
          <Button component={Link} href="/compare" variant="default">
            All comparisons
          </Button>
          <Button variant="default" onClick={() => navigate(change)}>
            {' '}
            Edit{' '}
          </Button>
          <ExportMenu id={id} disabled={!answered} />
          <Share subject={{ of: 'comparison', id }} hasTexts disabled={!answered} />
          <More view={view} />
        </>
      }
    >
      <ComparisonProgress view={view} />
      {prompts.leaking.map((dataset) => (
        <Leaks key={dataset.name} {...dataset} />
      ))}
      <Result models={models} verdict={view.verdict} metric={view.metric} chosen={chosen} onChoose={choose} />
      {answered && (
        <>
          <Charts view={view} chosen={chosen} gains={gains} onGains={setGains} />
          <Prompts view={view} chosen={chosen} gains={gains} onGains={setGains} />
        </>
      )}
    </Screen>
  );
}

function More({ view: { id } }: { readonly view: ComparisonView }) {
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState<'again' | 'remove' | null>(null);
  const again = useMutation({
    mutationFn: () => client.comparisons.resume({ id, fresh: true }),
    onSuccess: () => setAsking(null),
  });
  const remove = useMutation({
    mutationFn: () => client.comparisons.remove({ id }),
    onSuccess: () => navigate('/compare'),
  });
  return (
    <>
      <MoreButton>
        {() => (
          <>
            <Menu.Item onClick={() => setAsking('again')}>Regenerate all answers …</Menu.Item>
            <Menu.Item color="red" onClick={() => setAsking('remove')}>
              Delete this comparison …
            </Menu.Item>
          </>
        )}
      </MoreButton>
      <Confirm
        opened={asking === 'again'}
        title="Regenerate all answers?"
        action="Regenerate"
        mutation={again}
        onClose={() => setAsking(null)}
      >
        Every model answers all prompts again. The current results are kept until the new ones are ready.
      </Confirm>
      <Confirm
        opened={asking === 'remove'}
        title="Delete this comparison?"
        action="Delete"
        dangerous
        mutation={remove}
        onClose={() => setAsking(null)}
      >
        It is removed from the list. Its evaluations are kept, so the same comparison can be shown again without
        computing.
      </Confirm>
    </>
  );
}
