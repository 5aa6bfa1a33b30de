import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProbePod, probePods, probeWorkload } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { lostWrites } from '../support/counted-writes.ts'
import { asForeseen } from '../support/dry-run.ts'
import { credentialsIn } from '../support/kubeconfig.ts'
import { freshLab, mortalHosts } from '../support/lab.ts'
import { nodeNames, nodesReady, votersOf } from '../support/membership.ts'
import { newOperator, type Operator } from '../support/operator.ts'

/** Machines are lost for good: first most members of etcd, then one member and a worker. The tests stand in an order. */
const names = ['cp1', 'cp2', 'cp3', 'w1', 'w2']
const survivors = ['cp1', 'w1', 'w2']

let lab: Lab
let hosts: ReadonlyMap<string, Host>
let operator: Operator
let api: KubeApi
/** On hosts that are not lost. */
let before: readonly ProbePod[]
const written: string[] = []

beforeAll(async () => {
  lab = await freshLab('losses')
  const all = await mortalHosts(lab, names)
  hosts = new Map(all.map((host) => [host.name, host]))
  operator = await newOperator(lab, all, '1.37.1')
  await timed('up', async () => operator.must(0, 'up', '--yes'))
  const credentials = credentialsIn((await operator.must(0, 'kubeconfig')).stdout)
  api = new KubeApi(`https://${hostNamed('cp1').address}:6443`, credentials)
  await probeWorkload(api, new AbortController().signal)
  await api.create('/apis/apps/v1/namespaces/default/deployments', shop)
  before = await podsRun(...names).then((pods) => pods.filter(({ node }) => survivors.includes(node)))
}, 900_000)
afterAll(async () => {
  api.close()
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

test('most members of etcd are lost: up and plan say how the cluster comes back, and do nothing', async () => {
  await write('early', 50)
  await operator.must(0, 'etcd', 'snapshot', 'save', 'before-the-loss')
  await write('late', 50)
  await lose('cp2', 'cp3')
  for (const words of [['plan'], ['up', '--yes']]) {
    const { stderr } = await operator.must(1, ...words)
    expect(stderr).toContain('PLAN_NO_QUORUM')
    expect(stderr).toContain('if they are lost for good: hyperkube etcd recover')
  }
  // As a person does who believes that they are lost: but etcd still counts on them.
  await shall(...survivors)
  const { stderr } = await operator.must(1, 'up', '--yes')
  expect(stderr).toContain('ROLLOUT_QUORUM: etcd has no quorum without cp2 and cp3')
  expect(stderr).toContain('if they are lost for good: hyperkube etcd recover')
})

test('what each would lose is shown, and the cluster comes back from the member that is left', async () => {
  const { shown, stdout } = await asForeseen(operator, [...hosts.values()], ['etcd', 'recover'])
  expect(shown).toMatch(/^cp1, which answers +\d+ +\d+ +nothing that is known here$/m)
  expect(shown).toMatch(/^before-the-loss\.snapshot +\d+ +\d+ +\d+ changes, and all since .+ ago$/m)
  expect(shown).toContain('the new etcd is made of what cluster.yml names: cp1\n')
  expect(shown).toContain('taken for lost: cp2 and cp3')
  expect(stdout).toContain('lab is back')
  expect(await lostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect(written).toHaveLength(100)
  expect(await votersOf(hostNamed('cp1'))).toEqual(['cp1'])
  // Controllers that have just come back give every node its time.
  await until('the lost ones to be missed', async () => (await nodesReady(api)).join() === survivors.join(), {
    within: 120_000,
  })
  expect((await podsRun(...survivors)).filter(({ node }) => survivors.includes(node))).toEqual(before)
  await write('afterwards', 1)
})

test('nodes of hosts that are lost are taken out by the next up', async () => {
  expect(await nodeNames(api)).toEqual(names)
  const { stderr } = await timed('up', async () => operator.must(0, 'up', '--yes'))
  expect(stderr).toContain('cp2 leaves, without its help, because it does not answer')
  expect(await nodeNames(api)).toEqual(survivors)
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('hosts that have power again are reset, and join anew', async () => {
  for (const name of ['cp2', 'cp3']) await lab.start(name)
  await shall(...names)
  // They are enough to go on with the etcd that they remember.
  await until(
    'the former etcd to be noticed',
    async () => (await operator.hyperkube('plan')).stderr.includes('ETCD_TORN: there are 2 etcds: cp1 | cp2'),
    { within: 60_000, every: 1000 },
  )
  const apart = ['--limit', 'cp2,cp3', '--ignore', 'RESET_CONTROL_PLANE'] as const
  await asForeseen(operator, [...hosts.values()], ['reset', ...apart])
  await shall(...survivors)
  for (const name of ['cp2', 'cp3']) {
    const words = ['node', 'add', name, '--address', hostNamed(name).address, '--role', 'control-plane']
    await asForeseen(operator, [...hosts.values()], words)
  }
  expect(await votersOf(hostNamed('cp1'))).toEqual(['cp1', 'cp2', 'cp3'])
  expect(await nodesReady(api)).toEqual(names)
  await podsRun(...names)
  expect(await lostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('a worker and a control plane are lost, and taken out without being reached', async () => {
  const file = join(operator.directory, 'cluster.yml')
  const text = (await readFile(file, 'utf8'))
    .replace('    - name: cp3\n', '    # the one in the cellar\n    - name: cp3\n')
    .replace('    - name: w1\n', '    - name: w1 # upstairs\n')
  await writeFile(file, text)
  await lose('w2', 'cp3')
  const remove = async (name: string, code: number) =>
    asForeseen(operator, [...hosts.values()], ['node', 'remove', name], { code })
  const first = await remove('w2', 3)
  expect(first.stderr).toContain('ROLLOUT_HOST_LOST')
  expect(first.stdout).toContain('left behind: cp3')
  const second = await remove('cp3', 0)
  expect(second.stderr).toContain('cp3 leaves, taken out of etcd, without its help')
  expect(await votersOf(hostNamed('cp1'))).toEqual(['cp1', 'cp2'])
  expect(await nodeNames(api)).toEqual(['cp1', 'cp2', 'w1'])
  expect(await nodesReady(api)).toEqual(['cp1', 'cp2', 'w1'])
  expect(await readFile(file, 'utf8')).toBe(['w2', 'cp3'].reduce(withoutHost, text))
  await until('all pods of the shop on w1', async () => (await shopNodes()).join() === 'w1,w1', {
    within: 120_000,
  })
  expect(await lostWrites(api, { acknowledged: written, refused: 0 })).toEqual([])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

/** All at once, and nothing of them comes back by itself. */
async function lose(...lost: readonly string[]): Promise<void> {
  await settleAll(lost.map(async (name) => hostNamed(name).powerCut()))
}

/** What the file has from now on. */
async function shall(...wished: readonly string[]): Promise<void> {
  await operator.edit((document) =>
    document.setIn(
      ['spec', 'hosts'],
      wished.map((name) => ({
        name,
        address: hostNamed(name).address,
        roles: [name.startsWith('cp') ? 'control-plane' : 'worker'],
      })),
    ),
  )
}

/** A file without the lines of one host. */
function withoutHost(text: string, name: string): string {
  return text.replace(new RegExp(`^ {4}- name: ${name}\\n(?: {6}.*\\n)+`, 'm'), '')
}

function hostNamed(name: string): Host {
  const found = hosts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Makes objects of which each was acknowledged. */
async function write(word: string, amount: number): Promise<void> {
  for (let number = 0; number < amount; number++) {
    const metadata = { name: `${word}-${number}`, labels: { counted: '' } }
    await api.create('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    })
    written.push(metadata.name)
  }
}

/** Once one of the probe's pods runs on each of these nodes. */
async function podsRun(...nodes: readonly string[]): Promise<readonly ProbePod[]> {
  const look = async (): Promise<readonly ProbePod[] | false> => {
    const pods = await probePods(api)
    const there = new Set(pods.map(({ node }) => node))
    return nodes.every((node) => there.has(node)) && pods.toSorted((a, b) => (a.node < b.node ? -1 : 1))
  }
  return until(`pods on ${nodes.join()}`, look, { within: 180_000 })
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

/** Where its pods run. */
async function shopNodes(): Promise<string[]> {
  const { items } = await api.get<PodList>('/api/v1/namespaces/default/pods?labelSelector=app%3Dshop')
  return items.flatMap(({ spec, status }) => (status.phase === 'Running' ? [spec.nodeName ?? ''] : []))
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  process.stderr.write(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  return result
}
