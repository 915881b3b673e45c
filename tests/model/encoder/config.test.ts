import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEncoderConfig } from '../../../main/model/encoder/config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const usual = { hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2, max_position_embeddings: 514 };

function read(config: object) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return readEncoderConfig(folder);
}

describe('readEncoderConfig', () => {
  it("begins RoBERTa's positions after the padding token, which leaves 512 of 514", () => {
    expect(read({ model_type: 'xlm-roberta', ...usual, pad_token_id: 1 })).toMatchObject({
      firstPosition: 2,
      tokens: 512,
      family: { prefix: 'roberta.' },
    });
  });

  it("reads DeBERTa's kinds of attention from a list or a text", () => {
    const config = { model_type: 'deberta-v2', ...usual, relative_attention: true, position_buckets: 256 };
    const distances = { span: 256, logarithmicTo: 514, contentToPosition: true, positionToContent: true };
    expect(read({ ...config, pos_att_type: 'p2c|c2p' })).toMatchObject({ distances });
    expect(read({ ...config, pos_att_type: ['c2p', 'p2c'] })).toMatchObject({ distances });
  });

  it.each([
    ['another family', { model_type: 'deberta', ...usual }, '"model_type"'],
    ['an activation of its own', { model_type: 'bert', ...usual, hidden_act: 'relu' }, '"hidden_act"'],
    ['a convolution', { model_type: 'deberta-v2', ...usual, conv_kernel_size: 3 }, '"conv_kernel_size"'],
  ])('refuses %s by the field that says so', (_, config, field) => {
    expect(() => read(config)).toThrow(field);
  });
});
