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

test('up reports an unreachable control plane during bootstrap', async () => {
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

test('up does not restart etcd while one control plane is unreachable', async () => {
  await cp3.setDroppedSources([faultLab.lab.gateway, cp1.address, cp2.address])
  await faultLab.writeClusterYaml({ 'spec.components.etcd': { args: { 'heartbeat-interval': '200' } } })
  await expectGoldenOutput(
    faultLab,
    'control-plane-unreachable-etcd',
    1,
    await faultLab.terminal.hyperkube(...upArgs),
  )
})

test('up changes the other hosts while one control plane is unreachable', async () => {
  await faultLab.writeClusterYaml(apiServerChange)
  await expectGoldenOutput(
    faultLab,
    'control-plane-unreachable',
    3,
    await faultLab.terminal.hyperkube(...upArgs),
  )
}, 300_000)

test('up reports two unreachable control planes', async () => {
  await cp2.setDroppedSources([faultLab.lab.gateway])
  await expectGoldenOutput(
    faultLab,
    'two-control-planes-unreachable',
    1,
    await faultLab.terminal.hyperkube(...upArgs),
  )
  await cp2.setDroppedSources([])
})

test('up updates the control plane after it is reachable again', async () => {
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
