import { randomBytes } from 'node:crypto'

/** Source of cryptographically secure random bytes. */
export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
