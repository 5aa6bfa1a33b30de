import { beforeAll, describe, expect, test } from 'vitest'
import { probe } from '../../lab/bench/workload.ts'
import { toIpv6Address } from '../../lab/hosts/names.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { type DualStackFigures, writeDualStackEvidence } from '../support/dual-stack-evidence.ts'
import {
  createDualStackService,
  curlFromHost,
  type DualStackPod,
  expectDualStackNodes,
  ipv4First,
  ipv6First,
  expectLargeIpv6Packets,
  readDualStackPod,
  readPodMtus,
  setDualStack,
  expectBothFamilies,
  waitForPodFromHost,
  waitForResponse,
} from '../support/dual-stack.ts'
import {
  applyPolicy,
  denyEgress,
  denyIngress,
  removeGuardedPod,
  removePolicy,
  startGuardedPod,
} from '../support/network-policy.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import {
  expectNothingToReport,
  expectResetLeavesNothing,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

const shape = '1+1'
const ipv6Link = 'flannel-v6.4096'
const results: DualStackFigures[] = []

describe.each([
  { order: 'IPv4 first', families: ipv4First },
  { order: 'IPv6 first', families: ipv6First },
])('$order', ({ order, families }) => {
  const clusterNow = setUpCluster(`dual-stack-${families[0]}`, shape, '1.37.1', {
    beforeLock: async (operator) => setDualStack(operator, families),
  })
  let pods: DualStackPod[]
  let worker: Host
  let [serviceAddresses, policySeconds, routeSeconds]: [readonly string[], number, number] = [[], 0, 0]

  beforeAll(async () => {
    const cluster = clusterNow()
    const started = await startPodOnEachNode(cluster)
    pods = await Promise.all(started.map(async (pod) => readDualStackPod(cluster.api, pod, families)))
    const found = cluster.hosts.find(({ name }) => name === 'w1')
    if (found === undefined) throw new Error('there is no w1')
    worker = found
  }, 300_000)

  test('each node has an address and a pod network of each family', async () =>
    expectDualStackNodes(clusterNow(), families))

  test('pods of all nodes reach each other over IPv4 and IPv6, also with large packets', async () => {
    const { api, hosts } = clusterNow()
    for (const from of pods) {
      for (const to of pods) {
        expect(await waitForResponse(api, from, to.address, probe.port)).toBe(to.name)
        expect(await waitForResponse(api, from, to.ipv6Address, probe.port)).toBe(to.name)
        await expectLargeIpv6Packets(api, from, to)
      }
    }
    // VXLAN over IPv6 adds 70 bytes to a packet of at most 1500 bytes.
    for (const host of hosts) expect(await readPodMtus(host), host.name).toEqual([1430, 1430, 1430])
  })

  test('pods and hosts reach a dual-stack Service at both addresses and on the node ports', async () => {
    const { api, hosts } = clusterNow()
    const { addresses, nodePort } = await createDualStackService(api, families)
    const names = pods.map(({ name }) => name)
    for (const address of addresses)
      for (const from of pods) expect(names).toContain(await waitForResponse(api, from, address, 80))
    for (const host of hosts) {
      for (const address of addresses) expect(names).toContain(await curlFromHost(host, address, 80))
      for (const { address } of hosts) {
        expect(names).toContain(await curlFromHost(host, address, nodePort))
        expect(names).toContain(await curlFromHost(host, toIpv6Address(address), nodePort))
      }
    }
    serviceAddresses = addresses
  })

  test('NetworkPolicy is enforced over both families', async () => {
    const { api } = clusterNow()
    const target = await readDualStackPod(api, await startGuardedPod(clusterNow(), 'w1', pods), families)
    for (const policy of [denyIngress, denyEgress]) {
      await applyPolicy(api, policy)
      await expectBothFamilies(api, pods, target, false)
      await removePolicy(api, policy)
      await expectBothFamilies(api, pods, target, true)
    }
    await removeGuardedPod(api, target)
  })

  test('status and a second plan have nothing to report', async () => expectNothingToReport(clusterNow()))

  test('a change to IPv4 only, or of the order, is refused and changes nothing', async () => {
    const { operator } = clusterNow()
    const expectRefused = async (): Promise<void> => {
      const { stdout, stderr, code } = await operator.hyperkube('plan')
      expect(code).not.toBe(0)
      expect(`${stdout}${stderr}`).toContain('PLAN_ADDRESS_FAMILIES')
    }
    await operator.edit((document) => document.deleteIn(['spec', 'network']))
    await expectRefused()
    await setDualStack(operator, families === ipv4First ? ipv6First : ipv4First)
    await expectRefused()
    await setDualStack(operator, families)
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  })

  test('lost IPv6 rules and routes are found and restored', async () => {
    const { api } = clusterNow()
    const target = await readDualStackPod(api, await startGuardedPod(clusterNow(), 'w1', pods), families)
    await applyPolicy(api, denyIngress)
    await expectBothFamilies(api, pods, target, false)
    policySeconds = await measure(async () => {
      await worker.exec(['ip6tables', '-F', 'FORWARD'])
      await pollUntil(
        'IPv6 rules of kube-router',
        async () => (await worker.exec(['ip6tables-save'])).stdout.includes('-A FORWARD'),
        { timeoutMs: 180_000, intervalMs: 250 },
      )
      await expectBothFamilies(api, pods, target, false)
    })
    await removePolicy(api, denyIngress)
    await expectBothFamilies(api, pods, target, true)
    await removeGuardedPod(api, target)
    const peer = pods.find(({ node }) => node !== 'w1')
    if (peer === undefined) throw new Error('there is no probe pod')
    routeSeconds = await measure(async () => {
      await worker.script(`ip -6 route show dev ${ipv6Link} | grep ' via ' | while read -r network _; do
      ip -6 route delete "$network" dev ${ipv6Link}
    done`)
      // With IPv6 first the API server reaches pods of this host over the same routes, so the host itself asks.
      await expect(curlFromHost(worker, peer.ipv6Address, probe.port)).rejects.toThrow('curl')
      expect(await waitForPodFromHost(worker, peer.ipv6Address, probe.port)).toBe(peer.name)
    })
  })

  test('reset restores the initial state of every host', async () => {
    await expectResetLeavesNothing(clusterNow(), undefined)
    results.push({ order, serviceAddresses, policySeconds, routeSeconds })
    await writeDualStackEvidence({ shape, results })
  })
})

async function measure(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}
