import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProbeWorkload, listProbePods, type ProbePod } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { findLostWrites } from '../support/counted-writes.ts'
import { runAsPlanned } from '../support/dry-run.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab, startHostsOnDisk } from '../support/lab.ts'
import { listNodeNames, listReadyNodes, listVoters } from '../support/membership.ts'
import { createOperator, type Operator } from '../support/operator.ts'

/**
 * Hosts of this suite. First most etcd members lose power and later join again. Then one member and a worker
 * are lost permanently. Each test continues with the cluster that the previous test left.
 */
const names = ['cp1', 'cp2', 'cp3', 'w1', 'w2']
const survivors = ['cp1', 'w1', 'w2']

let lab: Lab
let hosts: ReadonlyMap<string, Host>
let operator: Operator
let api: KubeApi
/** Probe pods on the surviving hosts before the loss. */
let podsBefore: readonly ProbePod[]
const written: string[] = []

beforeAll(async () => {
  lab = await openFreshLab('losses')
  const all = await startHostsOnDisk(lab, names)
  hosts = new Map(all.map((host) => [host.name, host]))
  operator = await createOperator(lab, all, '1.37.1')
  await timed('up', async () => operator.must(0, 'up', '--yes'))
  const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
  api = new KubeApi(`https://${hostNamed('cp1').address}:6443`, credentials)
  await createProbeWorkload(api, new AbortController().signal)
  await api.create('/apis/apps/v1/namespaces/default/deployments', shop)
  podsBefore = await waitForPods(...names).then((pods) => pods.filter(({ node }) => survivors.includes(node)))
}, 900_000)
afterAll(async () => {
  api.close()
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

test('after the loss of the etcd quorum, up and plan change nothing and name etcd recover', async () => {
  await write('early', 50)
  await operator.must(0, 'etcd', 'snapshot', 'save', 'before-the-loss')
  await write('late', 50)
  await cutPower('cp2', 'cp3')
  for (const args of [['plan'], ['up', '--yes']]) {
    const { stderr } = await operator.must(1, ...args)
    expect(stderr).toContain('PLAN_NO_QUORUM')
    expect(stderr).toContain('if they are lost permanently: hyperkube etcd recover')
  }
  // Removing the lost hosts from cluster.yml does not help, because etcd still counts them as members.
  await setHosts(...survivors)
  const { stderr } = await operator.must(1, 'up', '--yes')
  expect(stderr).toContain('ROLLOUT_QUORUM: etcd has no quorum without cp2 and cp3')
  expect(stderr).toContain('if they are lost permanently: hyperkube etcd recover')
})

test('etcd recover shows possible losses, and restores the cluster from the remaining member', async () => {
  const { shown, stdout } = await runAsPlanned(operator, [...hosts.values()], ['etcd', 'recover'])
  expect(shown).toMatch(/^cp1 \(running member\) +\d+ +\d+ +no known change$/m)
  expect(shown).toMatch(/^before-the-loss\.snapshot +\d+ +\d+ +\d+ changes, and all changes of the last .+$/m)
  expect(shown).toContain('the new etcd cluster will have the members of cluster.yml: cp1\n')
  expect(shown).toContain('considered lost: cp2 and cp3')
  expect(stdout).toContain('lab is restored to')
  expect(await findLostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect(written).toHaveLength(100)
  expect(await listVoters(hostNamed('cp1'))).toEqual(['cp1'])
  // Controllers that have just started wait for a grace period before they mark a node as not Ready.
  await pollUntil(
    'the lost nodes to be NotReady',
    async () => (await listReadyNodes(api)).join() === survivors.join(),
    {
      timeoutMs: 120_000,
    },
  )
  expect((await waitForPods(...survivors)).filter(({ node }) => survivors.includes(node))).toEqual(podsBefore)
  await write('afterwards', 1)
})

test('the next up removes the nodes of lost hosts', async () => {
  expect(await listNodeNames(api)).toEqual(names)
  const { stderr } = await timed('up', async () => operator.must(0, 'up', '--yes'))
  expect(stderr).toContain('remove cp2, not reset, because the host is unreachable')
  expect(await listNodeNames(api)).toEqual(survivors)
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('hosts that have power again are reset and join again', async () => {
  for (const name of ['cp2', 'cp3']) await lab.start(name)
  await setHosts(...names)
  // cp2 and cp3 have a quorum of the previous etcd cluster. So this cluster runs again, next to the recovered
  // one.
  await pollUntil(
    'the previous etcd to be noticed',
    async () =>
      (await operator.hyperkube('plan')).stderr.includes(
        'ETCD_SPLIT_BRAIN: the hosts run 2 separate etcd clusters: cp1 | cp2',
      ),
    { timeoutMs: 60_000, intervalMs: 1000 },
  )
  const resetOptions = ['--limit', 'cp2,cp3', '--ignore', 'RESET_CONTROL_PLANE'] as const
  await runAsPlanned(operator, [...hosts.values()], ['reset', ...resetOptions])
  await setHosts(...survivors)
  for (const name of ['cp2', 'cp3']) {
    const args = ['node', 'add', name, '--address', hostNamed(name).address, '--role', 'control-plane']
    await runAsPlanned(operator, [...hosts.values()], args)
  }
  expect(await listVoters(hostNamed('cp1'))).toEqual(['cp1', 'cp2', 'cp3'])
  expect(await listReadyNodes(api)).toEqual(names)
  await waitForPods(...names)
  expect(await findLostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('a lost worker and a lost control plane are removed while unreachable', async () => {
  const file = join(operator.directory, 'cluster.yml')
  const text = (await readFile(file, 'utf8'))
    .replace('    - name: cp3\n', '    # the one in the cellar\n    - name: cp3\n')
    .replace('    - name: w1\n', '    - name: w1 # upstairs\n')
  await writeFile(file, text)
  await cutPower('w2', 'cp3')
  const remove = async (name: string, code: number) =>
    runAsPlanned(operator, [...hosts.values()], ['node', 'remove', name], { code })
  const first = await remove('w2', 3)
  expect(first.stderr).toContain('ROLLOUT_REMOVED_UNREACHABLE')
  expect(first.stdout).toContain('skipped, because unreachable: cp3')
  const second = await remove('cp3', 0)
  expect(second.stderr).toContain('remove cp3, removed from etcd, not reset')
  expect(await listVoters(hostNamed('cp1'))).toEqual(['cp1', 'cp2'])
  expect(await listNodeNames(api)).toEqual(['cp1', 'cp2', 'w1'])
  expect(await listReadyNodes(api)).toEqual(['cp1', 'cp2', 'w1'])
  expect(await readFile(file, 'utf8')).toBe(['w2', 'cp3'].reduce(withoutHost, text))
  await pollUntil('all pods of the shop on w1', async () => (await shopNodes()).join() === 'w1,w1', {
    timeoutMs: 120_000,
  })
  expect(await findLostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

/** Cuts the power of all these hosts at once. They stay off until the lab starts them. */
async function cutPower(...lost: readonly string[]): Promise<void> {
  await settleAll(lost.map(async (name) => hostNamed(name).powerCut()))
}

/** Replaces all hosts in cluster.yml. Names that start with `cp` are control planes. */
async function setHosts(...hostNames: readonly string[]): Promise<void> {
  await operator.edit((document) =>
    document.setIn(
      ['spec', 'hosts'],
      hostNames.map((name) => ({
        name,
        address: hostNamed(name).address,
        roles: [name.startsWith('cp') ? 'control-plane' : 'worker'],
      })),
    ),
  )
}

/** Removes the entry of a host from the text of cluster.yml. */
function withoutHost(text: string, name: string): string {
  return text.replace(new RegExp(`^ {4}- name: ${name}\\n(?: {6}.*\\n)+`, 'm'), '')
}

function hostNamed(name: string): Host {
  const found = hosts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Creates ConfigMaps and records the name of each one that the API acknowledged. */
async function write(prefix: string, amount: number): Promise<void> {
  for (let number = 0; number < amount; number++) {
    const metadata = { name: `${prefix}-${number}`, labels: { counted: '' } }
    await api.create('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    })
    written.push(metadata.name)
  }
}

/** Waits until a probe pod runs on each of these nodes. */
async function waitForPods(...nodes: readonly string[]): Promise<readonly ProbePod[]> {
  const checkPods = async (): Promise<readonly ProbePod[] | false> => {
    const pods = await listProbePods(api)
    const nodesWithPods = new Set(pods.map(({ node }) => node))
    return (
      nodes.every((node) => nodesWithPods.has(node)) && pods.toSorted((a, b) => (a.node < b.node ? -1 : 1))
    )
  }
  return pollUntil(`pods on ${nodes.join()}`, checkPods, { timeoutMs: 180_000 })
}

const labels = { app: 'shop' }
const shop = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'web', image: testImage, imagePullPolicy: 'IfNotPresent', args: ['pause'] }],
      },
    },
  },
}

interface PodList {
  readonly items: readonly {
    readonly spec: { readonly nodeName?: string }
    readonly status: { readonly phase: string }
  }[]
}

/** Lists the node of each running pod of the test application (app=shop). */
async function shopNodes(): Promise<string[]> {
  const { items } = await api.get<PodList>('/api/v1/namespaces/default/pods?labelSelector=app%3Dshop')
  return items.flatMap(({ spec, status }) => (status.phase === 'Running' ? [spec.nodeName ?? ''] : []))
}

async function timed<T>(title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  process.stderr.write(`${title}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  return result
}
