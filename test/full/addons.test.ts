import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { probe, type ProbePod, probePods, probeWorkload } from '../../lab/bench/workload.ts'
import { until } from '../../src/kit/poll-until.ts'
import { type Lookup, lostNodeText, readLookups } from '../support/dns-lookups.ts'
import { podScript } from '../support/pod-shell.ts'
import { suiteCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const kubernetes = '1.37.1'
/** How long after a node was lost every name must be found again, and how much longer lookups are watched. */
const [within, watched] = [60_000, 90_000]

const clusterNow = suiteCluster('addons', '3+2', kubernetes, { addons: true })
let cluster: UpCluster

beforeAll(() => {
  cluster = clusterNow()
})

/** A node with a pod of CoreDNS that is not the one through which the test asks the API. */
async function nodeToLose(): Promise<string> {
  const query = new URLSearchParams({ labelSelector: 'k8s-app=kube-dns' })
  const { items } = await cluster.api.get<{ items: { spec: { nodeName: string } }[] }>(
    `/api/v1/namespaces/kube-system/pods?${query.toString()}`,
  )
  const node = items.map(({ spec }) => spec.nodeName).find((name) => name !== 'cp1')
  if (node === undefined) throw new Error('all of CoreDNS is on cp1')
  return node
}

/** Looks up a name again and again in the background, and writes down how each time went. */
async function beginLookups(pod: ProbePod): Promise<void> {
  const name = `${probe.name}.default.svc.cluster.local`
  const one = `nslookup ${name} >/dev/null 2>&1 && echo "$at well" || echo "$at failed"`
  const loop = `while true; do at=$(date +%s)000; ${one}; usleep 200000; done >/lookups`
  await podScript(cluster.api, pod, `sh -c '${loop.replaceAll("'", `'"'"'`)}' </dev/null >/dev/null 2>&1 &`)
}

test('with a node lost names are found again within a minute', { timeout: 600_000 }, async () => {
  const { api, hosts } = cluster
  await probeWorkload(api, new AbortController().signal)
  const pods = await until(
    'a pod on each node',
    async () => {
      const found = await probePods(api)
      return found.length === hosts.length && found
    },
    { within: 120_000 },
  )
  const node = await nodeToLose()
  const left = pods.filter((pod) => pod.node !== node)
  await Promise.all(left.map(beginLookups))
  const lost = Date.now()
  await hosts.find(({ name }) => name === node)?.crash()
  const all = await until(
    'lookups to have been watched for long enough',
    async () => {
      if (Date.now() < lost + watched) return false
      const texts = await Promise.all(left.map(async (pod) => podScript(api, pod, 'cat /lookups')))
      return texts.flatMap((text) => readLookups(text)).filter(({ at }) => at >= lost - 1000)
    },
    { within: watched + 60_000, every: 1000 },
  )
  const failed = all.filter(({ well }: Lookup) => !well)
  const last = Math.max(0, ...failed.map(({ at }) => at - lost))
  const [hyperkube = ''] = (await cluster.hyperkube('version')).stdout.split('\n')
  const evidence = {
    date: new Date(),
    hyperkube,
    kubernetes,
    node,
    pods: left.length,
    lookups: all.length,
    failed,
    lost,
  }
  await writeFile(join(import.meta.dirname, '../../docs/evidence/lost-node.md'), lostNodeText(evidence))
  process.stderr.write(
    `${all.length} lookups, ${failed.length} failed, the last begun after ${(last / 1000).toFixed(1)} s\n`,
  )
  expect(all.length).toBeGreaterThan(100)
  expect(last).toBeLessThan(within)
  await cluster.lab.start(node)
})
