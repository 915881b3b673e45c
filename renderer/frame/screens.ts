/** The screens in workflow order, with the key that opens each after `g`. */
import {
  IconAdjustments,
  IconArrowsDiff,
  IconBox,
  IconChartLine,
  IconChecklist,
  IconFlask,
  IconHome,
  IconListSearch,
  IconMessageReply,
  IconMessages,
  IconStairs,
  IconTextPlus,
} from '@tabler/icons-react';

export const screens = [
  { path: '/', label: 'Home', key: 'h', icon: IconHome },
  { path: '/texts', label: 'Texts & datasets', key: 't', icon: IconTextPlus },
  { path: '/tasks', label: 'Tasks', key: 'k', icon: IconChecklist },
  { path: '/curriculum', label: 'Curriculum', key: 'c', icon: IconStairs },
  { path: '/replies', label: 'Replies', key: 'y', icon: IconMessageReply },
  { path: '/experiments', label: 'Experiments', key: 'e', icon: IconFlask },
  { path: '/runs', label: 'Runs', key: 'r', icon: IconChartLine },
  { path: '/samples', label: 'Samples', key: 's', icon: IconListSearch },
  { path: '/compare', label: 'Compare', key: 'x', icon: IconArrowsDiff },
  { path: '/playground', label: 'Playground', key: 'p', icon: IconMessages },
  { path: '/models', label: 'Models', key: 'm', icon: IconBox },
  { path: '/settings', label: 'Settings', key: ',', icon: IconAdjustments },
] as const;
