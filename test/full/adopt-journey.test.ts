import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import type { Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  AdoptionLoad,
  type ChangeRow,
  computeFailedShare,
  expectUndisturbed,
  formatRow,
  formatShare,
  loadDescription,
  maxFailedShare,
  measureChange,
  openApi,
  tableHead,
} from '../support/adoption/adoption-load.ts'
import {
  adoptCluster,
  formatDate,
  formatPageName,
  readClusterId,
  readSuiteOptions,
  runCommand,
  writeEvidence,
} from '../support/adoption/adoption-suite.ts'
import { type AdoptedCluster, requireFirstHost } from '../support/adoption/contender.ts'
import { readEtcdContent } from '../support/adoption/etcd-content.ts'
import { journeyDifferences } from '../support/adoption/expected-differences.ts'
import { listKubeletVersions, waitForNodes } from '../support/adoption/nodes.ts'
import {
  compareDumps,
  dumpObjects,
  type ObjectDump,
  sortDifferences,
} from '../support/adoption/object-dump.ts'
import { SuiteSetup } from '../support/adoption/suite-setup.ts'
import { Workload } from '../support/adoption/workload.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { listChain, listChainParts } from '../support/upgrade-chain.ts'

const timeout = 5_400_000
const { contender, shape } = readSuiteOptions()
/** Minor versions to upgrade by after the rotation. Default: up to the newest one. */
const upgradeCount = Number(process.env['ADOPT_UPGRADES'] ?? 99)
const chain = listChain(contender.version).slice(0, 1 + upgradeCount)
const to: KubernetesVersion = chain.at(-1) ?? contender.version

describe(`${contender.title}, ${shape}: adopted, committed, keys rotated${chain.length > 1 ? `, and upgraded to ${to}` : ''}`, () => {
  const setup = new SuiteSetup()
  let cluster: AdoptedCluster
  let api: KubeApi
  let credentials: Credentials
  let workload: Workload
  let before: ObjectDump
  let clusterId = ''
  const rows: ChangeRow[] = []
  let sorted: ReturnType<typeof sortDifferences> | undefined

  /** Uses credentials that hyperkube issues now. */
  const renewCredentials = async (): Promise<void> => {
    credentials = parseKubeconfig((await runCommand(cluster, 0, 'kubeconfig')).stdout)
    api.close()
    api = openApi(cluster, credentials)
  }
  const expectHealthy = async (moved: readonly string[]): Promise<void> => {
    await waitForNodes(api, cluster, moved)
    await workload.waitUntilReady(api)
    expect(await workload.findProblems(api)).toEqual([])
  }
  const measure = async (change: string, run: () => Promise<unknown>): Promise<void> => {
    const context = { cluster, workload, api, credentials }
    rows.push(await measureChange(context, change, async () => void (await run())))
  }
  const allNames = (): readonly string[] => cluster.hosts.map(({ name }) => name)

  beforeAll(async () => {
    cluster = setup.use(
      await contender.create({
        name: 'adopt-journey',
        shape,
        executable: inject('executable'),
        parts: ['agnhost', 'traefik', ...listChainParts(chain)],
      }),
    )
    ;({ credentials } = cluster)
    api = openApi(cluster, credentials)
    setup.defer(() => api.close())
    workload = await Workload.create(cluster, api)
    // The first clients create the application that they use. It belongs to the state before.
    await (await AdoptionLoad.open(cluster, workload, api, credentials)).stop(api)
    await expectHealthy([])
    before = await dumpObjects(api)
    clusterId = await readClusterId(api)
    setup.complete()
  }, timeout)
  afterAll(
    async () =>
      setup.end(async () =>
        writeEvidence(formatPageName('adopt-journey', contender, shape), formatEvidence()),
      ),
    timeout,
  )

  test('it is adopted, its hosts move, and the move is committed', { timeout }, async () => {
    await measure('`hyperkube adopt` and `lock`', async () => adoptCluster(cluster))
    await measure('`hyperkube up`', async () => runCommand(cluster, 0, 'up', '--yes'))
    await expectHealthy(allNames())
    await measure('`hyperkube adopt commit`', async () => runCommand(cluster, 0, 'adopt', 'commit', '--yes'))
    await expectHealthy(allNames())
    await renewCredentials()
  })

  test.each([
    ['rotate-ca', 'etcd'],
    ['rotate-ca', 'front-proxy'],
  ])('certs %s %s', { timeout }, async (command, key) => {
    await measure(`\`certs ${command} ${key}\``, async () =>
      runCommand(cluster, 0, 'certs', command, key, '--yes'),
    )
    await expectHealthy(allNames())
  })

  test('the encryption key of the previous tool is not replaced silently', { timeout }, async () => {
    const { stderr } = await runCommand(cluster, 1, 'certs', 'rotate-key', 'encryption', '--yes')
    expect(stderr).toContain('KEYS_ENCRYPTION_IMPORTED')
  })

  test(
    'the CA of the cluster is rotated, and clients change to its new certificates',
    { timeout },
    async () => {
      const change = '`certs rotate-ca kubernetes`'
      const rotation = runCommand(cluster, 0, 'certs', 'rotate-ca', 'kubernetes', '--restart-pods', '--yes')
      let hasEnded = false
      const noteEnd = (): void => void (hasEnded = true)
      // Prevents an unhandled rejection, too. The same promise is awaited below.
      rotation.then(noteEnd, noteEnd)
      const previous = { cluster, workload, api, credentials }
      rows.push(
        await measureChange(previous, `${change}, until the new CA signs`, async () => {
          await pollUntil(
            'the new CA to sign',
            async () => hasEnded || (await cluster.identity()).cas.kubernetes.replacement?.phase === 'switch',
            { timeoutMs: 900_000, intervalMs: 200 },
          )
          credentials = parseKubeconfig((await runCommand(cluster, 0, 'kubeconfig')).stdout)
        }),
      )
      previous.api.close()
      api = openApi(cluster, credentials)
      await measure(`${change}, from then on`, async () => rotation)
      await cluster.renewOwnCredentials()
      await expectHealthy(allNames())
    },
  )

  test.each(chain.slice(1).slice(-1))('it is upgraded to %s in one command', { timeout }, async (version) => {
    await measure(`\`upgrade --to ${version.slice(1)}\``, async () =>
      runCommand(cluster, 0, 'upgrade', '--to', version.slice(1), '--yes'),
    )
    await expectHealthy(allNames())
    expect(await listKubeletVersions(api)).toEqual([version])
    const etcdCredentials = await issueClientCertificate(await cluster.identity(), 'etcd', 'test', [])
    const { plainSecrets } = await readEtcdContent(requireFirstHost(cluster), etcdCredentials)
    expect(plainSecrets).toEqual([])
    await runCommand(cluster, 0, 'plan')
  })

  test('every object is what it was, and clients were not disturbed', { timeout }, async () => {
    expect(await readClusterId(api)).toBe(clusterId)
    sorted = sortDifferences(compareDumps(before, await dumpObjects(api, before)), journeyDifferences)
    expect(sorted.unexpected).toEqual([])
    expectUndisturbed(cluster, rows)
  })

  function formatEvidence(): string {
    const share = computeFailedShare(rows)
    const objects =
      sorted === undefined
        ? 'The suite ended before objects were compared.'
        : `All objects of all resources were compared, with all values apart from status, resourceVersion and managedFields. ${sorted.unexpected.length} differences
were not expected. These were:

${[...sorted.expected].map(([reason, count]) => `- ${reason}: ${count} objects`).join('\n')}`
    return `# ${contender.title.replace(/^a/, 'A')} adopted, committed${chain.length > 1 ? ', rotated and upgraded' : ' and rotated'}, ${shape}

Written by \`test/full/adopt-journey.test.ts\` on ${formatDate()}: ${contender.describe(shape)}
${
  chain.length > 1
    ? `The target of the upgrade is Kubernetes ${to}, etcd ${selectVersions(to).etcd}.`
    : 'No upgrade was run.'
} The machine has two cores, and other work shared it.

${loadDescription}

${tableHead}
${rows.map(formatRow).join('\n')}

Of all requests failed: ${formatShare(share.api)} to the API, ${formatShare(share.service)} to the Service. With several control planes the suite fails above ${formatShare(maxFailedShare)}.

While the CA of the cluster is rotated, clients change to a new kubeconfig once the new CA signs, and send nothing for some seconds. The rotation
restarts the pods of the workload. The key of service accounts was not rotated, because hyperkube keeps its previous key for an hour, and
the encryption key of the previous tool cannot be replaced. The id of the
cluster stayed the same.

${objects}
`
  }
})
