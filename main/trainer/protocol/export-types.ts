/** The types in which a model can be exported, as the command line names them. */

export const DTYPES = ['bfloat16', 'float16', 'float32'] as const;
export type Dtype = (typeof DTYPES)[number];

export const GGUF_CHOICES = ['f16', 'q8_0'] as const;
export type GgufChoice = (typeof GGUF_CHOICES)[number];

/** Those that a GGUF file can be converted to: float16 doesn't hold what some models have. */
export const GGUF_DTYPES = ['bfloat16', 'float32'] as const;
export type GgufDtype = (typeof GGUF_DTYPES)[number];
