import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAddonChecks } from '../../lab/bench/addon-checks.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  formatCisEvidence,
  mergeHosts,
  type Profile,
  type ProfileResults,
} from '../support/cis/cis-evidence.ts'
import { readReasons } from '../support/cis/deviations.ts'
import {
  type BenchKit,
  installBench,
  openBenchKit,
  runPolicyChecks,
  runShippedChecks,
  runUpstreamChecks,
} from '../support/cis/kube-bench.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const kubernetes = '1.37.1'
const evidence = join(import.meta.dirname, '../../docs/evidence/cis.md')
const image = 'registry.k8s.io/pause:3.10.2'

describe('a cluster checked against the CIS benchmark', () => {
  const clusterNow = setUpCluster('cis', '1+1', kubernetes, {
    addons: true,
    forward: [],
    prepare: async (operator) => operator.edit((file) => file.setIn(['spec', 'security', 'profile'], 'cis')),
  })
  const profiles: ProfileResults[] = []
  const reasons = readReasons()
  let kit: BenchKit

  beforeAll(async () => {
    kit = await openBenchKit()
    for (const host of clusterNow().hosts) await installBench(host, kit)
  }, 600_000)

  afterAll(async () => {
    await kit[Symbol.asyncDispose]()
  })

  /** Runs all targets on the hosts where they apply, and the policies with an operator's kubeconfig. */
  async function runBenchmark(profile: Profile): Promise<ProfileResults> {
    const cluster = clusterNow()
    const { hosts, directory } = cluster
    const [shipped, upstream] = [new Map(), new Map()]
    for (const host of hosts) {
      const targets = host.name.startsWith('cp') ? 'master,etcd,controlplane,node' : 'node'
      shipped.set(host.name, await runShippedChecks(host, targets))
      upstream.set(host.name, await runUpstreamChecks(host, targets))
    }
    const kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, (await cluster.hyperkube('kubeconfig')).stdout, { mode: 0o600 })
    const [built] = await buildComponents(selectParts([`kubernetes@v${kubernetes}`]), {
      cache: cacheDirectory(),
      report: silentReport,
    })
    const policies = await runPolicyChecks(kit, { kubeconfig, kubectl: built?.directory ?? '' })
    shipped.set('operator', policies.shipped)
    upstream.set('operator', policies.upstream)
    const results = { profile, shipped, upstream }
    profiles.push(results)
    return results
  }

  async function expectAddonsAvailable(): Promise<void> {
    const { api, hosts } = clusterNow()
    // The probe pods of this check do not satisfy the level restricted.
    const checks = listAddonChecks(api, hosts).filter(([what]) => !what.startsWith('a service name'))
    for (const [what, check] of checks)
      expect(await pollUntil(what, check, { timeoutMs: 180_000 }), what).toBe(true)
  }

  test('all addons come up with the profile cis', { timeout: 900_000 }, async () => {
    await expectAddonsAvailable()
  })

  test('pods without a restricted security context are refused', async () => {
    const { api } = clusterNow()
    const pods = '/api/v1/namespaces/default/pods'
    const spec = { containers: [{ name: 'pause', image }] }
    const refused = await api.create(pods, { metadata: { name: 'baseline' }, spec }).then(
      () => 'accepted',
      (error: unknown) => String(error),
    )
    expect(refused).toContain('violates PodSecurity \\"restricted:latest\\"')
  })

  test('a restricted pod of a new namespace runs without a token, and its image is pulled', async () => {
    const { api } = clusterNow()
    await api.create('/api/v1/namespaces', { metadata: { name: 'shop' } })
    const account = await pollUntil(
      'the default service account',
      async () =>
        api
          .get<{ automountServiceAccountToken?: boolean }>('/api/v1/namespaces/shop/serviceaccounts/default')
          .catch(() => undefined),
      { timeoutMs: 60_000 },
    )
    expect(account.automountServiceAccountToken).toBe(false)
    const pods = '/api/v1/namespaces/shop/pods'
    await api.create(pods, {
      metadata: { name: 'pause' },
      spec: {
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_534,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            name: 'pause',
            image,
            imagePullPolicy: 'IfNotPresent',
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    })
    const pod = await pollUntil(
      'the pod to run',
      async () => {
        const found = await api.get<Pod>(`${pods}/pause`)
        return found.status.phase === 'Running' && found
      },
      { timeoutMs: 120_000 },
    )
    expect(pod.spec.containers.map(({ imagePullPolicy }) => imagePullPolicy)).toEqual(['Always'])
    expect(pod.spec.volumes ?? []).toEqual([])
  })

  test('the profile cis has no failure, and each deviation has a reason', { timeout: 900_000 }, async () => {
    const results = mergeHosts((await runBenchmark('cis')).shipped)
    const open = results.filter(({ status, manual }) => status !== 'PASS' && !manual)
    process.stderr.write(`${open.map(({ id, status, actual }) => `${id} ${status} ${actual}`).join('\n')}\n`)
    expect(results.length).toBeGreaterThan(100)
    expect(open.filter(({ status }) => status === 'FAIL')).toEqual([])
    expect(open.map(({ id }) => id).filter((id) => !reasons.has(id))).toEqual([])
  })

  test('the profile default has no failure either, and keeps the addons', { timeout: 900_000 }, async () => {
    const { operator } = clusterNow()
    await operator.edit((file) => file.deleteIn(['spec', 'security']))
    await operator.must(0, 'up', '--yes')
    await expectAddonsAvailable()
    const { shipped, upstream } = await runBenchmark('default')
    const open = [...mergeHosts(shipped), ...mergeHosts(upstream)].filter(
      ({ status, manual }) => status !== 'PASS' && !manual,
    )
    expect(mergeHosts(shipped).filter(({ status }) => status === 'FAIL')).toEqual([])
    expect(open.map(({ id }) => id).filter((id) => !reasons.has(id))).toEqual([])
  })

  test('the evidence is written', async () => {
    const [hyperkube = ''] = (await clusterNow().hyperkube('version')).stdout.split('\n')
    expect(profiles.map(({ profile }) => profile)).toEqual(['cis', 'default'])
    await writeFile(
      evidence,
      formatCisEvidence({
        date: new Date(),
        hyperkube,
        kubernetes,
        kubeBench: kit.version,
        profiles,
        reasons,
      }),
    )
  })
})

interface Pod {
  readonly spec: {
    readonly containers: readonly { readonly imagePullPolicy: string }[]
    readonly volumes?: readonly object[]
  }
  readonly status: { readonly phase: string }
}
