import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createProbeWorkload, listProbePods, probe, type ProbePod } from '../../lab/bench/workload.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { runInPod } from '../support/pod-shell.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const kubernetes = '1.37.1'
/**
 * Both in milliseconds: the time limit for name resolution to recover after a node is lost, and how long the
 * test looks up names.
 */
const [maxRecoveryMs, watchMs] = [60_000, 90_000]

const clusterNow = setUpCluster('addons', '3+2', kubernetes, { addons: true })
let cluster: UpCluster

beforeAll(() => {
  cluster = clusterNow()
})

/** Finds a node with a CoreDNS pod. cp1 is excluded, because the test reaches the API through cp1. */
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
  const one = `nslookup ${name} >/dev/null 2>&1 && echo "$at ok" || echo "$at failed"`
  const loop = `while true; do at=$(date +%s)000; ${one}; usleep 200000; done >/lookups`
  await runInPod(cluster.api, pod, `sh -c '${loop.replaceAll("'", `'"'"'`)}' </dev/null >/dev/null 2>&1 &`)
}

test('DNS recovers within a minute after a node is lost', { timeout: 600_000 }, async () => {
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

/** Result of one name lookup, and its start time in milliseconds since 1970. */
interface Lookup {
  readonly at: number
  readonly ok: boolean
}

/** Parses the log of lookups that a pod wrote. */
function parseLookups(text: string): Lookup[] {
  return text.split('\n').flatMap((line) => {
    const [, at, outcome] = /^(\d+) (ok|failed)$/.exec(line) ?? []
    return at === undefined ? [] : [{ at: Number(at), ok: outcome !== 'failed' }]
  })
}

interface LostNode {
  readonly date: Date
  readonly hyperkube: string
  readonly node: string
  /** Number of pods that looked up names. */
  readonly pods: number
  readonly lookups: number
  readonly failed: readonly Lookup[]
  /** Time at which the node was lost, in milliseconds since 1970. */
  readonly lostAt: number
}

function formatLostNodeEvidence({ date, hyperkube, node, pods, lookups, failed, lostAt }: LostNode): string {
  const seconds = failed.map(({ at }) => Math.max(0, at - lostAt) / 1000)
  const when =
    seconds.length === 0
      ? 'None failed.'
      : `The first failed lookup started ${Math.min(...seconds).toFixed(1)} s after the loss, the last ${Math.max(...seconds).toFixed(1)} s after it.`
  return `# DNS, when a node with CoreDNS is lost

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, three control planes and two workers.

${node}, with one of two CoreDNS pods, was lost without warning. On each of the ${pods} other nodes a pod
continued to look up the name of a service, five times a second, with one retry.

| lookups | failed |
|---|---|
| ${lookups} | ${failed.length} |

${when}
`
}
