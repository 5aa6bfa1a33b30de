import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createProbeWorkload, listProbePods, probe } from '../../lab/bench/workload.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { BusyCluster, type BusyFigures, formatBusyFigures } from '../support/busy-cluster.ts'
import {
  type DualStackPod,
  expectDualStackNodes,
  readDualStackPod,
  setDualStack,
  waitForResponse,
} from '../support/dual-stack.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { listReadyNodes, listVoters } from '../support/membership.ts'
import { connectionCount, type MatrixResult, runPolicyMatrix } from '../support/policy-matrix.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const [from, to] = ['1.36.4', '1.37.1'] as const
const clusterNow = setUpCluster('dual-life', '3+2', from, { beforeLock: setDualStack })
const never = new AbortController().signal
const savedSchema = z.object({ name: z.string() })
const directory = join(import.meta.dirname, '../../docs/evidence')
const seconds: Record<string, number> = {}
let upgradeFigures: BusyFigures | undefined

function host(name: string): Host {
  const found = clusterNow().hosts.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Expects two addresses on each node, and that all probe pods reach each other over both families. */
async function expectBothFamiliesEverywhere(cluster: UpCluster): Promise<DualStackPod[]> {
  await expectDualStackNodes(cluster)
  const { api, hosts } = cluster
  // The Service of the workload has a fixed address, so the workload cannot be created twice.
  if ((await listProbePods(api)).length === 0) await createProbeWorkload(api, never)
  const names = hosts.map(({ name }) => name).toSorted()
  const started = await pollUntil(
    'a pod on each node',
    async () => {
      const found = await listProbePods(api)
      return isDeepStrictEqual(found.map(({ node }) => node).toSorted(), names) && found
    },
    { timeoutMs: 180_000 },
  )
  const pods = await settleAll(started.map(async (pod) => readDualStackPod(api, pod)))
  for (const source of pods)
    for (const target of pods)
      for (const address of [target.address, target.ipv6Address])
        expect(await waitForResponse(api, source, address, probe.port)).toBe(target.name)
  return pods
}

test('an upgrade of a dual-stack cluster fails no request', { timeout: 1_800_000 }, async () => {
  const cluster = clusterNow()
  await expectBothFamiliesEverywhere(cluster)
  const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
  const busy = await BusyCluster.open(cluster.api, host('w2'), credentials)
  await busy.waitForFirstResponses()
  try {
    seconds['upgrade'] = await measure(async () => cluster.operator.must(0, 'upgrade', '--to', to, '--yes'))
  } finally {
    upgradeFigures = await busy.stop(cluster.api)
  }
  process.stderr.write(`dual-stack upgrade: ${formatBusyFigures(upgradeFigures)}\n`)
  expect(upgradeFigures.api.failed).toEqual([])
  expect(upgradeFigures.service.failed).toEqual([])
  expect(upgradeFigures.lost).toEqual([])
  await expectBothFamiliesEverywhere(cluster)
})

test(
  'twenty configurations of policies allow the same over both families',
  { timeout: 900_000 },
  async () => {
    const cluster = clusterNow()
    const results = await runPolicyMatrix(cluster, await expectBothFamiliesEverywhere(cluster))
    expect(results).toHaveLength(20)
    await writeFile(join(directory, 'network-policy-matrix.md'), formatMatrix(results))
  },
)

test('a dual-stack cluster whose etcd lost all data is restored', { timeout: 900_000 }, async () => {
  const cluster = clusterNow()
  const { operator } = cluster
  const saved = savedSchema.parse(
    JSON.parse((await operator.must(0, 'etcd', 'snapshot', 'save', '-o', 'json')).stdout),
  )
  await settleAll(
    ['cp1', 'cp2', 'cp3'].map(async (name) =>
      host(name).script('systemctl stop etcd; rm -r /var/lib/etcd/data'),
    ),
  )
  seconds['restore'] = await measure(async () =>
    operator.must(0, 'etcd', 'snapshot', 'restore', saved.name, '--yes'),
  )
  expect(await listReadyNodes(cluster.api)).toEqual(cluster.hosts.map(({ name }) => name))
  await expectBothFamiliesEverywhere(cluster)
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('a control plane and a worker are replaced', { timeout: 1_800_000 }, async () => {
  const cluster = clusterNow()
  const added = await cluster.lab.up(['cp4', 'w3'])
  for (const [name, by] of [
    ['cp3', 'cp4'],
    ['w2', 'w3'],
  ] as const) {
    const address = added.find((one) => one.name === by)?.address ?? ''
    seconds[`replacement of ${name} by ${by}`] = await measure(async () =>
      cluster.operator.must(
        0,
        ...['node', 'replace', name, '--by', by, '--address', address, '--yes', '--accept-new-host-keys'],
      ),
    )
  }
  const hosts = [...cluster.hosts.filter(({ name }) => name !== 'cp3' && name !== 'w2'), ...added]
  expect(await listVoters(host('cp1'))).toEqual(['cp1', 'cp2', 'cp4'])
  expect(await listReadyNodes(cluster.api)).toEqual(['cp1', 'cp2', 'cp4', 'w1', 'w3'])
  await expectBothFamiliesEverywhere({ ...cluster, hosts })
  expect((await cluster.operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
  const replaced = new KubeApi(`https://${added[0]?.address ?? ''}:6443`, credentials)
  try {
    expect(await listReadyNodes(replaced)).toHaveLength(5)
  } finally {
    replaced.close()
  }
  await writeFile(join(directory, 'dual-stack-lifecycle.md'), formatLifecycle())
})

async function measure(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

const today = (): string => new Date().toISOString().slice(0, 10)

function formatLifecycle(): string {
  if (upgradeFigures === undefined) throw new Error('there are no figures of the upgrade')
  return `# Upgrade, restore and replacement of nodes of a dual-stack cluster

Written by \`npx vitest run --project full test/full/dual-stack-lifecycle.test.ts\` on ${today()}: 3+2 hosts of the lab, created with
Kubernetes ${from} as a dual-stack cluster. After each change, every node had two addresses and two pod networks, and every probe pod reached
every other one over both families.

${renderTable(
  ['change', 'seconds'],
  Object.entries(seconds).map(([name, value]) => [
    name === 'upgrade'
      ? `upgrade to ${to} under load`
      : name === 'restore'
        ? 'restore after all etcd data was deleted'
        : name,
    value.toFixed(0),
  ]),
)}

Load during the upgrade: ${formatBusyFigures(upgradeFigures)}.

After the restore and after the replacements, \`up\` had nothing to do.

[The same cluster at rest](dual-stack.md), [upstream's tests](dual-stack-upstream.md), [policies on both families](network-policy-matrix.md)
`
}

function formatMatrix(results: readonly MatrixResult[]): string {
  const rows = results.map(({ row, seconds: value }, index) => [
    String(index + 1),
    row.name,
    value.toFixed(1),
  ])
  return `# Twenty configurations of NetworkPolicy on both families

Written by \`npx vitest run --project full test/full/dual-stack-lifecycle.test.ts\` on ${today()}: Kubernetes ${to}, flannel, kube-proxy
(nftables) and kube-router 2.10.0 on 3+2 dual-stack hosts of the lab.

Under each configuration the suite tried ${connectionCount} connections to one pod: from a pod on the same node, a pod on another node, a pod of another
namespace, and a machine outside of the cluster (node port with \`externalTrafficPolicy: Local\`), each to two ports over IPv4 and IPv6. Exactly the connections
that the policies allow succeeded, in all ${results.length} rows. The last column contains the time from the creation of the policies until that was so, including the
requests themselves.

${renderTable(['', 'policies', 'seconds'], rows)}

[More about NetworkPolicy](network-policy.md)
`
}
