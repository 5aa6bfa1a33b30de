import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { kubernetesVersions } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { readReleasedVersions } from '../../scripts/release/released.ts'
import { readRelease } from '../../src/lifecycle/agents/release-file.ts'
import { ApiLoad, type LoadFigures } from '../support/api-load.ts'
import { runAsPlanned } from '../support/dry-run.ts'
import { formatOp } from '../support/journal.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { LoadProcess } from '../support/load-process.ts'
import { waitForRequests } from '../support/proxied-api.ts'
import { buildReleasedExecutable, readReleasedFile } from '../support/released-executable.ts'
import { compareServiceRuns, readServiceRuns, type ServiceRuns } from '../support/service-runs.ts'
import { createUpCluster, type UpCluster } from '../support/up-cluster.ts'
import {
  expectNothingToReport,
  expectResetLeavesNothing,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

/** The newest release must know this Kubernetes version, so it is not always the newest one. */
const [, kubernetes] = kubernetesVersions
const [released] = readReleasedVersions()
const objects = {
  secrets: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kept' }, stringData: { word: 'blue' } },
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { word: 'green' } },
}
const perSecond = 10

const statusDocument = z.object({ hosts: z.array(z.object({ host: z.string(), version: z.string() })) })
const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ uid: z.string() }),
      status: z.object({ containerStatuses: z.array(z.object({ containerID: z.string() })) }),
    }),
  ),
})

/**
 * Upgrades hyperkube itself on a running cluster: from the executable of the newest release, built from its
 * commit, to the executable at hand.
 */
describe(`an upgrade of hyperkube from ${released.version}`, () => {
  /** The cluster with the executable at hand. Only `beforeAll` uses the released one. */
  let cluster: UpCluster
  /** Versions of both executables, as agents report them. */
  let versions: { readonly before: string; readonly after: string }
  const stack = new AsyncDisposableStack()

  beforeAll(async () => {
    const program = await buildReleasedExecutable(released)
    const lab = await openFreshLab('release-upgrade')
    stack.defer(async () => lab.down())
    const created = await createUpCluster(lab, '1+1', kubernetes.slice(1), { program })
    stack.defer(async () => created.close())
    const operator = created.operator.withProgram(inject('executable'))
    cluster = { ...created, operator, hyperkube: operator.hyperkube }
    versions = { before: await readVersion(program), after: await readVersion(inject('executable')) }
    for (const [name, object] of Object.entries(objects))
      await cluster.api.create(`/api/v1/namespaces/default/${name}`, object)
    await startPodOnEachNode(cluster)
    await ApiLoad.prepare(cluster.api)
  }, 900_000)
  afterAll(async () => stack.disposeAsync())

  /** Reads the version of an executable from its commands, and adds its digest as agents do. */
  async function readVersion(program: string): Promise<string> {
    const { stdout } = await cluster.operator.withProgram(program).must(0, 'version', '-o', 'json')
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(stdout))
    return (await readRelease(program, version, () => cluster.directory)).version
  }

  async function readAgentVersions(): Promise<readonly string[]> {
    // The cluster need not be healthy yet: new agents probe all components first.
    const { stdout } = await cluster.hyperkube('status', '-o', 'json')
    return statusDocument.parse(JSON.parse(stdout)).hosts.map(({ host, version }) => `${host} ${version}`)
  }

  async function readContainers(): Promise<readonly string[]> {
    const { items } = podList.parse(
      await cluster.api.get('/api/v1/namespaces/default/pods?labelSelector=app%3Dprobe'),
    )
    return items
      .flatMap(({ metadata, status }) =>
        status.containerStatuses.map(({ containerID }) => `${metadata.uid} ${containerID}`),
      )
      .toSorted()
  }

  async function readFiles(): Promise<readonly string[]> {
    const names = ['cluster.yml', 'cluster.lock', 'cluster.identity']
    return Promise.all(names.map(async (name) => readFile(join(cluster.directory, name), 'base64')))
  }

  /** Sends requests through the proxy of the worker while `run` runs. */
  async function measureLoad(run: () => Promise<void>): Promise<LoadFigures> {
    const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
    const load = new LoadProcess(findHost('w1'), { host: '127.0.0.1', port: 6444, credentials }, perSecond)
    try {
      await waitForRequests(load, perSecond)
      await run()
      await waitForRequests(load, perSecond)
    } catch (error) {
      await load.stop()
      throw error
    }
    return load.stop()
  }

  function findHost(name: string): Host {
    const found = cluster.hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no host ${name}`)
    return found
  }

  test('the golden files of the release are those of its commit', async () => {
    const path = `scripts/goldens/${released.version}.sha256`
    const own = await readFile(join(import.meta.dirname, '../..', path), 'utf8')
    expect(own).toBe(await readReleasedFile(released, path))
  })

  test('plan lists exactly the changes, up restarts no service of Kubernetes, and no request fails', async () => {
    const [runs, containers, files] = [
      await readServiceRuns(cluster.hosts),
      await readContainers(),
      await readFiles(),
    ]
    expect(containers).toHaveLength(2)
    const figures = await measureLoad(async () => {
      const { ops, findings } = await cluster.operator.plan()
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
      const planned = Object.entries(ops).map(([host, some]) => [host, some.map(formatOp).toSorted()])
      expect(Object.fromEntries(planned)).toEqual(listExpectedOps())
      await runAsPlanned(cluster, cluster.hosts, ['up'])
    })
    process.stderr.write(`${figures.requests} requests, worst ${figures.worst} ms\n`)
    expect(await readAgentVersions()).toEqual([`cp1 ${versions.after}`, `w1 ${versions.after}`])
    const runsAfter = await readServiceRuns(cluster.hosts)
    expect(compareServiceRuns(runs, runsAfter).others).toEqual(['cp1 hyperkube-agent', 'w1 hyperkube-agent'])
    expect(listRestarts(runs, runsAfter).filter((name) => !name.includes(' hyperkube-'))).toEqual([])
    expect(await readContainers()).toEqual(containers)
    expect(await readFiles()).toEqual(files)
    expect(figures.requests).toBeGreaterThan(5 * perSecond)
    expect([figures.failed, figures.watchBreaks], JSON.stringify(figures.reasons)).toEqual([[], 0])
  })

  /** Lists what an upgrade of hyperkube changes. What is added here must also be in the changelog. */
  function listExpectedOps(): Readonly<Record<string, readonly string[]>> {
    const agent = [
      `prepare hyperkube-agent: create artifact hyperkube-${versions.after}`,
      `prepare hyperkube-agent: remove artifact hyperkube-${versions.before}`,
      'prepare hyperkube-agent: restart service hyperkube-agent.service',
    ]
    const manager = [
      'controllers hyperkube-controller-manager: change service hyperkube-controller-manager.service',
      'controllers hyperkube-controller-manager: restart service hyperkube-controller-manager.service',
    ]
    return { cp1: [...manager, ...agent], w1: agent }
  }

  test('a Secret and a ConfigMap of before are unchanged', async () => {
    const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
    const api = new KubeApi(`https://${findHost('cp1').address}:6443`, credentials)
    try {
      const collection = '/api/v1/namespaces/default'
      expect(await api.get(`${collection}/secrets/kept`)).toMatchObject({ data: { word: btoa('blue') } })
      expect(await api.get(`${collection}/configmaps/kept`)).toMatchObject({ data: { word: 'green' } })
    } finally {
      api.close()
    }
  })

  test('a second up has nothing to do, and status is healthy', async () => {
    expect((await cluster.operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    await expectNothingToReport(cluster)
  })

  test('reset restores the initial state of every host', async () =>
    expectResetLeavesNothing(cluster, undefined))
})

/**
 * Lists services that a command restarted. systemd counts restarts after an exit, and a command resets the
 * count, so a service with leader election that lost its lease is not in the list.
 */
function listRestarts(before: ServiceRuns, after: ServiceRuns): string[] {
  return [...before]
    .filter(([name, { invocation, restarts }]) => {
      const current = after.get(name)
      return current === undefined || (current.invocation !== invocation && current.restarts <= restarts)
    })
    .map(([name]) => name)
    .toSorted()
}
