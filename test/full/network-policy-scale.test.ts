import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { BusyCluster } from '../support/busy-cluster.ts'
import { prepareCalicoHosts, useCalico } from '../support/calico.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { percentile } from '../support/manager-scale-figures.ts'
import {
  applyPolicy,
  denyIngress,
  removeGuardedPod,
  removePolicy,
  startGuardedPod,
  waitForReach,
} from '../support/network-policy.ts'
import { causeEngineFault, type EngineFaultResult } from '../support/policy-engine-faults.ts'
import {
  countRules,
  createPodsAndPolicies,
  felix,
  kubeRouter,
  type PolicyEngine,
  prepareScale,
  runningPods,
} from '../support/policy-scale.ts'
import { measureServices, readServiceUsage } from '../support/service-cost.ts'
import type { ServiceFigures } from '../support/service-load.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'
import { startPodOnEachNode } from '../support/up-expectations.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/network-policy-scale.md')
/** Numbers of pods and of policies, ascending. */
const sizes = [0, 100, 1000]
const rounds = 5
const restMs = 60_000

interface Step {
  readonly size: number
  readonly rules: number
  readonly sets: number
  /** Milliseconds from the creation or removal of a policy to its effect. */
  readonly closed: readonly number[]
  readonly opened: readonly number[]
  /** Processor time of the engine for one change, in milliseconds. */
  readonly cpuMsPerChange: number
  readonly pss: number
  readonly cpuShare: number
}

type FaultUnderLoad = EngineFaultResult & { readonly service: ServiceFigures }

/** Results of this run so far. The page is written after each of them. */
const results: { kubeRouter: Step[]; felix: Step[]; faults: FaultUnderLoad[] } = {
  kubeRouter: [],
  felix: [],
  faults: [],
}

describe('kube-router', () => {
  const clusterNow = setUpCluster('network-policy-scale', '1+1', '1.37.1')

  test(
    'policies have an effect with 1,000 pods and 1,000 policies, also while kube-router fails',
    { timeout: 3_000_000 },
    async () => {
      const { api, operator } = clusterNow()
      const { worker, sources, target } = await measureSizes(clusterNow(), kubeRouter, results.kubeRouter)
      const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
      for (const fault of ['killed', 'hung', 'stopped', 'restarted'] as const) {
        const busy = await BusyCluster.open(api, worker, credentials)
        await busy.waitForFirstResponses()
        const result = await causeEngineFault(api, worker, fault, { sources, target })
        results.faults.push({ ...result, service: (await busy.stop(api)).service })
        await writeFile(evidence, formatEvidence())
      }
      await removeGuardedPod(api, target)
      expectLimit(results.kubeRouter)
      for (const { fault, leaked, service } of results.faults) {
        expect(leaked, fault).toBe(0)
        expect(service.failed, fault).toEqual([])
      }
    },
  )
})

describe('Calico', () => {
  const clusterNow = setUpCluster('network-policy-felix', '1+1', '1.37.1', {
    parts: ['calico'],
    beforeLock: useCalico,
    prepare: async ({ hosts }) => prepareCalicoHosts(hosts),
  })

  test('the same sizes with felix', { timeout: 3_000_000 }, async () => {
    const { target } = await measureSizes(clusterNow(), felix, results.felix)
    await removeGuardedPod(clusterNow().api, target)
    expectLimit(results.felix)
  })
})

function expectLimit(steps: readonly Step[]): void {
  expect(Math.max(...steps.flatMap(({ closed }) => closed))).toBeLessThan(30_000)
}

/** Creates pods and policies up to each size, and measures the engine on w1 at each size. */
async function measureSizes(
  cluster: UpCluster,
  engine: PolicyEngine,
  steps: Step[],
): Promise<{ readonly worker: Host; readonly sources: readonly ProbePod[]; readonly target: ProbePod }> {
  const { api, hosts } = cluster
  const worker = hosts.find(({ name }) => name === 'w1')
  if (worker === undefined) throw new Error('there is no w1')
  const sources = await startPodOnEachNode(cluster)
  const target = await startGuardedPod({ api }, 'w1', sources)
  await prepareScale(api)
  let previous = 0
  for (const size of sizes) {
    await createPodsAndPolicies(api, 'w1', { from: previous, to: size })
    steps.push(await measureStep({ api, worker, engine }, size, sources, target))
    await writeFile(evidence, formatEvidence())
    previous = size
  }
  return { worker, sources, target }
}

async function measureStep(
  { api, worker, engine }: { readonly api: KubeApi; readonly worker: Host; readonly engine: PolicyEngine },
  size: number,
  sources: readonly ProbePod[],
  target: ProbePod,
): Promise<Step> {
  // The first change waits for the synchronization of all objects that were just created.
  await applyPolicy(api, denyIngress)
  await waitForReach(api, sources, target, false)
  await removePolicy(api, denyIngress)
  await waitForReach(api, sources, target, true)
  const { name, findPid } = engine
  const [cost] = await measureServices(worker, [name], { durationMs: restMs, samples: 6, findPid })
  const before = await readCpuMs(worker, engine)
  const [closed, opened]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    await applyPolicy(api, denyIngress)
    closed.push(await waitForReach(api, sources, target, false))
    await removePolicy(api, denyIngress)
    opened.push(await waitForReach(api, sources, target, true))
  }
  const cpuMsPerChange = ((await readCpuMs(worker, engine)) - before) / (2 * rounds)
  const { pss = 0, cpuShare = 0 } = cost ?? {}
  return { size, ...(await countRules(worker, engine)), closed, opened, cpuMsPerChange, pss, cpuShare }
}

async function readCpuMs(worker: Host, { name, findPid }: PolicyEngine): Promise<number> {
  const [usage] = await readServiceUsage(worker, [name], findPid)
  return usage?.cpuMs ?? Number.NaN
}

function renderSteps(steps: readonly Step[], engine: string): string {
  const range = (values: readonly number[]): string =>
    `${(percentile(values, 0.5) / 1000).toFixed(2)} (${(Math.min(...values) / 1000).toFixed(2)}–${(Math.max(...values) / 1000).toFixed(2)})`
  const rows = steps.map(({ size, rules, sets, closed, opened, cpuMsPerChange, pss, cpuShare }) => [
    String(size),
    String(rules),
    String(sets),
    range(closed),
    range(opened),
    (cpuMsPerChange / 1000).toFixed(2),
    (pss / 1e6).toFixed(0),
    (cpuShare * 100).toFixed(2),
  ])
  const head = ['pods and policies', 'rules on w1', 'sets', 'denied after (s)', 'allowed after (s)']
  const costs = ['processor time per change (s)', `${engine}, PSS (MB)`, 'at rest, % of a core']
  return renderTable([...head, ...costs], rows)
}

function formatEvidence(): string {
  const faultRows = results.faults.map(({ fault, replacedAfter, enforcedAfter, tried, leaked, service }) => [
    fault,
    replacedAfter.toFixed(1),
    enforcedAfter.toFixed(1),
    String(tried),
    String(leaked),
    String(service.requests),
    String(service.failed.length),
  ])
  return `# NetworkPolicy with many pods and policies

Written by \`npx vitest run --project full test/full/network-policy-scale.test.ts\` on ${new Date().toISOString().slice(0, 10)}:
Kubernetes 1.37.1 on 1+1 hosts of the lab, all on the same two cores. One cluster has flannel and kube-router 2.10.0, the defaults. The other one
has Calico 3.31.0 with felix, which writes nftables rules.

As many policies as pods, one policy for each pod. Of the pods, ${runningPods} really run on the measured node w1. The others are objects
with an address, as pods of another node are for the engine. A change is a policy that denies all connections to one more pod: created until no
probe pod reaches it, then removed until all do. Median, minimum and maximum of ${rounds} changes each. A pod counts as denied when the first
connection begins that fails, because felix drops packets, and kube-router rejects them. A client repeats a dropped packet after a second.

## kube-router

${renderSteps(results.kubeRouter, 'kube-router')}

## felix

${renderSteps(results.felix, 'felix')}

## A failing kube-router, at the largest size and under load

A policy closes one pod of w1. Probe pods try to reach this pod until kube-router runs again. Meanwhile w1 sends 100 requests per second to a
Service whose pods have no policy, and 50 API requests and 5 writes per second.

${renderTable(['kube-router', 'runs again after (s)', 'changes have an effect after (s)', 'closed connections tried', 'of them open', 'service requests', 'of them failed'], faultRows)}

The rules stay in the kernel while kube-router does not run, so closed pods stay closed. New pods and changed policies wait.

felix is faster with many policies: it changes only what a policy affects, and has no rules for pods of other nodes. kube-router writes all its rules
again. At rest felix uses more processor time.

Not measured: IPv6, and a failing felix.
`
}
