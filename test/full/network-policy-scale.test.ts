import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { BusyCluster } from '../support/busy-cluster.ts'
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
import { countRules, createPodsAndPolicies, prepareScale, runningPods } from '../support/policy-scale.ts'
import { measureServices, readServiceUsage } from '../support/service-cost.ts'
import type { ServiceFigures } from '../support/service-load.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { startPodOnEachNode } from '../support/up-expectations.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/network-policy-scale.md')
/** Numbers of pods and of policies, ascending. */
const sizes = [0, 100, 1000]
const rounds = 5
const restMs = 60_000
const clusterNow = setUpCluster('network-policy-scale', '1+1', '1.37.1')

interface Step {
  readonly size: number
  readonly rules: number
  readonly sets: number
  /** Milliseconds from the creation or removal of a policy to its effect. */
  readonly closed: readonly number[]
  readonly opened: readonly number[]
  /** Processor time of kube-router for one change, in milliseconds. */
  readonly cpuMsPerChange: number
  readonly pss: number
  readonly cpuShare: number
}

type FaultUnderLoad = EngineFaultResult & { readonly service: ServiceFigures }

test(
  'policies have an effect with 1,000 pods and 1,000 policies, also while kube-router fails',
  { timeout: 3_000_000 },
  async () => {
    const { api, hosts, operator } = clusterNow()
    const worker = hosts.find(({ name }) => name === 'w1')
    if (worker === undefined) throw new Error('there is no w1')
    const sources = await startPodOnEachNode(clusterNow())
    const target = await startGuardedPod({ api }, 'w1', sources)
    await prepareScale(api)
    const steps: Step[] = []
    let previous = 0
    for (const size of sizes) {
      await createPodsAndPolicies(api, 'w1', { from: previous, to: size })
      steps.push(await measureStep(worker, size, sources, target))
      await writeFile(evidence, formatEvidence(steps, []))
      previous = size
    }
    const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
    const faults: FaultUnderLoad[] = []
    for (const fault of ['killed', 'hung', 'stopped', 'restarted'] as const) {
      const busy = await BusyCluster.open(api, worker, credentials)
      await busy.waitForFirstResponses()
      const result = await causeEngineFault(api, worker, fault, { sources, target })
      faults.push({ ...result, service: (await busy.stop(api)).service })
      await writeFile(evidence, formatEvidence(steps, faults))
    }
    await removeGuardedPod(api, target)
    for (const { fault, leaked, service } of faults) {
      expect(leaked, fault).toBe(0)
      expect(service.failed, fault).toEqual([])
    }
    expect(Math.max(...steps.flatMap(({ closed }) => closed))).toBeLessThan(30_000)
  },
)

async function measureStep(
  worker: Host,
  size: number,
  sources: readonly ProbePod[],
  target: ProbePod,
): Promise<Step> {
  const { api } = clusterNow()
  // The first change waits for the synchronization of all objects that were just created.
  await applyPolicy(api, denyIngress)
  await waitForReach(api, sources, target, false)
  await removePolicy(api, denyIngress)
  await waitForReach(api, sources, target, true)
  const [cost] = await measureServices(worker, ['kube-router'], { durationMs: restMs, samples: 6 })
  const before = await readCpuMs(worker)
  const [closed, opened]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    await applyPolicy(api, denyIngress)
    closed.push(await waitForReach(api, sources, target, false))
    await removePolicy(api, denyIngress)
    opened.push(await waitForReach(api, sources, target, true))
  }
  const cpuMsPerChange = ((await readCpuMs(worker)) - before) / (2 * rounds)
  const { pss = 0, cpuShare = 0 } = cost ?? {}
  return { size, ...(await countRules(worker)), closed, opened, cpuMsPerChange, pss, cpuShare }
}

async function readCpuMs(worker: Host): Promise<number> {
  const [usage] = await readServiceUsage(worker, ['kube-router'])
  return usage?.cpuMs ?? Number.NaN
}

function formatEvidence(steps: readonly Step[], faults: readonly FaultUnderLoad[]): string {
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
  const faultRows = faults.map(({ fault, replacedAfter, enforcedAfter, tried, leaked, service }) => [
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
Kubernetes 1.37.1 with flannel and kube-router 2.10.0 on 1+1 hosts of the lab, all on the same two cores.

As many policies as pods, one policy for each pod. Of the pods, ${runningPods} really run on the measured node w1. The others are objects
with an address, as pods of another node are for kube-router. A change is a policy that denies all connections to one more pod: created until no
probe pod reaches it, then removed until all do. Median, minimum and maximum of ${rounds} changes each.

${renderTable(['pods and policies', 'rules on w1', 'sets', 'denied after (s)', 'allowed after (s)', 'processor time per change (s)', 'kube-router, PSS (MB)', 'at rest, % of a core'], rows)}

## A policy engine that fails, at the largest size and under load

A policy closes one pod of w1. Probe pods try to reach this pod until kube-router runs again. Meanwhile w1 sends 100 requests per second to a
Service whose pods have no policy, and 50 API requests and 5 writes per second.

${renderTable(['kube-router', 'runs again after (s)', 'changes have an effect after (s)', 'closed connections tried', 'of them open', 'service requests', 'of them failed'], faultRows)}

The rules stay in the kernel while kube-router does not run, so closed pods stay closed. New pods and changed policies wait.

Not measured: another policy engine at the same size, and IPv6.
`
}
