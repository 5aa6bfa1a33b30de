import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import { buildComponents, readReportedVersion } from '../../lab/components/build.ts'
import { readFlags } from '../../lab/components/flags.ts'
import { kubernetesVersions, olderKubernetesVersions, selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { expectThirtyTestsPass, writeThirtyTestList } from '../support/conformance-tests.ts'
import { openFreshLab } from '../support/lab.ts'
import { type MinorResults, updateMinorEvidence } from '../support/minor-evidence.ts'
import { startDnsServer } from '../support/test-dns-server.ts'
import { createUpCluster, type UpCluster } from '../support/up-cluster.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/minors.md')
const versions = [...kubernetesVersions, ...olderKubernetesVersions]

const nodeList = z.object({
  items: z.array(z.object({ status: z.object({ nodeInfo: z.object({ kubeletVersion: z.string() }) }) })),
})

describe.each(versions)('Kubernetes %s', (version) => {
  const kubernetes = version.slice(1)
  const { etcd } = selectVersions(version)
  const stack = new AsyncDisposableStack()
  let opened: UpCluster | undefined
  let results: MinorResults | undefined
  let upSeconds = 0

  function getCluster(): UpCluster {
    if (opened === undefined) throw new Error('the cluster is not up')
    return opened
  }

  async function record(more: Partial<MinorResults>): Promise<void> {
    if (results === undefined) throw new Error('the programs are not built')
    results = { ...results, ...more }
    const page = await readFile(evidence, 'utf8').catch(() => '')
    await writeFile(evidence, updateMinorEvidence(page, results))
  }

  beforeAll(async () => {
    const lab = await openFreshLab(`minor-${version.replaceAll('.', '-')}`)
    stack.defer(async () => lab.down())
    const started = performance.now()
    opened = await createUpCluster(lab, '1+1', kubernetes, {
      ...{ addons: true, forward: [lab.gateway] },
      parts: [
        ...[`kubernetes@${version}`, `etcd@${etcd}`],
        ...[`e2e@${version}`, `test-images@${version}`, 'pause'],
      ],
      // The address of the gateway exists as soon as the hosts run.
      async prepare() {
        stack.use(await startDnsServer(lab.gateway))
      },
    })
    upSeconds = (performance.now() - started) / 1000
    stack.defer(async () => opened?.close())
  }, 1_800_000)
  afterAll(async () => stack.disposeAsync())

  test('is built, and its programs report their version and flags', async () => {
    const [built] = await buildComponents(selectParts([`kubernetes@${version}`]), {
      cache: cacheDirectory(),
      report: silentReport,
    })
    if (built === undefined) throw new Error(`there is no part of ${version}`)
    for (const program of built.part.programs) {
      expect(await readReportedVersion(built, program), program.name).toContain(version)
    }
    const flags = [...(await readFlags(built, cacheDirectory())).values()]
    results = {
      kubernetes,
      etcd: etcd.slice(1),
      date: new Date().toISOString().slice(0, 10),
      programs: built.part.programs.length,
      flags: flags.reduce((sum, { size }) => sum + size, 0),
    }
    await record({})
  })

  test('runs everywhere, and `up` left nothing to do', async () => {
    const { api, operator, hosts } = getCluster()
    const { gitVersion } = await api.get<{ gitVersion: string }>('/version')
    const { items } = nodeList.parse(await api.get('/api/v1/nodes'))
    const kubelets = items.map(({ status }) => status.nodeInfo.kubeletVersion)
    expect([gitVersion, ...kubelets]).toEqual([version, version, version])
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
    for (const host of hosts) {
      const { stdout } = await host.script(
        `journalctl --no-pager -o cat | grep -iE 'unknown (field|flag)|strict decoding|not defined: -' || true`,
      )
      expect(stdout, host.name).toBe('')
    }
    await record({ upSeconds })
  })

  test('thirty conformance tests of its own suite pass', { timeout: 1_800_000 }, async () => {
    const cluster = getCluster()
    const list = await writeThirtyTestList(cluster)
    const { counts, seconds } = await expectThirtyTestsPass(cluster, { kubernetes: version, list })
    await record({ conformance: { passed: counts.passed, seconds } })
  })
})
