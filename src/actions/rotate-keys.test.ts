import { expect, test } from 'vitest'
import { createIdentity } from '../identity/identity.ts'
import { hasCode } from '../kit/errors.ts'
import { rotateKeys } from './rotate-keys.ts'

const now = new Date('2026-11-15T00:00:00Z')

test.each([
  [['encryption'] as const, true],
  [['kubernetes'] as const, false],
])(
  'of %j, the encryption key of another tool is refused before anything changes: %s',
  async (keys, isRefused) => {
    const created = await createIdentity('shop', now)
    const adoption = {
      from: 'rke1' as const,
      observed: now.toISOString(),
      committed: now.toISOString(),
      encryptionConfiguration: created.encryptionKey,
    }
    const identity = { ...created, adoption }
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
    const wasRefused = await rotation.then(
      () => false,
      (error: unknown) => hasCode(error, 'KEYS_ENCRYPTION_IMPORTED'),
    )
    expect(wasRefused).toBe(isRefused)
    expect(done).toEqual(isRefused ? [] : ['apply'])
  },
)
