import { readFile } from 'node:fs/promises'
import { assert, asyncProperty, pre } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { byteMutation, mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { checkSnapshot } from './open.ts'
import { saveSnapshot } from './save.ts'
import {
  buildDatabase,
  buildMemberObservation,
  createSnapshotDirectory,
  snapshotSpec,
  splitIntoPieces,
  testTrust,
} from './testing/fixtures.ts'

async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

test('a snapshot with any mutated byte is refused', { timeout: 120_000 }, async () => {
  await using directory = await createSnapshotDirectory()
  await saveSnapshot(directory.at('shop.snapshot'), snapshotSpec, {
    client: {
      countKeys: async () => ({ revision: 1234, keys: 321 }),
      database: () => splitIntoPieces(buildDatabase(5), 1000),
    },
    observed: buildMemberObservation({ id: 'a', isLeader: true }),
    progress: () => undefined,
    signal: new AbortController().signal,
  })
  const whole = await readFile(directory.at('shop.snapshot'))
  const outcomes = new Map<string, number>()
  await assert(
    asyncProperty(byteMutation, async (mutate) => {
      const bytes = mutate(whole)
      pre(!bytes.equals(whole))
      const outcome = await checkSnapshot(chunked(bytes), testTrust).then(
        () => 'accepted',
        (error: unknown) => (error instanceof HyperkubeError ? error.code : String(error)),
      )
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      expect(outcome).toMatch(/^SNAPSHOT_(CORRUPT|TRUNCATED)$/)
    }),
    mutationRuns,
  )
  printMutations('snapshot', outcomes)
})
