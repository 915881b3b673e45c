/** Weights in a checkpoint that are not the model's: of the optimiser, and of a reference that follows the policy. */
export const OPTIMIZER_FILE = 'optimizer.safetensors';
export const REFERENCE_FILE = 'reference_model.safetensors';

export const NOT_THE_MODEL: readonly string[] = [OPTIMIZER_FILE, REFERENCE_FILE];
