import { readFile } from 'node:fs/promises'
import { assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { byteMutation, mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { formatLock, readLock } from './lock.ts'

test('a mutated cluster.lock is a valid lock, or refused with a code', { timeout: 120_000 }, async () => {
  const bytes = await readFile(new URL('testdata/v1.lock', import.meta.url))
  const outcomes = new Map<string, number>()
  assert(
    property(byteMutation, (mutate) => {
      const outcome = readOutcome(mutate(bytes).toString('utf8'))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      expect(outcome).toMatch(/^(read|LOCK_NOT_READ)$/)
    }),
    mutationRuns,
  )
  printMutations('cluster.lock', outcomes)
  expect(outcomes.size).toBe(2)
})

test.each([
  ['deeply nested lists', '['.repeat(200_000)],
  ['deeply nested maps', '{a: '.repeat(50_000)],
  ['deeply nested blocks', Array.from({ length: 1200 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
  ['aliases', `a: &a [x]\n${'b: [*a, *a, *a]\n'.repeat(1000)}`],
  ['many keys', Array.from({ length: 50_000 }, (_, index) => `k${index}: 1\n`).join('')],
  ['many lists', `a: [${'[],'.repeat(200_000)}]`],
])('a file of %s is refused as a lock within 5 s of CPU time', (_, text) => {
  const start = process.cpuUsage()
  expect(readOutcome(text)).toBe('LOCK_NOT_READ')
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5)
})

/** A lock that was read must also be written and read again without a change. */
function readOutcome(text: string): string {
  try {
    const lock = readLock('cluster.lock', text)
    expect(formatLock(readLock('cluster.lock', formatLock(lock)))).toBe(formatLock(lock))
    return 'read'
  } catch (error) {
    return error instanceof HyperkubeError ? error.code : String(error)
  }
}
