import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import { conformanceParts } from '../../lab/components/parts.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { prepareCalicoHosts, useCalico } from '../support/calico.ts'
import { expectThirtyTestsPass } from '../support/conformance-tests.ts'
import { openFreshLab } from '../support/lab.ts'
import { startDnsServer } from '../support/test-dns-server.ts'
import { createUpCluster, type UpCluster } from '../support/up-cluster.ts'
import {
  expectNodesReady,
  expectNothingToReport,
  expectPodsReachEachOther,
  expectResetLeavesNothing,
  expectServiceReachable,
  startPodOnEachNode,
} from '../support/up-expectations.ts'
import { runUpstreamTests } from '../support/upstream-tests.ts'

const kubernetes = 'v1.37.1'
/** Regular expression of the NetworkPolicy tests to run. Without it, all that the lab's kernel supports run. */
const focus = process.env['POLICY_FOCUS'] ?? ''
const stack = new AsyncDisposableStack()
let cluster: UpCluster
let pods: ProbePod[]

beforeAll(async () => {
  const lab = await openFreshLab('calico')
  stack.defer(async () => lab.down())
  const began = performance.now()
  cluster = await createUpCluster(lab, '1+1', kubernetes.slice(1), {
    ...{ addons: true, forward: [lab.gateway] },
    parts: ['calico', ...conformanceParts],
    beforeLock: useCalico,
    // The address of the gateway exists as soon as the hosts run.
    async prepare({ hosts }) {
      stack.use(await startDnsServer(lab.gateway))
      await prepareCalicoHosts(hosts)
    },
  })
  stack.defer(async () => cluster.close())
  report(`up ended after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  pods = await startPodOnEachNode(cluster)
}, 1_800_000)
afterAll(async () => stack.disposeAsync())

test('up waits for Calico, and its smoke test passes', async () => {
  await expectNodesReady(cluster, kubernetes)
  expect(cluster.firstUp.stderr).toContain('objects of the network addon calico')
  expect(cluster.firstUp.stderr).toContain('smoke test of pods and services on every node')
})

test('a second up has nothing to do, and status and doctor have nothing to report', async () => {
  await expectNothingToReport(cluster)
  await cluster.operator.must(0, 'up', '--yes')
  await cluster.operator.must(0, 'doctor')
})

test('pods reach each other and a Service, also through VXLAN', async () => {
  await expectPodsReachEachOther(cluster, pods)
  await expectServiceReachable(cluster, pods)
  await useVxlanEverywhere()
  await expectPodsReachEachOther(cluster, pods)
  await expectServiceReachable(cluster, pods)
})

test('thirty conformance tests pass', { timeout: 3_600_000 }, async () => {
  const { counts, seconds } = await expectThirtyTestsPass(cluster)
  report(`thirty conformance tests: ${counts.passed} passed in ${seconds.toFixed(0)} s`)
})

test('upstream’s NetworkPolicy tests pass', { timeout: 7_200_000 }, async () => {
  const tests = await runUpstreamTests(cluster, {
    focus: `(?:${focus}).*Feature:NetworkPolicy`,
    skip: 'SCTPConnectivity',
  })
  for (const { name, state, seconds } of tests) report(`${state} ${seconds.toFixed(0)} s ${name}`)
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(({ state }) => state !== 'passed')).toEqual([])
})

test('reset restores the initial state of every host', { timeout: 600_000 }, async () =>
  expectResetLeavesNothing(cluster, undefined),
)

/** Makes Calico wrap packets between all nodes. By default it does so only between subnets. */
async function useVxlanEverywhere(): Promise<void> {
  const path = '/apis/crd.projectcalico.org/v1/ippools/default-ipv4-ippool'
  const pool = await cluster.api.get<{ spec: object }>(path)
  await cluster.api.replace(path, { ...pool, spec: { ...pool.spec, vxlanMode: 'Always' } })
  for (const host of cluster.hosts)
    await pollUntil(
      `routes through vxlan.calico on ${host.name}`,
      async () => (await host.script('ip route')).stdout.includes('dev vxlan.calico'),
      { timeoutMs: 60_000 },
    )
}

function report(line: string): void {
  process.stderr.write(`calico: ${line}\n`)
}
