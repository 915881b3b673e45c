import { Screen } from '../components/Screen.tsx';

export function Run({ runId }: { readonly runId: number }) {
  return <Screen title={`Run ${runId}`}>…</Screen>;
}
