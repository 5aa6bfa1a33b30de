import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { apiAnswers, expectScreen, FaultScene, isActive, up } from '../support/fault-lab.ts'

/** What a person sees when one of three control planes, or two, do not answer. The tests stand in an order. */
let scene: FaultScene
let cp1: Host
let cp2: Host
let cp3: Host
/** For which every API server restarts. */
const changed = { 'spec.components.apiServer': { args: { 'max-requests-inflight': '500' } } }

beforeAll(async () => {
  scene = await FaultScene.open('three-faults', ['cp1', 'cp2', 'cp3'])
  cp1 = scene.host('cp1')
  cp2 = scene.host('cp2')
  cp3 = scene.host('cp3')
  await scene.describeCluster()
})
afterAll(async () => scene[Symbol.asyncDispose]())

test('one does not answer when the cluster is founded', async () => {
  expect((await scene.typist.hyperkube('lock')).code).toBe(0)
  expect((await scene.typist.hyperkube('init')).code).toBe(0)
  await cp3.setUnheard([scene.lab.gateway])
  await expectScreen(scene, 'founding-member-away', 1, await scene.typist.hyperkube(...up))
  await cp3.setUnheard([])
  const { code, text } = await scene.typist.hyperkube(...up)
  expect(code, text).toBe(0)
}, 600_000)

test('nobody hears of one any more: etcd does not restart', async () => {
  await cp3.setUnheard([scene.lab.gateway, cp1.address, cp2.address])
  await scene.describeCluster({ 'spec.components.etcd': { args: { 'heartbeat-interval': '200' } } })
  await expectScreen(scene, 'control-plane-away-etcd', 1, await scene.typist.hyperkube(...up))
})

test('all else goes on without it', async () => {
  await scene.describeCluster(changed)
  await expectScreen(scene, 'control-plane-away', 3, await scene.typist.hyperkube(...up))
}, 300_000)

test('a second one does not answer', async () => {
  await cp2.setUnheard([scene.lab.gateway])
  await expectScreen(scene, 'two-control-planes-away', 1, await scene.typist.hyperkube(...up))
  await cp2.setUnheard([])
})

test('it is brought along once it is back', async () => {
  await cp3.setUnheard([])
  await cp3.connect()
  await apiAnswers(cp3)
  for (const service of ['etcd', 'kube-controller-manager', 'kube-scheduler']) await isActive(cp3, service)
  await expectScreen(scene, 'control-plane-back', 0, await scene.typist.hyperkube(...up))
}, 300_000)
