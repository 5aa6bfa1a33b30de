import { randomBytes } from 'node:crypto'

/** Where unguessable bytes come from. */
export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
