import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HostHealth, ProbeHealth } from '../../../contract/health.ts'
import { buildComponent } from '../../../diff/testing/fixtures.ts'
import { EtcdClient } from '../../../etcd/client.ts'
import { type FakeEtcd, fakeEtcd, type FakeMember } from '../../../etcd/testing/fake-etcd.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { buildDatabase } from '../../../snapshot/testing/fixtures.ts'
import { buildProgram } from '../../apply/testing/fixtures.ts'
import type { RunCommand } from '../../host/command.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import type { HeldOperatorLock } from '../../operator-lock/operator-lock.ts'
import { RunEventLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import type { LocalEtcdMember } from '../local-etcd.ts'
import { type LocalSnapshots, openLocalSnapshots } from '../local-snapshots.ts'
import { createHostWithAgent } from '../testing/fake-handlers.ts'
import { createDefragmentHandler } from './defragment-etcd.ts'
import { createEtcdutlVerifier, createTakeSnapshotHandler } from './take-snapshot.ts'

let ca: TestCa
let stack: AsyncDisposableStack
let host: TemporaryHost
let runs: Runs
let snapshots: LocalSnapshots
let heldLock: HeldOperatorLock | undefined
beforeAll(async () => {
  ca = await createTestCa()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  host = stack.use(await createHostWithAgent())
  runs = new Runs('n1', new RunEventLog(host.toLocalPath('/var/lib/hyperkube/agent/runs')), () =>
    host.clock.now(),
  )
  stack.defer(async () => runs.stop())
  const root = await mkdtemp(join(tmpdir(), 'snapshots-'))
  stack.defer(async () => rm(root, { recursive: true }))
  snapshots = openLocalSnapshots(join(root, 'kept'))
  heldLock = undefined
})
afterEach(async () => stack.disposeAsync())

const never = new AbortController().signal
const defragment = { type: 'defragment-etcd' } as const

async function startMember(
  ...members: readonly FakeMember[]
): Promise<{ etcd: FakeEtcd; local: LocalEtcdMember }> {
  const etcd = await fakeEtcd(ca, stack, ...members)
  const endpoint = etcd.servers[0]?.url ?? ''
  const { certificate, client: credentials } = ca
  const client = stack.use(
    new EtcdClient({ endpoints: [endpoint], ca: certificate, credentials, signal: never }),
  )
  const component = buildComponent({ name: 'etcd', artifacts: [buildProgram('etcd', '3.7.3')] })
  return { etcd, local: { client, endpoint, component } }
}

/** Creates a healer that returns these probe results, one per call, and repeats the last one. */
function createFakeHealer(...results: readonly Partial<ProbeHealth>[]) {
  const rest = [...results]
  let callCount = 0
  return {
    callCount: () => callCount,
    async health(): Promise<HostHealth> {
      callCount += 1
      const one = rest.length > 1 ? rest.shift() : rest[0]
      const probe = {
        component: 'etcd',
        probe: 'livez',
        scope: 'local',
        state: 'healthy',
        since: '',
      } as const
      return {
        ...{ at: '', healPolicy: 'default', budget: { used: 0, max: 1, windowMs: 1 } },
        ...{ components: [], probes: [{ ...probe, ...one }], actions: [] },
      }
    },
  }
}

function defragmentWith(local: LocalEtcdMember | undefined, healer = createFakeHealer({})) {
  return createDefragmentHandler({
    ...{ host, runs, healer, member: async () => local },
    work: { activeRestore: async () => undefined },
    claims: {
      get held() {
        return heldLock
      },
    },
  })
}

test('a member is defragmented in a run, which ends when its probes no longer fail', async () => {
  const { etcd, local } = await startMember(
    { id: 'a', database: buildDatabase(4000) },
    { id: 'b' },
    { id: 'c' },
  )
  const healer = createFakeHealer(
    { state: 'unhealthy' },
    { state: 'unhealthy', scope: 'local' },
    { state: 'degraded' },
  )
  expect(await defragmentWith(local, healer)(defragment, never)).toEqual(['2 MiB before, 2 MiB after'])
  expect(etcd.changes).toEqual(['defragment {} at a'])
  expect(healer.callCount()).toBe(3)
})

test('defragmentation is refused without quorum, under an operator lock, or without a member', async () => {
  const { etcd, local } = await startMember({ id: 'a' }, { id: 'b', unreachable: true })
  await expect(defragmentWith(local)(defragment, never)).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
  heldLock = { holder: 'ana', generation: 2, lastHeartbeat: host.clock.time, released: false }
  const { local: other } = await startMember({ id: 'a' })
  await expect(defragmentWith(other)(defragment, never)).rejects.toMatchObject({ code: 'HOST_BUSY' })
  await expect(defragmentWith(undefined)(defragment, never)).rejects.toMatchObject({
    code: 'HOST_UNSUPPORTED',
  })
  expect(etcd.changes).toEqual([])
})

function createFakeEtcdutl(
  respond: (file: string) => Promise<string>,
  calls: (readonly string[])[] = [],
): RunCommand {
  return async (argv) => {
    calls.push(argv)
    return { code: 0, stdout: await respond(argv[3] ?? ''), stderr: '' }
  }
}
const printValidStatus = async (): Promise<string> =>
  JSON.stringify({ hash: 1, revision: 7, totalKey: 3, totalSize: 1 })

function snapshotWith(
  local: LocalEtcdMember | undefined,
  command: RunCommand = createFakeEtcdutl(printValidStatus),
) {
  return createTakeSnapshotHandler({
    member: async () => local,
    snapshots,
    verify: createEtcdutlVerifier(command),
  })
}

function buildAction(name: string, ...remove: string[]) {
  return { type: 'take-snapshot', name, remove } as const
}

async function listNames(): Promise<string[]> {
  return (await snapshots.list()).map(({ name }) => name)
}

test('a snapshot is saved after etcdutl has verified it, and expired snapshots are removed', async () => {
  const database = buildDatabase(8)
  const { local } = await startMember({ id: 'a', database })
  const calls: (readonly string[])[] = []
  const handler = snapshotWith(local, createFakeEtcdutl(printValidStatus, calls))
  expect(await handler(buildAction('one.db'), never)).toEqual([
    `${snapshots.directory}/one.db has 3 keys at revision 7`,
  ])
  const file = join(snapshots.directory, '.one.db.part')
  expect(calls).toEqual([
    ['/opt/hyperkube/etcd-3.7.3/etcdutl', 'snapshot', 'status', file, '--write-out=json'],
  ])
  expect((await readFile(join(snapshots.directory, 'one.db'))).equals(database)).toBe(true)
  const lines = await handler(buildAction('two.db', 'one.db', '../one.db', 'two.db', 'never.db'), never)
  expect(lines.slice(1)).toEqual(['removed one.db'])
  expect(await listNames()).toEqual(['two.db'])
  expect(await handler(buildAction('two.db', 'two.db'), never)).toEqual(['two.db already exists'])
})

test.each<[string, Buffer, RunCommand, string]>([
  [
    'that is incomplete',
    buildDatabase(8).subarray(0, 4000),
    createFakeEtcdutl(printValidStatus),
    'SNAPSHOT_NOT_WHOLE',
  ],
  [
    'that etcdutl rejects',
    buildDatabase(8),
    createFakeEtcdutl(async () =>
      Promise.reject(new HyperkubeError('COMMAND_FAILED', 'integrity check failed')),
    ),
    'SNAPSHOT_INVALID',
  ],
  [
    'with a lower revision than the member',
    buildDatabase(8),
    createFakeEtcdutl(async () => JSON.stringify({ revision: 6, totalKey: 3 })),
    'SNAPSHOT_INVALID',
  ],
])('a snapshot %s is not kept, and no other snapshot is removed', async (_what, database, command, code) => {
  const { local } = await startMember({ id: 'a', database: buildDatabase(8) })
  await snapshotWith(local)(buildAction('previous.db'), never)
  const { local: other } = await startMember({ id: 'a', database })
  await expect(
    snapshotWith(other, command)(buildAction('new.db', 'previous.db'), never),
  ).rejects.toMatchObject({
    code,
  })
  expect(await listNames()).toEqual(['previous.db'])
})

test('a snapshot of a host without a member is refused', async () => {
  await expect(snapshotWith(undefined)(buildAction('a.db'), never)).rejects.toMatchObject({
    code: 'HOST_UNSUPPORTED',
  })
})
