import { Screen } from '../components/Screen.tsx';

export function Runs() {
  return <Screen title="Runs">…</Screen>;
}
