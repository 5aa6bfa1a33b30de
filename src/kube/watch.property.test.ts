import { array, assert, asyncProperty, constantFrom, record } from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testServer } from '../kit/testing/https-test-server.ts'
import { kindOf } from './object.ts'
import { testBench } from './testing/kube-test-bench.ts'
import { type Deed, isSame, type Seen, seenOf, Told } from './testing/watch-recorder.ts'
import { faults, type Turn, TestWatchApi } from './testing/fake-watch-api.ts'
import { keyOf } from './object-store.ts'
import { Watch } from './watch.ts'

let authority: TestAuthority
const { clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const acts = array(
  record({ name: constantFrom('a', 'b', 'c', 'd', 'e'), act: constantFrom('put', 'put', 'remove') }),
  { maxLength: 4 },
)
const turns = array(record({ before: acts, during: acts, fault: constantFrom(...faults) }), {
  maxLength: 20,
})

/** Each turn takes a connection: as many runs as for other properties would take minutes. */
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 4)

/** What is wrong with what is told until the watch knows all that the API knows. */
async function wrongAfter(script: readonly Turn[]): Promise<string[]> {
  const api = new TestWatchApi(script)
  await using server = await testServer(authority, (asked) => {
    // So that there is something to tell at the end.
    if (api.turnsLeft === 0 && !api.objects.has('end')) api.put('end')
    return api.answer(asked)
  })
  using client = clientOf([server.url], { timing: { answer: 150, timeout: 200 } })
  const watch = new Watch(client, kindOf('v1', 'ConfigMap'), {
    select: seenOf,
    limit: 2,
    timing: { silence: 50, backoff: { first: 1, most: 4 } },
  })
  const told = new Told()
  for await (const change of watch.changes(AbortSignal.timeout(10_000))) {
    told.add(change)
    if (api.objects.has('end') && isSame(watch.current, there(api))) return told.wrong(deeds(api))
  }
  return [`it knows ${JSON.stringify([...watch.current])} of ${JSON.stringify([...there(api)])}`]
}

function there({ objects }: TestWatchApi): Map<string, Seen> {
  return new Map([...objects.values()].map((object) => [keyOf(object.metadata), seenOf(object)]))
}

function deeds({ log }: TestWatchApi): Deed[] {
  return log.map(({ type, object }) => ({
    type: type === 'DELETED' ? 'remove' : 'put',
    key: keyOf(object.metadata),
    ...seenOf(object),
  }))
}

test('whatever happens to connections, every change is seen, or a later one of the same object', async () => {
  await assert(
    asyncProperty(turns, async (script) => {
      expect(await wrongAfter(script)).toEqual([])
    }),
    // What hangs, hangs for seconds: smaller examples of it would take minutes.
    { numRuns, endOnFailure: true },
  )
})
