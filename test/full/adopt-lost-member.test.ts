import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openApi } from '../support/adoption/adoption-load.ts'
import {
  adoptCluster,
  compareHosts,
  expectMoved,
  formatDate,
  formatPageName,
  hostComparison,
  type HostsBefore,
  readClusterId,
  readHosts,
  runCommand,
  selectContender,
  writeEvidence,
} from '../support/adoption/adoption-suite.ts'
import { type AdoptedCluster, requireFirstHost } from '../support/adoption/contender.ts'
import { waitForNodes } from '../support/adoption/nodes.ts'
import { SuiteSetup } from '../support/adoption/suite-setup.ts'

const timeout = 2_400_000
const shape = '3+1'
const contender = selectContender(process.env['ADOPT_FROM'] ?? 'kubeadm')
/** Control planes that have moved when the last one is lost. */
const moved = ['cp1', 'cp2']
const lost = 'cp3'

describe(`a control plane of ${contender.title} is lost for good before the commit`, () => {
  const setup = new SuiteSetup()
  let cluster: AdoptedCluster
  /** The cluster without the lost control plane. */
  let rest: AdoptedCluster
  let before: HostsBefore
  let clusterId = ''
  const seconds: string[] = []

  const measure = async <Result>(title: string, run: () => Promise<Result>): Promise<Result> => {
    const started = performance.now()
    const result = await run()
    seconds.push(`- ${title}: ${((performance.now() - started) / 1000).toFixed(0)} s`)
    return result
  }
  const withApi = async <Result>(
    use: (api: ReturnType<typeof openApi>) => Promise<Result>,
  ): Promise<Result> => {
    const api = openApi(cluster, cluster.credentials)
    try {
      return await use(api)
    } finally {
      api.close()
    }
  }

  beforeAll(async () => {
    cluster = setup.use(
      await contender.create({
        name: 'adopt-lost',
        shape,
        executable: inject('executable'),
        parts: ['agnhost'],
      }),
    )
    rest = { ...cluster, hosts: cluster.hosts.filter(({ name }) => name !== lost) }
    await withApi(async (api) => waitForNodes(api, cluster, []))
    clusterId = await withApi(readClusterId)
    await adoptCluster(cluster)
    before = await readHosts(rest)
    setup.complete()
  }, timeout)
  afterAll(async () => setup.end(), timeout)

  test('rollback stops before etcd loses its quorum, and names the lost member', { timeout }, async () => {
    await runCommand(cluster, 0, 'up', '--yes', '--limit', moved.join(','))
    await expectMoved(cluster, moved)
    await (await cluster.lab.host(lost)).crash()
    const { stderr } = await measure('`adopt rollback`, which stops with ADOPT_MEMBER_LOST', async () =>
      runCommand(cluster, 1, 'adopt', 'rollback', '--yes'),
    )
    expect(stderr).toContain('ADOPT_MEMBER_LOST')
    expect(stderr).toContain(`etcdctl member remove ID for ${lost}`)
    await expectMoved(cluster, moved)
    await withApi(async (api) => expect(await readClusterId(api)).toBe(clusterId))
  })

  test('with the steps of the how-to page, the other hosts return', { timeout }, async () => {
    const host = requireFirstHost(cluster)
    const etcdctl = await readDocumentedFunction()
    const { stdout: members } = await host.script(`${etcdctl}\netcdctl member list`)
    const id = members
      .split('\n')
      .find((line) => line.includes(lost))
      ?.split(',')[0]
    expect(id, members).toMatch(/^[0-9a-f]+$/)
    await host.script(`${etcdctl}\netcdctl member remove ${id}`)

    const file = cluster.path('cluster.yml')
    const document = parseDocument(await readFile(file, 'utf8'))
    const index = cluster.hosts.findIndex(({ name }) => name === lost)
    document.deleteIn(['spec', 'hosts', index])
    await writeFile(file, document.toString())

    await runCommand(cluster, 0, 'etcd', 'snapshot', 'save')
    await measure('`adopt rollback` after the steps', async () =>
      runCommand(cluster, 0, 'adopt', 'rollback', '--yes'),
    )
    await withApi(async (api) => {
      await api.remove(`/api/v1/nodes/${lost}`)
      await waitForNodes(api, rest, [])
      expect(await readClusterId(api)).toBe(clusterId)
    })
    expect(await compareHosts(rest, before)).toEqual([])
    await writeEvidence(formatPageName('adopt-lost-member', contender, shape), formatEvidence())
  })

  function formatEvidence(): string {
    return `# A control plane of ${contender.title} is lost before the commit, ${shape}

Written by \`test/full/adopt-lost-member.test.ts\` on ${formatDate()}: ${contender.describe(shape)}
The machine has two cores, and other work shared it.

${moved.join(' and ')} had moved when ${lost}, which had not, ended and never started again. \`adopt rollback\` stopped before a control plane returned.
The steps of [the how-to page](../how-to/adopt.md#a-control-plane-is-lost) followed, with its function \`etcdctl\` as it is written there.
Then all other hosts returned.

${seconds.join('\n')}

After the rollback the nodes of the other hosts were Ready, the id of the cluster was the same, and hosts had the same
${hostComparison}.
Not compared: ${contender.notCompared}.

Not shown: a new control plane that joins with ${contender.name}.
`
  }
})

/** Reads the shell function with which the how-to page calls etcdctl. */
async function readDocumentedFunction(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, '../../docs/how-to/adopt.md'), 'utf8')
  const line = page.split('\n').find((text) => text.startsWith('etcdctl() {'))
  if (line === undefined) throw new Error('the how-to page has no function etcdctl')
  return line
}
