import { array, assert, asyncProperty, constantFrom, record } from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { startHttpsTestServer } from '../kit/testing/https-test-server.ts'
import { createUntypedKind } from './object.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'
import {
  type ApiChange,
  matchesApi,
  type RecordedObject,
  toRecordedObject,
  WatchRecorder,
} from './testing/watch-recorder.ts'
import { watchFaults, type ScriptedRequest, WatchScript } from './testing/watch-script.ts'
import { formatObjectKey } from './object-store.ts'
import { Watch } from './watch.ts'

let ca: TestCa
const { createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const acts = array(
  record({ name: constantFrom('a', 'b', 'c', 'd', 'e'), act: constantFrom('put', 'put', 'remove') }),
  { maxLength: 4 },
)
const scripts = array(record({ before: acts, during: acts, fault: constantFrom(...watchFaults) }), {
  maxLength: 20,
})

/** A quarter of the usual number of runs: each script entry needs a connection, so a run is slow. */
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 4)

/**
 * Runs a watch against the script until the watch knows all objects of the API. Returns the errors in the
 * recorded changes.
 */
async function findErrorsAfter(requests: readonly ScriptedRequest[]): Promise<string[]> {
  const script = new WatchScript(requests)
  await using server = await startHttpsTestServer(ca, (request) => {
    // Adds a last object, because the test ends only when the watch reports a change.
    if (script.requestsLeft === 0 && !script.has('end')) script.put('end')
    return script.api.respond(request)
  })
  using client = createClient([server.url], { timing: { responseMs: 150, timeout: 200 } })
  const watch = new Watch(client, createUntypedKind('v1', 'ConfigMap'), {
    select: toRecordedObject,
    limit: 2,
    timing: { idleTimeout: 50, backoff: { initial: 1, max: 4 } },
  })
  const recorder = new WatchRecorder()
  for await (const change of watch.changes(AbortSignal.timeout(10_000))) {
    recorder.add(change)
    if (script.has('end') && matchesApi(watch.current, readApi(script)))
      return recorder.findErrors(listApiChanges(script))
  }
  return [`it knows ${JSON.stringify([...watch.current])} of ${JSON.stringify([...readApi(script)])}`]
}

function readApi({ objects }: WatchScript): Map<string, RecordedObject> {
  return new Map(objects.map((object) => [formatObjectKey(object.metadata), toRecordedObject(object)]))
}

function listApiChanges({ api }: WatchScript): ApiChange[] {
  return api.log.map(({ type, object }) => ({
    type: type === 'DELETED' ? 'remove' : 'put',
    key: formatObjectKey(object.metadata),
    ...toRecordedObject(object),
  }))
}

test('through connection faults, a watch reports every change, or a later one of the same object', async () => {
  await assert(
    asyncProperty(scripts, async (script) => {
      expect(await findErrorsAfter(script)).toEqual([])
    }),
    // `endOnFailure` disables shrinking: an example that hangs takes seconds, so shrinking would take
    // minutes.
    { numRuns, endOnFailure: true },
  )
})
