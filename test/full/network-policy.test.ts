import { beforeAll, expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  applyPolicy,
  denyEgress,
  denyIngress,
  expectPoliciesEnforced,
  expectRulesSurviveKill,
  reaches,
  readMainPid,
  removeGuardedPod,
  removePolicy,
  startGuardedPod,
  waitForReach,
} from '../support/network-policy.ts'
import { measureNewPodWindow } from '../support/policy-window.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import {
  expectNothingToReport,
  expectResetLeavesNothing,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

const clusterNow = setUpCluster('network-policy', '1+1', '1.37.1')
let pods: ProbePod[]
let worker: Host

beforeAll(async () => {
  pods = await startPodOnEachNode(clusterNow())
  const found = clusterNow().hosts.find(({ name }) => name === 'w1')
  if (found === undefined) throw new Error('there is no w1')
  worker = found
}, 300_000)

test('policies apply in both directions, on the same node and across nodes', async () =>
  expectPoliciesEnforced(clusterNow(), pods))

test('rules stay when kube-router is killed', async () => expectRulesSurviveKill(clusterNow(), pods))

test('status and a second plan have nothing to report', async () => expectNothingToReport(clusterNow()))

test('a kube-router that hangs is restarted; its rules stay', async () => {
  const { api } = clusterNow()
  const target = await startGuardedPod(clusterNow(), 'w1', pods)
  await applyPolicy(api, denyIngress)
  await waitForReach(api, pods, target, false)
  const before = await readMainPid(worker)
  const began = performance.now()
  await worker.exec(['kill', '-STOP', before])
  expect(await Promise.all(pods.map(async (pod) => reaches(api, pod, target)))).toEqual([false, false])
  await waitForNewProcess(before)
  process.stderr.write(`hung kube-router: restarted after ${seconds(began)} s\n`)
  await waitForReach(api, pods, target, false)
  await removePolicy(api, denyIngress)
  await waitForReach(api, pods, target, true)
  await removeGuardedPod(api, target)
})

test('flushed rules are found and written again', async () => {
  const { api } = clusterNow()
  const target = await startGuardedPod(clusterNow(), 'w1', pods)
  await applyPolicy(api, denyIngress)
  await waitForReach(api, pods, target, false)
  const before = await readMainPid(worker)
  const began = performance.now()
  await worker.exec(['iptables', '-F', 'FORWARD'])
  await waitForReach(api, pods, target, true)
  await waitForNewProcess(before)
  await waitForReach(api, pods, target, false)
  expect(await readMainPid(worker)).not.toBe(before)
  process.stderr.write(`flushed rules: enforced again after ${seconds(began)} s\n`)
  await removePolicy(api, denyIngress)
  await removeGuardedPod(api, target)
})

test('the window of a new pod is measured', async () => {
  const { api } = clusterNow()
  const [target] = pods
  if (target === undefined) throw new Error('there is no probe pod')
  const windows: number[] = []
  for (let round = 1; round <= 5; round++) windows.push(await measureNewPodWindow(api, 'w1', target, round))
  process.stderr.write(`new pod: unfiltered for ${windows.join(', ')} ms\n`)
  expect(Math.max(...windows)).toBeLessThan(10_000)
})

test('with policy: none nothing is enforced, and no rule is left', async () => {
  const { api, operator, hosts } = clusterNow()
  await operator.edit((document) => document.setIn(['spec', 'network', 'policy'], 'none'))
  const planned = await operator.must(3, 'plan', '--wide')
  expect(planned.stderr + planned.stdout).toContain('NetworkPolicy objects are not enforced')
  expect(planned.stdout).toContain('- service kube-router.service')
  await operator.must(0, 'up', '--yes')
  for (const host of hosts) {
    const { stdout } = await host.script('iptables-save; ipset list -name')
    expect(stdout, host.name).not.toMatch(/KUBE-(ROUTER|NWPLCY|POD-FW|SRC|DST)-/)
  }
  const target = await startGuardedPod(clusterNow(), 'w1', pods)
  await applyPolicy(api, denyIngress)
  await applyPolicy(api, denyEgress)
  // Enforcement took less than a second in the tests above, so five seconds show that there is none.
  const until = performance.now() + 5000
  while (performance.now() < until)
    for (const pod of pods) expect(await reaches(api, pod, target), pod.node).toBe(true)
  await operator.edit((document) => document.deleteIn(['spec', 'network', 'policy']))
  const again = await operator.must(3, 'plan', '--wide')
  expect(again.stdout).toContain('+ service kube-router.service')
  await operator.must(0, 'up', '--yes')
  await waitForReach(api, pods, target, false)
  await removePolicy(api, denyEgress)
  await removePolicy(api, denyIngress)
  await removeGuardedPod(api, target)
})

test('reset restores the initial state of every host', async () =>
  expectResetLeavesNothing(clusterNow(), undefined))

async function waitForNewProcess(before: string): Promise<void> {
  await pollUntil(
    'another process of kube-router',
    async () => !['0', before].includes(await readMainPid(worker)),
    { timeoutMs: 180_000, intervalMs: 250 },
  )
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}
