import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HostHealth, ProbeHealth } from '../../../contract/health.ts'
import { componentOf } from '../../../diff/testing/fixtures.ts'
import { EtcdClient } from '../../../etcd/client.ts'
import { type FakeEtcd, fakeEtcd, type FakeMember } from '../../../etcd/testing/fake-etcd.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { databaseOf } from '../../../snapshot/testing/fixtures.ts'
import { programOf } from '../../apply/testing/fixtures.ts'
import type { Command } from '../../host/command.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { hostWithAgent } from '../testing/fake-handlers.ts'
import type { HeldClaim } from '../../operator-lock/operator-lock.ts'
import { RunLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import { defragmentEtcd } from './defragment-etcd.ts'
import type { OwnMember } from '../local-etcd.ts'
import { etcdutlProof } from './verify-snapshot.ts'
import { type SnapshotShelf, snapshotShelf } from '../local-snapshots.ts'
import { takeSnapshot } from './take-snapshot.ts'

let authority: TestAuthority
let stack: AsyncDisposableStack
let host: TemporaryHost
let runs: Runs
let shelf: SnapshotShelf
let held: HeldClaim | undefined
beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  host = stack.use(await hostWithAgent())
  runs = new Runs('n1', new RunLog(host.place('/var/lib/hyperkube/agent/runs')), () => host.clock.now())
  stack.defer(async () => runs.stop())
  const root = await mkdtemp(join(tmpdir(), 'snapshots-'))
  stack.defer(async () => rm(root, { recursive: true }))
  shelf = snapshotShelf(join(root, 'kept'))
  held = undefined
})
afterEach(async () => stack.disposeAsync())

const never = new AbortController().signal
const defragment = { type: 'defragment-etcd' } as const

async function memberOf(...members: readonly FakeMember[]): Promise<{ etcd: FakeEtcd; own: OwnMember }> {
  const etcd = await fakeEtcd(authority, stack, ...members)
  const endpoint = etcd.servers[0]?.url ?? ''
  const { certificate, client: credentials } = authority
  const client = stack.use(
    new EtcdClient({ endpoints: [endpoint], authority: certificate, credentials, signal: never }),
  )
  const component = componentOf({ name: 'etcd', artifacts: [programOf('etcd', '3.7.3')] })
  return { etcd, own: { client, endpoint, component } }
}

/** Answers with these probes, one look after the other; the last one for ever. */
function healerOf(...looks: readonly Partial<ProbeHealth>[]) {
  const rest = [...looks]
  let asked = 0
  return {
    asked: () => asked,
    async health(): Promise<HostHealth> {
      asked += 1
      const one = rest.length > 1 ? rest.shift() : rest[0]
      const probe = { component: 'etcd', probe: 'livez', scope: 'local', state: 'well', since: '' } as const
      return {
        ...{ at: '', ladder: 'usual', budget: { spent: 0, most: 1, within: 1 } },
        ...{ components: [], probes: [{ ...probe, ...one }], actions: [] },
      }
    },
  }
}

function defragmentWith(own: OwnMember | undefined, healer = healerOf({})) {
  return defragmentEtcd({
    ...{ host, runs, healer, member: async () => own },
    work: { restoring: async () => undefined },
    claims: {
      get held() {
        return held
      },
    },
  })
}

test('a member gives back space in a run, which ends when probes have seen it again', async () => {
  const { etcd, own } = await memberOf({ id: 'a', database: databaseOf(4000) }, { id: 'b' }, { id: 'c' })
  const healer = healerOf({ state: 'failing' }, { state: 'failing', scope: 'local' }, { state: 'shaky' })
  expect(await defragmentWith(own, healer)(defragment, never)).toEqual(['2 MiB before, 2 MiB after'])
  expect(etcd.changes).toEqual(['defragment {} at a'])
  expect(healer.asked()).toBe(3)
})

test('it is not done where the others would not be enough, or somebody else has come', async () => {
  const { etcd, own } = await memberOf({ id: 'a' }, { id: 'b', away: true })
  await expect(defragmentWith(own)(defragment, never)).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
  held = { holder: 'ana', generation: 2, heard: host.clock.time, released: false }
  const { own: other } = await memberOf({ id: 'a' })
  await expect(defragmentWith(other)(defragment, never)).rejects.toMatchObject({ code: 'HOST_TAKEN' })
  await expect(defragmentWith(undefined)(defragment, never)).rejects.toMatchObject({ code: 'HOST_CANNOT' })
  expect(etcd.changes).toEqual([])
})

/** Etcd's own program, as far as it is asked. */
function etcdutl(answer: (file: string) => Promise<string>, calls: (readonly string[])[] = []): Command {
  return async (argv) => {
    calls.push(argv)
    return { code: 0, stdout: await answer(argv[3] ?? ''), stderr: '' }
  }
}
const wellDone = async (): Promise<string> =>
  JSON.stringify({ hash: 1, revision: 7, totalKey: 3, totalSize: 1 })

function snapshotWith(own: OwnMember | undefined, command: Command = etcdutl(wellDone)) {
  return takeSnapshot({ member: async () => own, shelf, prove: etcdutlProof(command) })
}

function ask(name: string, ...remove: string[]) {
  return { type: 'take-snapshot', name, remove } as const
}

async function names(): Promise<string[]> {
  return (await shelf.list()).map(({ name }) => name)
}

test('a snapshot is what etcd gave, looked through by etcd’s own program; then others go', async () => {
  const database = databaseOf(8)
  const { own } = await memberOf({ id: 'a', database })
  const calls: (readonly string[])[] = []
  const deed = snapshotWith(own, etcdutl(wellDone, calls))
  expect(await deed(ask('one.db'), never)).toEqual([`${shelf.directory}/one.db has 3 keys as of revision 7`])
  const file = join(shelf.directory, '.one.db.part')
  expect(calls).toEqual([
    ['/opt/hyperkube/etcd-3.7.3/etcdutl', 'snapshot', 'status', file, '--write-out=json'],
  ])
  expect((await readFile(join(shelf.directory, 'one.db'))).equals(database)).toBe(true)
  const lines = await deed(ask('two.db', 'one.db', '../one.db', 'two.db', 'never.db'), never)
  expect(lines.slice(1)).toEqual(['removed one.db'])
  expect(await names()).toEqual(['two.db'])
  expect(await deed(ask('two.db', 'two.db'), never)).toEqual(['two.db was there already'])
})

test.each<[string, Buffer, Command, string]>([
  ['that did not come as a whole', databaseOf(8).subarray(0, 4000), etcdutl(wellDone), 'SNAPSHOT_NOT_WHOLE'],
  [
    'that etcdutl does not take',
    databaseOf(8),
    etcdutl(async () => Promise.reject(new HyperkubeError('COMMAND_FAILED', 'integrity check failed'))),
    'SNAPSHOT_NOT_GOOD',
  ],
  [
    'that has less than was there',
    databaseOf(8),
    etcdutl(async () => JSON.stringify({ revision: 6, totalKey: 3 })),
    'SNAPSHOT_NOT_GOOD',
  ],
])('one %s is not kept, and nothing goes for it', async (_what, database, command, code) => {
  const { own } = await memberOf({ id: 'a', database: databaseOf(8) })
  await snapshotWith(own)(ask('former.db'), never)
  const { own: other } = await memberOf({ id: 'a', database })
  await expect(snapshotWith(other, command)(ask('new.db', 'former.db'), never)).rejects.toMatchObject({
    code,
  })
  expect(await names()).toEqual(['former.db'])
})

test('a host without a member says so', async () => {
  await expect(snapshotWith(undefined)(ask('a.db'), never)).rejects.toMatchObject({ code: 'HOST_CANNOT' })
})
