import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import { conformanceParts, type KubernetesVersion } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import {
  expectCoreDnsSpread,
  expectIngressServed,
  expectLookupsWhileCoreDnsDies,
  expectNamesResolve,
  expectUsageOfNodesAndPods,
  expectVolumeKeepsData,
} from '../support/built-in-addons.ts'
import { ciRates } from '../support/busy-cluster.ts'
import { expectChartManaged } from '../support/chart-addon.ts'
import { expectTestsListed, expectThirtyTestsPass } from '../support/conformance-tests.ts'
import { runAsPlanned } from '../support/dry-run.ts'
import type { SuiteSize } from '../support/executable-setup.ts'
import { expectFiveFaultsHealed } from '../support/five-faults.ts'
import { takeHostSnapshot } from '../support/host-snapshot.ts'
import { expectStatusOfHostsByName } from '../support/hosts-by-name.ts'
import { waitUntilIdle } from '../support/idle-cost.ts'
import { openFreshLab } from '../support/lab.ts'
import { listHostNames, listReadyNodes, listVoters } from '../support/membership.ts'
import {
  expectDrainBlockedAtDeadline,
  expectDrainInterrupted,
  expectDrainKeepsBudget,
  expectForeignCordonKept,
  expectImpossibleDrainRefused,
  isCordoned,
} from '../support/node-drain.ts'
import { expectPoliciesEnforced, expectRulesSurviveKill } from '../support/network-policy.ts'
import type { Operator } from '../support/operator.ts'
import {
  expectControllerCopies,
  expectDriftReportedAndFixed,
  expectPolicyChecked,
} from '../support/sdk-examples.ts'
import { expectNoLeaks } from '../support/secrets.ts'
import {
  expectBadSnapshotsRefused,
  expectInterruptedVerifyCleanedUp,
  expectPruneKeepsNamedSnapshots,
  expectSnapshotRestorable,
} from '../support/snapshot-commands.ts'
import { startDnsServer } from '../support/test-dns-server.ts'
import { openAttack, runAttacks } from '../support/attacks/run-attacks.ts'
import { buildTenantAttacks, createTenant } from '../support/attacks/tenant-attacks.ts'
import { buildPodAttacks, buildWorkerAttacks } from '../support/attacks/worker-attacks.ts'
import { type UpCluster, createUpCluster } from '../support/up-cluster.ts'
import {
  type AddedHost,
  expectDriftFixed,
  expectEtcdHealthy,
  expectHostObjectsAndLeader,
  expectKubectlReachesPods,
  expectNodesReady,
  expectPlannedOpsInJournals,
  expectPodsReachEachOther,
  expectResetLeavesNothing,
  expectRolesOfNodes,
  expectServiceReachable,
  startPodOnEachNode,
} from '../support/up-expectations.ts'
import { upgradeUnderLoad } from '../support/upgrade-under-load.ts'
import {
  expectAddonDriftFixed,
  expectFieldOwnersRespected,
  expectUserAddonManaged,
} from '../support/user-addons.ts'

interface TestedCluster {
  readonly shape: string
  readonly kubernetes: KubernetesVersion
  /** True to install and test the built-in addons, and an addon of a user. */
  readonly addons?: true
  /** True to measure the resources that an idle host uses. */
  readonly idle?: true
  /** Tests operations on the running cluster, among them an upgrade to this version. Requires 3+2 hosts. */
  readonly upgradeTo?: KubernetesVersion
}

const clustersBySize: Readonly<Record<SuiteSize, readonly TestedCluster[]>> = {
  // CI tests the newer Kubernetes version in the air-gap test, so this test starts with the older one.
  ci: [{ shape: '3+2', kubernetes: 'v1.36.4', addons: true, upgradeTo: 'v1.37.1' }],
  full: [
    { shape: '1+0', kubernetes: 'v1.36.4' },
    { shape: '1+0', kubernetes: 'v1.37.1' },
    { shape: '1+1', kubernetes: 'v1.36.4' },
    { shape: '1+1', kubernetes: 'v1.37.1' },
    { shape: '3+2', kubernetes: 'v1.37.1', addons: true, idle: true },
  ],
}

describe.each(clustersBySize[inject('size')])(
  'hyperkube up, $shape, Kubernetes $kubernetes',
  ({ shape, kubernetes, addons = false, idle = false, upgradeTo }) => {
    let lab: Lab
    let cluster: UpCluster
    let outsideNames: AsyncDisposable | undefined
    const clusterNow = (): UpCluster => cluster

    beforeAll(async () => {
      lab = await openFreshLab('up')
      const prepare = async ({ edit }: Operator): Promise<void> => {
        if (!addons) return
        outsideNames = await startDnsServer(lab.gateway)
        await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
      }
      const parts = [...(addons ? ['helm'] : []), ...(upgradeTo === undefined ? [] : conformanceParts)]
      cluster = await createUpCluster(lab, shape, kubernetes.slice(1), { addons, prepare, parts })
    }, 900_000)
    afterAll(async () => {
      try {
        await cluster.close()
      } finally {
        await outsideNames?.[Symbol.asyncDispose]()
        await lab.down()
      }
    })

    // All tests share one cluster, so their order matters.
    describeNewCluster(clusterNow, kubernetes)
    if (addons) describeAddons(clusterNow, kubernetes)
    describeFirstUp(clusterNow)
    if (idle) testIdleHost(clusterNow)
    describeAnotherUp(clusterNow)
    if (upgradeTo === undefined) {
      describeEnd(clusterNow, () => undefined)
    } else {
      describeSdk(clusterNow)
      describeHealing(clusterNow)
      describeSnapshots(clusterNow)
      describeDrain(clusterNow, kubernetes)
      describeUpgrade(clusterNow, upgradeTo)
      describeConformance(clusterNow)
      const readAddedHost = describeReplacement(clusterNow)
      describeEnd(clusterNow, readAddedHost)
    }
  },
)

function describeNewCluster(clusterNow: () => UpCluster, kubernetes: KubernetesVersion): void {
  describe('a new cluster', () => {
    let pods: ProbePod[]

    test('all nodes are Ready and run the selected Kubernetes version', async () =>
      expectNodesReady(clusterNow(), kubernetes))

    test('every etcd member is healthy', async () => expectEtcdHealthy(clusterNow()))

    test('a pod with a pulled image runs on each node, and pods reach each other across hosts', async () => {
      pods = await startPodOnEachNode(clusterNow())
      await expectPodsReachEachOther(clusterNow(), pods)
    })

    test('a service is reachable from every pod', async () => expectServiceReachable(clusterNow(), pods))

    test('NetworkPolicy applies in both directions, on the same node and across nodes', async () =>
      expectPoliciesEnforced(clusterNow(), pods))

    test('policies stay enforced while kube-router is killed', async () =>
      expectRulesSurviveKill(clusterNow(), pods))

    test('kubectl logs and exec work, and the API server verifies kubelet certificates', async () =>
      expectKubectlReachesPods(clusterNow(), kubernetes, pods))
  })
}

function describeAddons(clusterNow: () => UpCluster, kubernetes: KubernetesVersion): void {
  describe('built-in addons', () => {
    test('DNS resolves services, headless services, pods and external names on every node', async () =>
      expectNamesResolve(clusterNow()))

    test('CoreDNS pods are on different nodes', async () => expectCoreDnsSpread(clusterNow()))

    test('no lookup fails while one CoreDNS pod is killed', async () =>
      expectLookupsWhileCoreDnsDies(clusterNow()))

    test('kubectl top shows the usage of nodes and pods, over verified certificates', async () =>
      expectUsageOfNodesAndPods(clusterNow(), kubernetes))

    test('an Ingress with a host and TLS is served at the address of every control plane', async () =>
      expectIngressServed(clusterNow()))

    test('the files on a worker give its root user no access beyond that worker', async () => {
      const context = await openAttack(clusterNow())
      const tenant = await createTenant(context)
      const attacks = [
        ...buildTenantAttacks(context, tenant),
        ...buildPodAttacks(context),
        ...buildWorkerAttacks(context),
      ]
      expect(attacks.length).toBeGreaterThan(60)
      expect(await runAttacks(attacks)).toEqual([])
    })

    test('data in a volume claim is kept for the next pod', async () => expectVolumeKeepsData(clusterNow()))

    test('addon list shows all addons as ready', async () => {
      const { code, stdout, stderr } = await clusterNow().hyperkube('addon', 'list', '-o', 'json')
      expect(code, stderr).toBe(0)
      const states = JSON.parse(stdout).addons.map(
        ({ name, state }: Record<string, string>) => `${name} ${state}`,
      )
      const ready = ['coredns ready', 'metrics-server ready', 'traefik ready', 'local-path ready']
      expect(states).toEqual([...ready, 'metallb off'])
    })
  })

  describe('addons of a user', () => {
    test('a user’s addon is applied, changed, pruned and removed, and foreign objects are kept', async () =>
      expectUserAddonManaged(clusterNow()))

    test('a Helm chart is installed, changed, restored after drift, and removed', async () =>
      expectChartManaged(clusterNow()))

    test('a field of another manager is refused with a hint, and force takes it over', async () =>
      expectFieldOwnersRespected(clusterNow(), kubernetes))

    test('drift of an addon is shown by plan and fixed by up', async () =>
      expectAddonDriftFixed(clusterNow(), kubernetes))
  })
}

function describeFirstUp(clusterNow: () => UpCluster): void {
  describe('the result of the first up', () => {
    test('the journals of the hosts contain exactly the planned ops', async () =>
      expectPlannedOpsInJournals(clusterNow()))

    test('nodes have their role labels and taints, which kubelets may not set', async () =>
      expectRolesOfNodes(clusterNow()))

    test('every host has a Host object, and one controller manager leads', async () =>
      expectHostObjectsAndLeader(clusterNow()))

    test('status reports a healthy cluster', async () => {
      const { code, stdout } = await clusterNow().hyperkube('status')
      const amount = clusterNow().hosts.length
      expect(code, stdout).toBe(0)
      expect(stdout).toContain(`${amount} of ${amount} hosts reachable, ${amount} of ${amount} nodes ready`)
    })

    test('status and etcd status find all members of hosts that cluster.yml knows only by name', async () =>
      expectStatusOfHostsByName(clusterNow()))
  })
}

function testIdleHost(clusterNow: () => UpCluster): void {
  test(
    'the agent and proxy of an idle host use less than 140 MB and 2 % of a core',
    { timeout: 240_000 },
    async () => {
      // The timeout is long, because the host needs some time to become idle.
      const options = { maxCpuShare: 0.02, timeoutMs: 200_000 }
      const { pss, cpuShare } = await waitUntilIdle(clusterNow().hosts.at(-1), options)
      expect(pss).toBeLessThan(140e6)
      expect(cpuShare).toBeLessThan(0.02)
    },
  )
}

function describeAnotherUp(clusterNow: () => UpCluster): void {
  describe('another up', () => {
    test('a second up has nothing to do', async () => {
      const began = performance.now()
      const { code, stderr } = await clusterNow().hyperkube('up', '--yes')
      process.stderr.write(`a second up: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
      expect(code).toBe(0)
      expect(stderr).toContain('nothing to do')
    })

    test('drift is shown by plan and fixed by up, and other resources stay unchanged', async () =>
      expectDriftFixed(clusterNow()))
  })
}

function describeSdk(clusterNow: () => UpCluster): void {
  describe('examples of the SDK', () => {
    test('the policy check reads the plan of the cluster', () => expectPolicyChecked(clusterNow()))

    test('the drift report names a changed file, and the provider of Pulumi fixes it', async () =>
      expectDriftReportedAndFixed(clusterNow()))

    test('a controller copies a ConfigMap, and another one takes over', async () =>
      expectControllerCopies(clusterNow()))
  })
}

function describeHealing(clusterNow: () => UpCluster): void {
  describe('healing', () => {
    test(
      'five simultaneous faults are named by doctor and healed by agents, and no data is lost',
      { timeout: 900_000 },
      async () => expectFiveFaultsHealed(clusterNow()),
    )

    test(
      'the agent of a healthy control plane uses less than 170 MB and 3 % of a core',
      { timeout: 240_000 },
      async () => {
        const options = { maxCpuShare: 0.03, timeoutMs: 150_000 }
        const { pss, cpuShare } = await waitUntilIdle(clusterNow().hosts[0], options)
        expect(pss).toBeLessThan(170e6)
        expect(cpuShare).toBeLessThan(0.03)
      },
    )
  })
}

function describeSnapshots(clusterNow: () => UpCluster): void {
  describe('snapshots', () => {
    test('node list and kubectl list all nodes, and kubectl receives its arguments unchanged', async () => {
      const { operator, hosts } = clusterNow()
      const { stdout } = await operator.must(0, 'node', 'list')
      const nodes = await operator.must(0, 'kubectl', 'get', 'nodes', '-o', 'name')
      for (const { name } of hosts) {
        expect(stdout).toMatch(new RegExp(String.raw`^${name} .*v1\.36\.4 .*ready$`, 'm'))
        expect(nodes.stdout.split('\n')).toContain(`node/${name}`)
      }
      await operator.must(1, 'kubectl', 'get', 'pod', 'no-such-pod')
    })

    test('etcd status shows the leader', async () => {
      const { stdout } = await clusterNow().operator.must(0, 'etcd', 'status')
      expect(stdout).toMatch(/ready\s+leader/)
    })

    test('a saved snapshot can be restored with all its keys', { timeout: 300_000 }, async () =>
      expectSnapshotRestorable(clusterNow()),
    )

    test('a damaged, truncated or foreign snapshot is refused', async () =>
      expectBadSnapshotsRefused(clusterNow()))

    test('an interrupted verify leaves no process and no directory', { timeout: 300_000 }, async () =>
      expectInterruptedVerifyCleanedUp(clusterNow()),
    )

    test(
      'prune shows what it would remove, and keeps snapshots with custom names',
      { timeout: 300_000 },
      async () => expectPruneKeepsNamedSnapshots(clusterNow()),
    )
  })
}

function describeDrain(clusterNow: () => UpCluster, kubernetes: KubernetesVersion): void {
  describe('node drain', () => {
    test(
      'pods are evicted within their disruption budget, and one pod is always available',
      { timeout: 300_000 },
      async () => expectDrainKeepsBudget(clusterNow(), kubernetes),
    )

    test('uncordon makes the node schedulable again', async () => {
      const { code, stdout } = await clusterNow().hyperkube('node', 'uncordon', 'w1')
      expect([code, stdout]).toEqual([0, 'w1 is uncordoned\n'])
      expect(await isCordoned(clusterNow(), 'w1')).toBe(false)
    })

    test(
      'a disruption budget that allows no eviction is refused before any change',
      { timeout: 300_000 },
      async () => expectImpossibleDrainRefused(clusterNow(), kubernetes),
    )

    test('at the deadline the blocking budget is reported, and the node stays cordoned', async () =>
      expectDrainBlockedAtDeadline(clusterNow()))

    test('an interruption ends a waiting drain', async () => expectDrainInterrupted(clusterNow()))

    test('a node cordoned by an administrator stays cordoned', { timeout: 300_000 }, async () =>
      expectForeignCordonKept(clusterNow(), kubernetes),
    )
  })
}

function describeUpgrade(clusterNow: () => UpCluster, to: KubernetesVersion): void {
  describe('upgrade', () => {
    const version = to.slice(1)

    test('upgrade --dry-run shows the steps and changes nothing', async () => {
      const { operator } = clusterNow()
      const { stderr } = await operator.must(3, 'upgrade', '--to', version, '--dry-run')
      expect(stderr).toContain(
        'etcd and API server on cp1, while 2 of 3 etcd members are healthy without cp1',
      )
      expect(stderr).toContain('drained first')
      await operator.must(0, 'plan')
    })

    test(`an upgrade to ${to} under load fails no request`, { timeout: 1_800_000 }, async () => {
      const { operator, hosts } = clusterNow()
      const [first, worker] = ['cp1', 'w1'].map((name) => hosts.find((host) => host.name === name))
      if (first === undefined || worker === undefined) throw new Error('there are no such hosts')
      await upgradeUnderLoad(operator, version, { hosts, server: first, from: worker, rates: ciRates })
      expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    })

    test('a downgrade and an unknown version are refused', async () => {
      const { operator } = clusterNow()
      expect((await operator.must(1, 'upgrade', '--to', '1.36.4')).stderr).toContain('UPGRADE_DOWNGRADE')
      expect((await operator.must(1, 'upgrade', '--to', '1.39.0')).stderr).toContain(
        'CATALOG_UNKNOWN_VERSION',
      )
    })
  })
}

function describeConformance(clusterNow: () => UpCluster): void {
  describe('conformance', () => {
    test(
      'the upstream test suite is fetched from the mirror and lists its tests',
      { timeout: 300_000 },
      async () => expectTestsListed(clusterNow()),
    )

    test('thirty conformance tests pass', { timeout: 1_200_000 }, async () =>
      expectThirtyTestsPass(clusterNow()),
    )
  })
}

/** Tests that cp4 replaces cp3. The returned function gives cp4 and the state of cp4 before it joined. */
function describeReplacement(clusterNow: () => UpCluster): () => AddedHost | undefined {
  let added: AddedHost | undefined
  describe('replacement of a control plane', () => {
    test('cp4 replaces cp3, and votes in etcd before cp3 is removed', { timeout: 600_000 }, async () => {
      const { lab, operator, api, hosts } = clusterNow()
      const [host] = await lab.up(['cp4'])
      if (host === undefined) throw new Error('there is no cp4')
      await writeKnownHosts(operator.directory, [...hosts, host])
      added = { host, before: await takeHostSnapshot(host) }
      const args = ['node', 'replace', 'cp3', '--by', 'cp4', '--address', host.address] as const
      const { shown } = await runAsPlanned(operator, [...hosts, host], args)
      expect(shown).toContain('etcd on cp4, while etcd is healthy on cp1, cp2 and cp3')
      expect(shown).toContain('remove cp3, drained first, removed from etcd')
      expect(await listVoters(host)).toEqual(['cp1', 'cp2', 'cp4'])
      expect(await listReadyNodes(api)).toEqual(['cp1', 'cp2', 'cp4', 'w1', 'w2'])
      expect(await listHostNames(api)).toEqual(['cp1', 'cp2', 'cp4', 'w1', 'w2'])
      expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    })
  })
  return () => added
}

function describeEnd(clusterNow: () => UpCluster, readAddedHost: () => AddedHost | undefined): void {
  describe('the end of a cluster', () => {
    test('no secret is in the output or in unplanned files on a host', async () =>
      expectNoLeaks(clusterNow()))

    test('reset restores the initial state of every host', async () =>
      expectResetLeavesNothing(clusterNow(), readAddedHost()))
  })
}
