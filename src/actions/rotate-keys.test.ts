import { expect, test } from 'vitest'
import { createIdentity } from '../identity/identity.ts'
import { Secret } from '../pki/secret.ts'
import { rotateKeys } from './rotate-keys.ts'

const now = new Date('2026-11-15T00:00:00Z')

test.each([
  [['encryption'] as const, true],
  [['kubernetes'] as const, false],
])(
  'of %j, the encryption key of another tool is refused before anything changes: %s',
  async (keys, isRefused) => {
    const adoption = {
      from: 'rke1' as const,
      observed: now.toISOString(),
      committed: now.toISOString(),
      encryptionConfiguration: new Secret('encryption configuration', 'kind: EncryptionConfiguration'),
    }
    const identity = { ...(await createIdentity('shop', now)), adoption }
    const done: string[] = []
    const rotation = rotateKeys({
      keys,
      load: async () => identity,
      save: async () => void done.push('save'),
      async applyIdentity() {
        done.push('apply')
        return 'not-confirmed'
      },
      finishPhase: async () => 'ok',
      reportPhases: () => undefined,
      dryRun: false,
      now: () => now,
    })
    const failure = await rotation.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toEqual(
      isRefused ? expect.objectContaining({ code: 'KEYS_ENCRYPTION_IMPORTED' }) : undefined,
    )
    expect(done).toEqual(isRefused ? [] : ['apply'])
  },
)
