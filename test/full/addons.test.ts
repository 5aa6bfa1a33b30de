import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { probe, type ProbePod, listProbePods, createProbeWorkload } from '../../lab/bench/workload.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { type Lookup, type LostNode, formatLostNodeEvidence, parseLookups } from '../support/dns-lookups.ts'
import { runInPod } from '../support/pod-shell.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const kubernetes = '1.37.1'
/**
 * Milliseconds: the limit for name resolution to recover after a node is lost, and the duration of the
 * lookups.
 */
const [maxRecoveryMs, watchMs] = [60_000, 90_000]

const clusterNow = setUpCluster('addons', '3+2', kubernetes, { addons: true })
let cluster: UpCluster

beforeAll(() => {
  cluster = clusterNow()
})

/** Finds a node with a CoreDNS pod other than the node through which the test reaches the API. */
async function nodeToLose(): Promise<string> {
  const query = new URLSearchParams({ labelSelector: 'k8s-app=kube-dns' })
  const { items } = await cluster.api.get<{ items: { spec: { nodeName: string } }[] }>(
    `/api/v1/namespaces/kube-system/pods?${query.toString()}`,
  )
  const node = items.map(({ spec }) => spec.nodeName).find((name) => name !== 'cp1')
  if (node === undefined) throw new Error('all of CoreDNS is on cp1')
  return node
}

/** Looks up a name repeatedly in the background, and records the result of each lookup. */
async function startLookups(pod: ProbePod): Promise<void> {
  const name = `${probe.name}.default.svc.cluster.local`
  const one = `nslookup ${name} >/dev/null 2>&1 && echo "$at well" || echo "$at failed"`
  const loop = `while true; do at=$(date +%s)000; ${one}; usleep 200000; done >/lookups`
  await runInPod(cluster.api, pod, `sh -c '${loop.replaceAll("'", `'"'"'`)}' </dev/null >/dev/null 2>&1 &`)
}

test('with a node lost names are found again within a minute', { timeout: 600_000 }, async () => {
  const { api, hosts } = cluster
  await createProbeWorkload(api, new AbortController().signal)
  const pods = await pollUntil(
    'a pod on each node',
    async () => {
      const found = await listProbePods(api)
      return found.length === hosts.length && found
    },
    { timeoutMs: 120_000 },
  )
  const node = await nodeToLose()
  const remaining = pods.filter((pod) => pod.node !== node)
  await Promise.all(remaining.map(startLookups))
  const lostAt = Date.now()
  await hosts.find(({ name }) => name === node)?.crash()
  const all = await pollUntil(
    'lookups to have been watched for long enough',
    async () => {
      if (Date.now() < lostAt + watchMs) return false
      const texts = await Promise.all(remaining.map(async (pod) => runInPod(api, pod, 'cat /lookups')))
      return texts.flatMap((text) => parseLookups(text)).filter(({ at }) => at >= lostAt - 1000)
    },
    { timeoutMs: watchMs + 60_000, intervalMs: 1000 },
  )
  const failed = all.filter(({ ok }: Lookup) => !ok)
  const last = Math.max(0, ...failed.map(({ at }) => at - lostAt))
  const [hyperkube = ''] = (await cluster.hyperkube('version')).stdout.split('\n')
  const evidence: LostNode = {
    date: new Date(),
    hyperkube,
    kubernetes,
    node,
    pods: remaining.length,
    lookups: all.length,
    failed,
    lostAt,
  }
  await writeFile(
    join(import.meta.dirname, '../../docs/evidence/lost-node.md'),
    formatLostNodeEvidence(evidence),
  )
  process.stderr.write(
    `${all.length} lookups, ${failed.length} failed, the last begun after ${(last / 1000).toFixed(1)} s\n`,
  )
  expect(all.length).toBeGreaterThan(100)
  expect(last).toBeLessThan(maxRecoveryMs)
  await cluster.lab.start(node)
})
