import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { etcdBorn, etcdData, etcdLog, etcdUnit } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { fileOf } from '../../diff/testing/fixtures.ts'
import { applied, hostPlan, publish, running } from '../apply/testing/fixtures.ts'
import { type TemporaryHost, temporaryHost } from '../host/testing/temporary-host.ts'
import { dangersOf } from './data-risks.ts'
import { damageIn } from './etcd-damage.ts'
import { putOn } from './testing/heal-host.ts'

let host: TemporaryHost & AsyncDisposable
beforeEach(async () => {
  host = await temporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

function planWith(...members: readonly string[]): NodePlan {
  const birth = fileOf(
    '/etc/hyperkube/etcd/birth.env',
    `ETCD_INITIAL_CLUSTER=${members.join()}\nETCD_INITIAL_CLUSTER_STATE=new\n`,
  )
  const plan = hostPlan(running('etcd', '1', { stage: 'etcd', files: [birth] }))
  return { ...plan, roles: ['control-plane'] }
}

/** A member that has come up. */
async function born(plan: NodePlan): Promise<NodePlan> {
  publish(host, plan)
  await applied(host, plan)
  await putOn(host, `${etcdLog}/0000000000000000-0000000000000000.wal`, 'x')
  expect(await dangersOf(host, plan)).toEqual(new Map())
  return plan
}

test('a host without etcd has nothing to lose', async () => {
  expect(await dangersOf(host, hostPlan())).toEqual(new Map())
})

test('a member that never was may start with nothing', async () => {
  const plan = planWith('a=https://192.0.2.1:2380')
  publish(host, plan)
  await applied(host, plan)
  expect(await dangersOf(host, plan)).toEqual(new Map())
  expect(await host.files.stat(etcdBorn)).toBeUndefined()
})

test('one that is seen to live is born, and one that fails to is not', async () => {
  const plan = await born(planWith('a=https://192.0.2.1:2380'))
  expect(await host.files.stat(etcdBorn)).toMatchObject({ kind: 'file' })
  await rm(host.place(etcdBorn))
  host.systemd.crash(etcdUnit)
  await dangersOf(host, plan)
  expect(await host.files.stat(etcdBorn)).toBeUndefined()
})

test.each([[etcdData], [etcdLog], ['/var/lib/etcd'], [`${etcdLog}/0000000000000000-0000000000000000.wal`]])(
  'without %s it has lost its data, and what to type depends on who else knows it',
  async (path) => {
    const plan = await born(planWith('a=https://192.0.2.1:2380', 'b=https://192.0.2.2:2380'))
    await rm(host.place(path), { recursive: true })
    const danger = (await dangersOf(host, plan)).get('etcd')
    expect(danger).toMatchObject({
      code: 'ETCD_DATA_LOST',
      hint: expect.stringContaining('hyperkube etcd rejoin a'),
    })
    const alone = (await dangersOf(host, planWith('a=https://192.0.2.1:2380'))).get('etcd')
    expect(alone?.hint).toContain('hyperkube etcd snapshot restore')
  },
)

test('one that does not start and says that its data is damaged is left alone', async () => {
  const plan = await born(planWith('a=https://192.0.2.1:2380'))
  host.systemd.written.set(etcdUnit, [
    '{"level":"fatal","msg":"failed to open WAL","error":"walpb: crc mismatch"}',
  ])
  expect(await dangersOf(host, plan)).toEqual(new Map())
  host.systemd.crash(etcdUnit)
  expect((await dangersOf(host, plan)).get('etcd')).toMatchObject({
    code: 'ETCD_DATA_DAMAGED',
    because: expect.stringContaining('its log does not match its checksums'),
  })
})

test('one that is just starting may still mend itself', async () => {
  const plan = await born(planWith('a=https://192.0.2.1:2380'))
  host.systemd.written.set(etcdUnit, ['snap: crc mismatch'])
  const state = { ...(await host.systemd.show(etcdUnit)), active: 'activating' }
  const asked = async (sub: string) => dangersOf(host, plan, async () => ({ ...state, sub }))
  expect((await asked('start')).size).toBe(0)
  expect((await asked('auto-restart')).size).toBe(1)
})

test.each([
  ['panic: freepages: failed to get all reachable pages (page 12: multiple references)'],
  ['{"level":"panic","msg":"failed to open database","path":"x","error":"invalid database"}'],
  ['panic: assertion failed: Page expected to be: 5, but self identifies as 0'],
  ['{"level":"fatal","msg":"failed to read WAL, cannot be repaired","error":"unexpected EOF"}'],
  [
    '{"level":"fatal","msg":"discovery failed","error":"8e9e05c52164694d found data inconsistency with peers"}',
  ],
  ['unexpected fault address 0x7f2c'],
])('damage: %s', (line) => {
  expect(damageIn(['something', line, 'exit status 2'])).toContain(line)
})

test.each([
  ['{"level":"panic","msg":"failed to open database","error":"timeout"}'],
  ['{"level":"fatal","msg":"failed to save hard state and entries","error":"no space left on device"}'],
  ['the member has been permanently removed from the cluster'],
])('no damage: %s', (line) => {
  expect(damageIn([line])).toBeUndefined()
})
