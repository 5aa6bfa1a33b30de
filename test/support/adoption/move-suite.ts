import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { KubeApi } from '../../../lab/cluster/kube-api.ts'
import {
  type ChangeRow,
  expectUndisturbed,
  formatRow,
  loadDescription,
  measureChange,
  openApi,
  tableHead,
} from './adoption-load.ts'
import {
  adoptCluster,
  compareHosts,
  containerComparison,
  expectMoved,
  formatDate,
  formatMovePage,
  hostComparison,
  type HostsBefore,
  readHosts,
  runCommand,
  writeEvidence,
} from './adoption-suite.ts'
import type { AdoptedCluster, Contender } from './contender.ts'
import { waitForNodes } from './nodes.ts'
import { SuiteSetup } from './suite-setup.ts'
import { Workload } from './workload.ts'

const timeout = 2_400_000

/** Moves a cluster there, back and there again under load, then commits. */
export function describeMoves(contender: Contender, shape: string, suite: string): void {
  describe(`moving the hosts of ${contender.title}, ${shape}, ${contender.version}`, () => {
    const setup = new SuiteSetup()
    let cluster: AdoptedCluster
    let api: KubeApi
    let workload: Workload
    let before: HostsBefore
    let podsBefore: ReadonlyMap<string, number> = new Map()
    const rows: ChangeRow[] = []
    const podsKept: string[] = []

    const allNames = (): readonly string[] => cluster.hosts.map(({ name }) => name)

    async function runUnderLoad(change: string, ...args: readonly string[]): Promise<void> {
      const context = { cluster, workload, api, credentials: cluster.credentials }
      rows.push(
        await measureChange(
          context,
          change,
          async () => void (await runCommand(cluster, 0, ...args, '--yes')),
        ),
      )
      await waitForNodes(api, cluster, args[1] === 'rollback' ? [] : allNames())
      await workload.waitUntilReady(api)
      expect(await workload.findProblems(api), change).toEqual([])
      const pods = await workload.readPods(api)
      const same = [...pods].filter(([uid, restarts]) => podsBefore.get(uid) === restarts).length
      podsKept.push(`${change}: ${same} of ${pods.size}`)
      expect(same, change).toBeGreaterThanOrEqual(contender.recreatesPods ? 0 : podsBefore.size)
      podsBefore = pods
    }

    beforeAll(async () => {
      cluster = setup.use(
        await contender.create({
          name: suite,
          shape,
          executable: inject('executable'),
          parts: ['agnhost', 'traefik'],
        }),
      )
      api = openApi(cluster, cluster.credentials)
      setup.defer(() => api.close())
      workload = await Workload.create(cluster, api)
      await waitForNodes(api, cluster, [])
      before = await readHosts(cluster)
      podsBefore = await workload.readPods(api)
      setup.complete()
    }, timeout)
    afterAll(async () => setup.end(), timeout)

    test('the cluster can be adopted, which changes no host', { timeout }, async () => {
      await adoptCluster(cluster)
      expect(await compareHosts(cluster, before)).toEqual([])
    })

    test('up moves every host, and no acknowledged write is lost', { timeout }, async () => {
      await runUnderLoad('move: `hyperkube up`', 'up')
      await expectMoved(cluster, allNames())
      await runCommand(cluster, 0, 'plan')
    })

    test('commands that would make a rollback impossible are refused', { timeout }, async () => {
      for (const args of [
        ['reset', '--yes'],
        ['certs', 'rotate-ca', '--yes'],
      ])
        expect((await runCommand(cluster, 1, ...args)).stderr).toContain('ADOPT_NOT_COMMITTED')
      await waitForNodes(api, cluster, allNames())
    })

    test('adopt rollback returns every host to what it was', { timeout }, async () => {
      await runUnderLoad('rollback: `hyperkube adopt rollback`', 'adopt', 'rollback')
      expect(await compareHosts(cluster, before)).toEqual([])
      await cluster.runTool?.()
    })

    test('after another move and the commit, a rollback is refused', { timeout }, async () => {
      await runUnderLoad('second move: `hyperkube up`', 'up')
      await runUnderLoad('`hyperkube adopt commit`', 'adopt', 'commit')
      for (const host of cluster.hosts) {
        const { stdout } = await host.script('ls -d /etc/kubernetes/before-hyperkube 2>/dev/null || true')
        expect(stdout, host.name).toBe('')
      }
      expect((await runCommand(cluster, 1, 'adopt', 'rollback', '--yes')).stderr).toContain('ADOPT_COMMITTED')
      await runCommand(cluster, 0, 'plan')
      await writeEvidence(formatMovePage(contender, shape), formatEvidence())
      // A rollback creates all pods of Docker at once and does not drain nodes, so it is only in the table.
      expectUndisturbed(
        cluster,
        rows.filter(({ change }) => !change.startsWith('rollback')),
      )
      for (const { busy, workload: figures } of rows) expect([...busy.lost, ...figures.lost]).toEqual([])
    })

    function formatEvidence(): string {
      const { title, describe: describeCluster, runtime, notCompared } = contender
      return `# ${title.replace(/^a/, 'A')} moved to hyperkube and back, ${shape}

Written by \`test/full/${suite}.test.ts\` on ${formatDate()}: ${describeCluster(shape)}
The machine has two cores, and other work shared it.

${loadDescription}

${tableHead}
${rows.map(formatRow).join('\n')}

The test also shows:

- ${contender.recreatesPods ? 'Pods are created again when their node moves and when it returns.' : 'Containers run on.'} Pods with the same uid and no more restarts than before: ${podsKept.join('; ')}.
- After each change all Secrets and custom resources had their values, the logs of the StatefulSet had no hole, and the NetworkPolicy ${contender.enforcesPolicies ? 'let through only what it allows' : 'existed, without an engine that enforces it'}.
- \`hyperkube plan\` has no changes after the move. \`reset\` and \`certs rotate-ca\` are refused before the commit, \`adopt rollback\` after it.
- After the rollback, hosts had the same ${hostComparison}${runtime === 'docker' ? `; and ${containerComparison}` : ''}.
  Not compared: ${notCompared}.
${runtime === 'docker' ? '- `rke up` succeeds then, and creates no container of RKE1 again.\n' : ''}`
    }
  })
}
