import type { ModelConfig } from './config.ts';
import { parameterShapes } from './model.ts';
import { isLinearWeight } from './names.ts';
import { openWeights } from './open-weights.ts';
import type { FloatType } from './safetensors.ts';
import { weightsOptions } from './weight-names.ts';

/** How a model's folder has its linear layers; of quantised ones, what their codes are unpacked to. */
export function typeOfLinears(folder: string, config: ModelConfig): FloatType {
  const weights = openWeights(folder, weightsOptions(config));
  try {
    const [name, shape] = [...parameterShapes(config)].find(([key]) => isLinearWeight(key)) ?? ['', []];
    return weights.source(name, shape).type;
  } finally {
    weights.close();
  }
}
