import { expect, test } from 'vitest'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import { createUpHarness, sampleOp } from './testing/up-harness.ts'

const { run } = await createUpHarness()

/** Counts what `up` sends to a control plane and to `workers` workers, by type of request. */
async function countRequests(workers: number): Promise<Readonly<Record<string, number>>> {
  const hosts = Array.from(
    { length: workers },
    (_, index) => `{ name: w${index}, address: 10.1.0.${index}, roles: [worker] }`,
  )
  const target = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }', ...hosts)
  const { result, types } = await run({ target, ops: [sampleOp], yes: true })
  expect(result).toMatchObject({ code: 0, result: { outcome: 'done' } })
  return Object.fromEntries([...Map.groupBy(types, (type) => type)].map(([type, all]) => [type, all.length]))
}

test('the number of requests of up grows linearly with the number of hosts', async () => {
  const [small, medium, large] = [await countRequests(5), await countRequests(10), await countRequests(20)]
  expect(Object.keys(small).toSorted()).toEqual(
    ['apply', 'attach', 'certificate-requests', 'claim', 'diff', 'facts', 'hello', 'release'].toSorted(),
  )
  for (const [type, count] of Object.entries(small)) {
    const [first, second] = [(medium[type] ?? 0) - count, (large[type] ?? 0) - (medium[type] ?? 0)]
    expect({ type, second }).toEqual({ type, second: 2 * first })
  }
})
