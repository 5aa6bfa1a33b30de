import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { kubeFlannel, renderFlannelManifest, renderKubeProxyManifest } from '../support/own-network.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import {
  expectNodesReady,
  expectNothingToReport,
  expectPodsReachEachOther,
  expectResetLeavesNothing,
  expectServiceReachable,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

const kubernetes = 'v1.37.1'
/** Addon that installs flannel and kube-proxy as DaemonSets. */
const addon = 'own-network'

const clusterNow = setUpCluster('own-network', '1+1', kubernetes.slice(1), {
  beforeLock: async ({ directory, edit }) => {
    await writeFile(join(directory, 'flannel.yml'), renderFlannelManifest())
    await writeFile(join(directory, 'kube-proxy.yml'), renderKubeProxyManifest(kubernetes))
    await edit((document) => {
      const mirror = String(document.getIn(['spec', 'artifacts', 'mirror']))
      document.addIn(['spec', 'registries'], { host: 'ghcr.io', mirrors: [mirror] })
      document.setIn(['spec', 'network'], { plugin: 'none', addon, kubeProxy: 'none' })
      document.setIn(['spec', 'addons'], [{ name: addon, files: ['kube-proxy.yml', 'flannel.yml'] }])
    })
  },
})
let pods: ProbePod[]

beforeAll(async () => {
  pods = await startPodOnEachNode(clusterNow())
}, 300_000)

test('up waits for the network of the addon, and its smoke test passes', async () => {
  const { firstUp, hosts } = clusterNow()
  await expectNodesReady(clusterNow(), kubernetes)
  const steps = firstUp.stderr.split('\n').filter((line) => /network|smoke test/.test(line))
  process.stderr.write(`${steps.join('\n')}\n`)
  expect(firstUp.stderr).toContain(`objects of the network addon ${addon}`)
  expect(firstUp.stderr).toContain('smoke test of pods and services on every node')
  for (const host of hosts) {
    const { stdout } = await host.script('systemctl list-unit-files --no-legend --plain | cut -d" " -f1')
    for (const unit of ['flanneld.service', 'kube-proxy.service', 'kube-router.service'])
      expect(stdout.split('\n'), host.name).not.toContain(unit)
  }
})

test('pods reach each other and a Service', async () => {
  await expectPodsReachEachOther(clusterNow(), pods)
  await expectServiceReachable(clusterNow(), pods)
})

test('a second up has nothing to do, and status and doctor have nothing to report', async () => {
  const { operator } = clusterNow()
  await expectNothingToReport(clusterNow())
  expect((await operator.must(0, 'up', '--yes')).stderr).not.toContain('smoke test')
  const status = await operator.must(0, 'status', '-o', 'wide')
  expect(status.stdout).toContain(addon)
  expect(status.stdout).not.toMatch(/flanneld|kube-proxy|kube-router/)
  const { stdout } = await operator.must(0, 'doctor')
  process.stderr.write(`doctor: ${stdout}`)
})

test('doctor names the network addon as the cause if its pods fail on a node', async () => {
  const { directory, hosts, operator } = clusterNow()
  const worker = hosts.find(({ name }) => name === 'w1')
  if (worker === undefined) throw new Error('there is no w1')
  // Pods that run do not read a changed configuration, so this succeeds.
  await writeFile(join(directory, 'flannel.yml'), renderFlannelManifest({}))
  await operator.must(0, 'up', '--yes')
  await worker.script('rm -f /run/flannel/subnet.env /etc/cni/net.d/10-flannel.conflist')
  await deletePodsOf('w1')
  const { stdout } = await pollUntil(
    'doctor to explain the node',
    async () => {
      const result = await operator.hyperkube('doctor', '-o', 'wide')
      return result.code === 1 && result.stdout.includes('NODE_NOT_READY') && result
    },
    { timeoutMs: 180_000, intervalMs: 2000 },
  )
  process.stderr.write(stdout)
  expect(stdout).toMatch(
    /^error ADDON_NOT_READY own-network: the addon of the pod network is not ready: DaemonSet \S+ has 1 of 2 pods ready/,
  )
  expect(stdout).toContain(`kubectl -n ${kubeFlannel} get pods -o wide`)
  expect(stdout).not.toContain('logs flanneld')
  expect((await operator.hyperkube('status')).code).toBe(1)
})

test('up restores the addon, and the node becomes ready', async () => {
  const { directory, operator } = clusterNow()
  await writeFile(join(directory, 'flannel.yml'), renderFlannelManifest())
  expect((await operator.must(3, 'plan')).stdout).toContain(addon)
  await operator.must(0, 'up', '--yes')
  await pollUntil('a healthy doctor', async () => (await operator.hyperkube('doctor')).code === 0, {
    timeoutMs: 180_000,
    intervalMs: 2000,
  })
  await expectPodsReachEachOther(clusterNow(), pods)
  await expectNothingToReport(clusterNow())
})

test('reset restores the initial state of every host', async () =>
  expectResetLeavesNothing(clusterNow(), undefined))

/** Deletes the flannel pods of a node. */
async function deletePodsOf(node: string): Promise<void> {
  const { api } = clusterNow()
  const path = `/api/v1/namespaces/${kubeFlannel}/pods`
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    `${path}?fieldSelector=spec.nodeName=${node}`,
  )
  for (const { metadata } of items) await api.remove(`${path}/${metadata.name}`)
}
