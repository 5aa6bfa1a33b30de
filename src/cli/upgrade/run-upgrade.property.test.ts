import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ActionStatus } from '../../actions/phases/action-run.ts'
import { checkUpgradePath, planUpgrade, type RunningCluster } from '../../actions/plan-upgrade.ts'
import { lockSteps, upgrade, type UpgradeFilesDeps } from '../../actions/upgrade.ts'
import { listDefaultVersions } from '../../catalog/catalog.ts'
import { readLock } from '../../catalog/lock.ts'
import { fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { compareVersions, upgradePath } from '../../catalog/version.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { createInMemoryContext, runHyperkube } from '../testing/run-in-memory.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'

const [oldest = '', ...others] = listDefaultVersions(shippedCatalog).toSorted(compareVersions)
const newest = others.at(-1) ?? oldest
const sites = new Map(fakeUpstream(oldest, ...others))
const options = {
  fetcher: fakeFetcher((url: string) => sites.get(url)),
  web: fakeRegistries(fakeImages()),
}
const hosts = ['cp1', 'w1'] as const

const clusterFile = (more = ''): string => `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: ${oldest}
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
${more}`

/** A cluster whose hosts get the versions of cluster.yml when `up` runs to its end. */
async function createCluster(more = '') {
  const { files } = await runHyperkube('lock', { 'cluster.yml': clusterFile(more) }, options)
  const { context, collectResult } = createInMemoryContext(Object.fromEntries(files), options)
  const deps: UpgradeFilesDeps = { context, files: { file: 'cluster.yml' }, report: () => undefined }
  const load = async () => {
    const { cluster } = await loadCluster(context, 'cluster.yml')
    if (cluster === undefined) throw new Error('cluster.yml is not valid')
    return cluster
  }
  let running: RunningCluster = { servers: [oldest], kubelets: new Map(hosts.map((name) => [name, oldest])) }
  const log: string[] = []

  /** Runs the upgrade command. `countdown` is the number of effects after which the command is killed. */
  async function run(countdown: number): Promise<ActionStatus | 'killed'> {
    let remaining = countdown
    const killed = new Error('killed')
    const step = (): void => {
      remaining -= 1
      if (remaining < 0) throw killed
    }
    const cluster = await load()
    const path = upgradePath(cluster.spec.kubernetes, newest, listDefaultVersions(shippedCatalog))
    const { steps } = planUpgrade(shippedCatalog, cluster, path, running)
    return upgrade({
      ...deps,
      steps: await lockSteps(deps, steps),
      async takeSnapshot({ kubernetes }) {
        step()
        log.push(`snapshot before ${kubernetes}`)
        return 'ok'
      },
      async up({ kubernetes, workers }, { lock, persist }) {
        step()
        await persist()
        log.push(`${kubernetes} ${workers}`)
        step()
        expect(lock.kubernetes).toBe(kubernetes)
        expect(lock.workers?.kubernetes ?? kubernetes).toBe(workers)
        running = { ...running, servers: [kubernetes] }
        step()
        running = { ...running, kubelets: new Map(running.kubelets).set('cp1', kubernetes) }
        step()
        running = { ...running, kubelets: new Map(running.kubelets).set('w1', workers) }
        return 'ok'
      },
    }).catch((error: unknown) => {
      if (error === killed) return 'killed'
      throw error
    })
  }
  return { run, log, load, context, deps, collectResult, getRunning: () => running }
}

test('an upgrade that is killed at any points and repeated ends with the same files and versions', async () => {
  const expected = await createCluster()
  expect(await expected.run(Infinity)).toBe('ok')
  const [files, states] = [expected.collectResult(0).files, expected.log.filter(isState)]
  expect(files.get('cluster.yml')).toContain(`kubernetes: "${newest}"`)
  expect(files.get('cluster.yml')).not.toContain('workers')
  expect(readLock('cluster.lock', files.get('cluster.lock') ?? '')).toMatchObject({ kubernetes: newest })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(12), { maxLength: 8 }), async (kills) => {
      const cluster = await createCluster()
      for (const kill of kills) await cluster.run(kill)
      expect(await cluster.run(Infinity)).toBe('ok')
      expect(cluster.collectResult(0).files).toEqual(files)
      expect(cluster.getRunning()).toEqual(expected.getRunning())
      // An interrupted state may be in the log several times in a row, but no state may be missing.
      expect(cluster.log.filter(isState).filter((state, index, all) => state !== all[index - 1])).toEqual(
        states,
      )
    }),
    { numRuns: 15 },
  )
})

const isState = (line: string): boolean => !line.startsWith('snapshot')

test('a snapshot precedes each minor', async () => {
  const cluster = await createCluster()
  await cluster.run(Infinity)
  const snapshots = cluster.log.filter((line) => line.startsWith('snapshot'))
  expect(snapshots).toEqual(others.map((version) => `snapshot before ${version}`))
  const first = cluster.log.findIndex((line) => line.startsWith(`${others[0]} `))
  expect(cluster.log[first - 1]).toBe(`snapshot before ${others[0]}`)
})

test('all problems of the path are reported at once, each with the first version at which it breaks', async () => {
  const cluster = await createCluster(`  components:
    kubelet:
      args: { feature-gates: 'MemoryManager=true,SidecarContainers=true,NodeSwap=false' }
      config: { featureGates: { ElasticIndexedJob: true } }
`)
  const { context, deps, load } = cluster
  const loaded = await load()
  const path = upgradePath(oldest, newest, listDefaultVersions(shippedCatalog))
  const plan = planUpgrade(shippedCatalog, loaded, path, cluster.getRunning())
  const lock = await requireLock(context, 'cluster.yml')
  const artifacts = lock.artifacts.map((one) =>
    one.component === 'etcd' ? { ...one, version: '3.5.16' } : one,
  )
  const [step] = plan.steps
  if (step === undefined) throw new Error('the plan has no steps')
  const steps = [{ ...step, etcd: '3.6.16' }, ...plan.steps.slice(1)]
  const findings = await checkUpgradePath(
    { context, files: deps.files, catalog: shippedCatalog },
    loaded,
    { ...lock, artifacts },
    { ...plan, steps },
  )
  expect(findings.map(({ code, message }) => `${code}: ${message.slice(0, 60)}`)).toEqual([
    'FEATURE_GATE_LOCKED: Kubernetes 1.34 locked the feature gate NodeSwap to true; cl',
    'FEATURE_GATE_REMOVED: Kubernetes 1.34 removed the feature gate ElasticIndexedJob, ',
    'FEATURE_GATE_REMOVED: Kubernetes 1.36 removed the feature gate MemoryManager, and ',
    'FEATURE_GATE_REMOVED: Kubernetes 1.37 removed the feature gate SidecarContainers, ',
    `UPGRADE_ETCD: Kubernetes ${others[0]} comes with etcd 3.6.16: etcd 3.5.16 must `,
  ])
})
