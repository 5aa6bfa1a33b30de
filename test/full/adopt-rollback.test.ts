import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import {
  type ChangeRow,
  formatRow,
  loadDescription,
  measureChange,
  openApi,
  tableHead,
} from '../support/adoption/adoption-load.ts'
import {
  adoptCluster,
  compareHosts,
  containerComparison,
  expectMoved,
  formatDate,
  formatPageName,
  hostComparison,
  type HostsBefore,
  readHosts,
  readSuiteOptions,
  runCommand,
  writeEvidence,
} from '../support/adoption/adoption-suite.ts'
import { type AdoptedCluster, listControlPlanes, requireFirstHost } from '../support/adoption/contender.ts'
import {
  compareEtcd,
  type EtcdContent,
  etcdComparison,
  readEtcdContent,
} from '../support/adoption/etcd-content.ts'
import { listMoveDifferences } from '../support/adoption/expected-differences.ts'
import { waitForNodes } from '../support/adoption/nodes.ts'
import {
  compareDumps,
  dumpObjects,
  type ObjectDump,
  sortDifferences,
} from '../support/adoption/object-dump.ts'
import { SuiteSetup } from '../support/adoption/suite-setup.ts'
import { Workload } from '../support/adoption/workload.ts'

const timeout = 3_600_000
const { contender, shape } = readSuiteOptions()
/** How long the clients run without a change, for comparison. */
const quietMs = 30_000

interface ClusterBefore {
  readonly hosts: HostsBefore
  readonly etcd: EtcdContent
  readonly objects: ObjectDump
}

/** A number of moved hosts, from which all hosts return. */
interface Stage {
  readonly title: string
  readonly select: (cluster: AdoptedCluster) => readonly string[]
}

const listNames = (hosts: readonly { readonly name: string }[]): readonly string[] =>
  hosts.map(({ name }) => name)

const stages: readonly Stage[] = [
  { title: 'one host', select: (cluster) => [requireFirstHost(cluster).name] },
  { title: 'all control planes', select: (cluster) => listNames(listControlPlanes(cluster)) },
  { title: 'all hosts', select: ({ hosts }) => listNames(hosts) },
]

describe(`rollback of ${contender.title}, ${shape}, ${contender.version}`, () => {
  const setup = new SuiteSetup()
  let cluster: AdoptedCluster
  let api: KubeApi
  let workload: Workload
  let before: ClusterBefore
  const rows: ChangeRow[] = []
  const expected = new Map<string, number>()
  const ofTool: string[] = []

  const measure = async (change: string, run: () => Promise<unknown>): Promise<void> => {
    const context = { cluster, workload, api, credentials: cluster.credentials }
    const row = await measureChange(context, change, async () => void (await run()))
    rows.push(row)
    expect([...row.busy.lost, ...row.workload.lost], change).toEqual([])
  }
  const readBefore = async (): Promise<ClusterBefore> => ({
    hosts: await readHosts(cluster),
    etcd: await readEtcdContent(requireFirstHost(cluster), cluster.etcdCredentials),
    objects: await dumpObjects(api),
  })
  const expectHealthy = async (moved: readonly string[]): Promise<void> => {
    await waitForNodes(api, cluster, moved)
    await workload.waitUntilReady(api)
    expect(await workload.findProblems(api)).toEqual([])
  }

  beforeAll(async () => {
    cluster = setup.use(
      await contender.create({
        name: 'adopt-rollback',
        shape,
        executable: inject('executable'),
        parts: ['agnhost', 'traefik'],
      }),
    )
    api = openApi(cluster, cluster.credentials)
    setup.defer(() => api.close())
    workload = await Workload.create(cluster, api)
    await measure('nothing, for comparison', async () => sleep(quietMs))
    await expectHealthy([])
    await adoptCluster(cluster)
    before = await readBefore()
    setup.complete()
  }, timeout)
  afterAll(async () => setup.end(), timeout)

  test.each(stages)(
    'after $title moved, rollback makes the cluster what it was',
    { timeout },
    async (stage) => {
      const moved = stage.select(cluster)
      const limit = moved.length === cluster.hosts.length ? [] : ['--limit', moved.join(',')]
      await measure(
        `move of ${stage.title}: \`hyperkube up${limit.length === 0 ? '' : ' --limit'}\``,
        async () => runCommand(cluster, 0, 'up', '--yes', ...limit),
      )
      await expectHealthy(moved)
      await expectMoved(cluster, moved)

      await measure(`rollback, after ${stage.title}`, async () =>
        runCommand(cluster, 0, 'adopt', 'rollback', '--yes'),
      )
      await expectHealthy([])
      expect(await compareHosts(cluster, before.hosts)).toEqual([])
      const etcd = await readEtcdContent(requireFirstHost(cluster), cluster.etcdCredentials)
      expect(compareEtcd(before.etcd, etcd)).toEqual([])
      expect(etcd.plainSecrets).toEqual([])
      const differences = compareDumps(before.objects, await dumpObjects(api, before.objects))
      const sorted = sortDifferences(differences, listMoveDifferences(contender))
      for (const [reason, count] of sorted.expected)
        expected.set(reason, Math.max(count, expected.get(reason) ?? 0))
      expect(sorted.unexpected).toEqual([])

      if (cluster.runTool !== undefined) {
        await cluster.runTool()
        await expectHealthy([])
        ofTool.push(...(await compareHosts(cluster, before.hosts)))
        // The tool may write its own state, which is no difference of the next stage.
        before = await readBefore()
      }
      await writeEvidence(formatPageName('adopt-rollback', contender, shape), formatEvidence())
    },
  )

  function formatEvidence(): string {
    const differences = [...expected].map(([reason, count]) => `- ${reason}: ${count} objects at most`)
    const tool = `- \`rke up\` ran after each rollback. It succeeded, and changed nothing in the output of \`docker inspect\`. ${
      ofTool.length === 0
        ? 'It changed no file either.'
        : `On hosts it changed: ${[...new Set(ofTool)].map((line) => `\`${line}\``).join(', ')}.`
    }`
    return `# Rollback of ${contender.title}, ${shape}

Written by \`test/full/adopt-rollback.test.ts\` on ${formatDate()}: ${contender.describe(shape)}
The machine has two cores, and other work shared it.

${loadDescription}

${tableHead}
${rows.map(formatRow).join('\n')}

After each rollback the test compared, and found no difference:

- On hosts: ${hostComparison}. Not compared: ${contender.notCompared}.
${contender.runtime === 'docker' ? `- In Docker: ${containerComparison}.\n${tool}\n` : ''}- In etcd: ${etcdComparison}.
- In the API: all objects of all resources with all values, apart from status, resourceVersion and managedFields, and from these:

${differences.join('\n')}
`
  }
})
