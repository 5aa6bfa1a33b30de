import { beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, formatBusyFigures } from '../support/busy-cluster.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const [from, to] = ['1.36.4', '1.37.1'] as const
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'

const clusterNow = setUpCluster('upgrade', '3+2', from)
let cluster: UpCluster
let busy: BusyCluster | undefined

beforeAll(async () => {
  cluster = clusterNow()
  const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
  busy = await BusyCluster.open(cluster.api, host('w2'), credentials)
})

function host(name: string): Host {
  const found = cluster.hosts.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

async function kubelets(): Promise<Record<string, string>> {
  const { items } = await cluster.api.get<{
    items: { metadata: { name: string }; status: { nodeInfo: { kubeletVersion: string } } }[]
  }>('/api/v1/nodes')
  return Object.fromEntries(
    items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]),
  )
}

test('a disruption budget that no drain can meet is refused before any change', async () => {
  await cluster.api.create(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'never' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'shop' } } },
  })
  const { stderr } = await cluster.operator.must(1, 'upgrade', '--to', to, '--yes')
  expect(stderr).toContain('DRAIN_IMPOSSIBLE')
  expect(stderr).toContain('never')
  await cluster.api.remove(`${budgets}/never`)
  expect((await cluster.operator.must(0, 'plan')).stdout).toContain('nothing to do')
})

test(
  'a kubelet that does not start is rolled back, and no other host is changed',
  { timeout: 1_200_000 },
  async () => {
    // With this drop-in, the kubelet starts only in its old version, so the upgrade of w1 must fail.
    await host('w1').script(`mkdir -p /etc/systemd/system/kubelet.service.d
    printf '[Service]\\nExecStartPre=/usr/bin/grep -q ${from} /etc/systemd/system/kubelet.service\\n' > /etc/systemd/system/kubelet.service.d/broken.conf
    systemctl daemon-reload`)
    const startedAt = performance.now()
    const { stderr } = await cluster.operator.must(1, 'upgrade', '--to', to, '--yes')
    process.stderr.write(`rolled back after ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`)
    expect(stderr).toContain('ROLLOUT_ROLLED_BACK')
    expect(stderr).toContain('kubelet.service does not start')
    expect(await kubelets()).toEqual({
      ...{ cp1: `v${to}`, cp2: `v${to}`, cp3: `v${to}` },
      ...{ w1: `v${from}`, w2: `v${from}` },
    })
    expect((await cluster.operator.must(0, 'status')).code).toBe(0)
  },
)

test('after the cause is fixed, up completes the upgrade', { timeout: 1_200_000 }, async () => {
  await host('w1').script('rm -r /etc/systemd/system/kubelet.service.d; systemctl daemon-reload')
  await cluster.operator.must(0, 'up', '--yes')
  expect(new Set(Object.values(await kubelets()))).toEqual(new Set([`v${to}`]))
})

test('no request fails during the upgrade and the rollback', async () => {
  if (busy === undefined) throw new Error('there is no load')
  const figures = await busy.stop(cluster.api)
  process.stderr.write(`upgrade: ${formatBusyFigures(figures)}\n`)
  expect(figures.api.failed).toEqual([])
  expect(figures.service.failed).toEqual([])
  expect(figures.lost).toEqual([])
})
