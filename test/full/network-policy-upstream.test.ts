import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { conformanceParts, selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { runProgram } from '../../src/kit/command.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const shape = '3+2'
const evidence = join(import.meta.dirname, '../../docs/evidence/network-policy.md')
/** Regular expression of the tests to run. Without it, all that the lab's kernel supports run. */
const focus = process.env['POLICY_FOCUS']
const clusterNow = setUpCluster('network-policy', shape, '1.37.1', { parts: conformanceParts })

const reportSchema = z.tuple([
  z.object({
    SpecReports: z.array(
      z.object({
        ContainerHierarchyTexts: z.array(z.string()).nullish(),
        LeafNodeType: z.string(),
        LeafNodeText: z.string(),
        State: z.string(),
        /** Nanoseconds. */
        RunTime: z.number(),
      }),
    ),
  }),
])

interface UpstreamTest {
  readonly name: string
  readonly state: string
  readonly seconds: number
}

test('upstream’s NetworkPolicy tests pass', { timeout: 7_200_000 }, async () => {
  const tests = await runUpstreamTests()
  await writeFile(evidence, formatEvidence(tests))
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(({ state }) => state !== 'passed')).toEqual([])
})

async function runUpstreamTests(): Promise<readonly UpstreamTest[]> {
  const { directory, operator } = clusterNow()
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, (await operator.must(0, 'kubeconfig')).stdout, { mode: 0o600 })
  const options = { cache: cacheDirectory(), report: silentReport }
  const [suite] = await buildComponents(selectParts(['e2e@v1.37.1']), options)
  const report = join(directory, 'report.json')
  // The kernel of the lab has no SCTP.
  await runProgram(
    [
      join(suite?.directory ?? '', 'e2e.test'),
      '--provider=skeleton',
      `--kubeconfig=${kubeconfig}`,
      `--e2e-output-dir=${directory}`,
      '--disable-log-dump',
      '--ginkgo.no-color',
      '--ginkgo.timeout=2h',
      `--ginkgo.json-report=${report}`,
      `--ginkgo.focus=(?:${focus ?? ''}).*Feature:NetworkPolicy`,
      '--ginkgo.skip=SCTPConnectivity',
    ],
    { allowFailure: true },
  )
  const [{ SpecReports }] = reportSchema.parse(JSON.parse(await readFile(report, 'utf8')))
  return SpecReports.filter(
    ({ LeafNodeType, State }) => LeafNodeType === 'It' && State !== 'skipped' && State !== 'pending',
  ).map(({ ContainerHierarchyTexts, LeafNodeText, State, RunTime }) => ({
    name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
    state: State,
    seconds: RunTime / 1e9,
  }))
}

function formatEvidence(tests: readonly UpstreamTest[]): string {
  const passed = tests.filter(({ state }) => state === 'passed').length
  const rows = tests.map(({ name, state, seconds }) => [shortenName(name), state, seconds.toFixed(0)])
  const selection =
    focus === undefined
      ? 'All tests of `[Feature:NetworkPolicy]` were selected, except the three that need SCTP.'
      : `Only tests that match \`${focus.replaceAll('|', ' or ')}\` were selected; the others were not run.`
  return `# Upstream's NetworkPolicy tests

Written by \`npx vitest run --project full test/full/network-policy-upstream.test.ts\` on ${new Date().toISOString().slice(0, 10)}:
upstream's e2e.test v1.37.1 against Kubernetes 1.37.1 with flannel and kube-router 2.10.0, ${shape} hosts of the lab, one test at a time.

**${passed} of ${tests.length} that ran passed.** ${selection} The suite has 49 such tests.

${renderTable(['test', 'result', 'seconds'], rows)}

Not shown here: the same tests with \`network.policy: none\`, IPv6, SCTP, and Windows nodes.
`
}

/** Removes the words that all names have. */
function shortenName(name: string): string {
  return name
    .replace('[sig-network] Netpol ', '')
    .replace('NetworkPolicy between server and client ', '')
    .replace(' [Feature:NetworkPolicy]', '')
}
