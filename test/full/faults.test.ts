import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import {
  waitForApi,
  expectGoldenOutput,
  FaultLab,
  waitForActiveService,
  upArgs,
} from '../support/fault-lab.ts'

/**
 * Lab in which one or two of three control planes are unreachable. The tests compare the output that an
 * operator gets with golden files, and depend on their order.
 */
let faultLab: FaultLab
let cp1: Host
let cp2: Host
let cp3: Host
/** Changes to cluster.yml that restart every API server. */
const apiServerChange = { 'spec.components.apiServer': { args: { 'max-requests-inflight': '500' } } }

beforeAll(async () => {
  faultLab = await FaultLab.open('three-faults', ['cp1', 'cp2', 'cp3'])
  cp1 = faultLab.getHost('cp1')
  cp2 = faultLab.getHost('cp2')
  cp3 = faultLab.getHost('cp3')
  await faultLab.writeClusterYaml()
})
afterAll(async () => faultLab[Symbol.asyncDispose]())

test('one does not answer when the cluster is founded', async () => {
  expect((await faultLab.terminal.hyperkube('lock')).code).toBe(0)
  expect((await faultLab.terminal.hyperkube('init')).code).toBe(0)
  await cp3.setDroppedSources([faultLab.lab.gateway])
  await expectGoldenOutput(
    faultLab,
    'bootstrap-member-unreachable',
    1,
    await faultLab.terminal.hyperkube(...upArgs),
  )
  await cp3.setDroppedSources([])
  const { code, text } = await faultLab.terminal.hyperkube(...upArgs)
  expect(code, text).toBe(0)
}, 600_000)

test('one is unreachable for all hosts: etcd does not restart', async () => {
  await cp3.setDroppedSources([faultLab.lab.gateway, cp1.address, cp2.address])
  await faultLab.writeClusterYaml({ 'spec.components.etcd': { args: { 'heartbeat-interval': '200' } } })
  await expectGoldenOutput(
    faultLab,
    'control-plane-unreachable-etcd',
    1,
    await faultLab.terminal.hyperkube(...upArgs),
  )
})

test('all else goes on without it', async () => {
  await faultLab.writeClusterYaml(apiServerChange)
  await expectGoldenOutput(
    faultLab,
    'control-plane-unreachable',
    3,
    await faultLab.terminal.hyperkube(...upArgs),
  )
}, 300_000)

test('a second one does not answer', async () => {
  await cp2.setDroppedSources([faultLab.lab.gateway])
  await expectGoldenOutput(
    faultLab,
    'two-control-planes-unreachable',
    1,
    await faultLab.terminal.hyperkube(...upArgs),
  )
  await cp2.setDroppedSources([])
})

test('it is brought along once it is back', async () => {
  await cp3.setDroppedSources([])
  await cp3.connect()
  await waitForApi(cp3)
  for (const service of ['etcd', 'kube-controller-manager', 'kube-scheduler'])
    await waitForActiveService(cp3, service)
  await expectGoldenOutput(
    faultLab,
    'control-plane-reachable-again',
    0,
    await faultLab.terminal.hyperkube(...upArgs),
  )
}, 300_000)
