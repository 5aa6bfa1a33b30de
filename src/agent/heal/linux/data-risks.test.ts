import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  etcdDataDirectory,
  etcdInitializedFile,
  etcdUnit,
  etcdWalDirectory,
} from '../../../contract/etcd-restore.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { buildFile } from '../../../diff/testing/fixtures.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../../host/testing/temporary-host.ts'
import { findDataRisks, findEtcdDamage } from './data-risks.ts'
import { writeHostFile } from '../testing/heal-host.ts'

let host: TemporaryHost & AsyncDisposable
beforeEach(async () => {
  host = await createTemporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

function planWith(...members: readonly string[]): NodePlan {
  const bootstrapFile = buildFile(
    '/etc/hyperkube/etcd/bootstrap.env',
    `ETCD_INITIAL_CLUSTER=${members.join()}\nETCD_INITIAL_CLUSTER_STATE=new\n`,
  )
  const plan = buildPlanWithHost(runningComponent('etcd', '1', { stage: 'etcd', files: [bootstrapFile] }))
  return { ...plan, roles: ['control-plane'] }
}

/** Applies a plan with an etcd member and lets the member start. */
async function startMember(plan: NodePlan): Promise<NodePlan> {
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await writeHostFile(host, `${etcdWalDirectory}/0000000000000000-0000000000000000.wal`, 'x')
  expect(await findDataRisks(host, plan)).toEqual(new Map())
  return plan
}

test('a host without etcd has no data risk', async () => {
  expect(await findDataRisks(host, buildPlanWithHost())).toEqual(new Map())
})

test('a member that was never initialized may start without data', async () => {
  const plan = planWith('a=https://192.0.2.1:2380')
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  expect(await findDataRisks(host, plan)).toEqual(new Map())
  expect(await host.files.stat(etcdInitializedFile)).toBeUndefined()
})

test('a running member is marked as initialized, and a failed one is not', async () => {
  const plan = await startMember(planWith('a=https://192.0.2.1:2380'))
  expect(await host.files.stat(etcdInitializedFile)).toMatchObject({ kind: 'file' })
  await rm(host.toLocalPath(etcdInitializedFile))
  host.services.crash(etcdUnit)
  await findDataRisks(host, plan)
  expect(await host.files.stat(etcdInitializedFile)).toBeUndefined()
})

test.each([
  [etcdDataDirectory],
  [etcdWalDirectory],
  ['/var/lib/etcd'],
  [`${etcdWalDirectory}/0000000000000000-0000000000000000.wal`],
])('a member without %s has lost its data, and the hint depends on the other members', async (path) => {
  const plan = await startMember(planWith('a=https://192.0.2.1:2380', 'b=https://192.0.2.2:2380'))
  await rm(host.toLocalPath(path), { recursive: true })
  const risk = (await findDataRisks(host, plan)).get('etcd')
  expect(risk).toMatchObject({
    code: 'ETCD_DATA_LOST',
    hint: expect.stringContaining('hyperkube etcd rejoin a'),
  })
  const riskAlone = (await findDataRisks(host, planWith('a=https://192.0.2.1:2380'))).get('etcd')
  expect(riskAlone?.hint).toContain('hyperkube etcd snapshot restore')
})

test('an unreadable journal does not stop healing', async () => {
  const plan = await startMember(planWith('a=https://192.0.2.1:2380'))
  host.services.crash(etcdUnit)
  vi.spyOn(host.services, 'lines').mockRejectedValue(new Error('journalctl: Bad message'))
  expect(await findDataRisks(host, plan)).toEqual(new Map())
})

test('a crashed member that logs damaged data is a data risk', async () => {
  const plan = await startMember(planWith('a=https://192.0.2.1:2380'))
  host.services.written.set(etcdUnit, [
    '{"level":"fatal","msg":"failed to open WAL","error":"walpb: crc mismatch"}',
  ])
  expect(await findDataRisks(host, plan)).toEqual(new Map())
  host.services.crash(etcdUnit)
  expect((await findDataRisks(host, plan)).get('etcd')).toMatchObject({
    code: 'ETCD_DATA_DAMAGED',
    because: expect.stringContaining('its WAL has wrong checksums'),
  })
})

test('a member that is starting is no data risk, because it may still repair itself', async () => {
  const plan = await startMember(planWith('a=https://192.0.2.1:2380'))
  host.services.written.set(etcdUnit, ['snap: crc mismatch'])
  const state = { ...(await host.services.show(etcdUnit)), active: 'activating' }
  const findRisks = async (sub: string) => findDataRisks(host, plan, async () => ({ ...state, sub }))
  expect((await findRisks('start')).size).toBe(0)
  expect((await findRisks('auto-restart')).size).toBe(1)
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
])('the log line %s means damage', (line) => {
  expect(findEtcdDamage(['something', line, 'exit status 2'])).toContain(line)
})

test.each([
  ['{"level":"panic","msg":"failed to open database","error":"timeout"}'],
  ['{"level":"fatal","msg":"failed to save hard state and entries","error":"no space left on device"}'],
  ['the member has been permanently removed from the cluster'],
])('the log line %s does not mean damage', (line) => {
  expect(findEtcdDamage([line])).toBeUndefined()
})
