import { expect, test } from 'vitest'
import { createIdentity, type Identity } from '../identity/identity.ts'
import { advanceReplacement } from '../identity/replace-key.ts'
import { secretFiles } from '../identity/secret-files.ts'
import { hasCode } from '../kit/errors.ts'
import { rotateKeys } from './rotate-keys.ts'

const now = new Date('2026-11-15T00:00:00Z')

async function createAdoptedIdentity(): Promise<Identity> {
  const created = await createIdentity('shop', now)
  const adoption = {
    from: 'rke1' as const,
    observed: now.toISOString(),
    committed: now.toISOString(),
    encryptionConfiguration: created.encryptionKey,
  }
  return { ...created, adoption }
}

test.each([
  [['encryption'] as const, true],
  [['kubernetes'] as const, false],
])(
  'of %j, the encryption key of another tool is refused before anything changes: %s',
  async (keys, isRefused) => {
    const identity = await createAdoptedIdentity()
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

test('a rotation of the encryption key that 0.1.0 started needs no end, and the refusal says so', async () => {
  const identity = await createAdoptedIdentity()
  const started = await advanceReplacement(identity, 'encryption', now)
  const rotation = rotateKeys({
    keys: ['encryption'],
    load: async () => started,
    save: async () => undefined,
    applyIdentity: async () => 'ok',
    finishPhase: async () => 'ok',
    reportPhases: () => undefined,
    dryRun: false,
    now: () => now,
  })
  await expect(rotation).rejects.toMatchObject({
    code: 'KEYS_ENCRYPTION_IMPORTED',
    hint: expect.stringContaining('ignore the rotation that an earlier release started: it has no effect'),
  })
  // The claim of the hint: API servers get the same configuration with and without the started rotation.
  const readConfiguration = (one: Identity) => secretFiles(one).get('encryption-configuration')?.reveal()
  expect(readConfiguration(started)).toEqual(readConfiguration(identity))
})
