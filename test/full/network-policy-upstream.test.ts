import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conformanceParts } from '../../lab/components/parts.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { runUpstreamTests, type UpstreamTest } from '../support/upstream-tests.ts'

const shape = '3+2'
const evidence = join(import.meta.dirname, '../../docs/evidence/network-policy.md')
/** Regular expression of the tests to run. Without it, all that the lab's kernel supports run. */
const focus = process.env['POLICY_FOCUS']
/** Tests of policies that deny something. With `network.policy: none` they must fail. */
const controlFocus = "should support a 'default-deny-(?:ingress|all)' policy"
const clusterNow = setUpCluster('network-policy', shape, '1.37.1', { parts: conformanceParts })

test('upstream’s NetworkPolicy tests pass, and fail without an engine', { timeout: 7_200_000 }, async () => {
  const cluster = clusterNow()
  // The kernel of the lab has no SCTP.
  const run = async (selected: string): Promise<readonly UpstreamTest[]> =>
    runUpstreamTests(cluster, { focus: `(?:${selected}).*Feature:NetworkPolicy`, skip: 'SCTPConnectivity' })
  const tests = await run(focus ?? '')
  await writeFile(evidence, formatEvidence(tests, []))
  await cluster.operator.edit((document) => document.setIn(['spec', 'network', 'policy'], 'none'))
  await cluster.operator.must(0, 'up', '--yes')
  const control = await run(controlFocus)
  await writeFile(evidence, formatEvidence(tests, control))
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(({ state }) => state !== 'passed')).toEqual([])
  expect(control.length).toBeGreaterThan(0)
  expect(control.filter(({ state }) => state !== 'failed')).toEqual([])
})

function formatEvidence(tests: readonly UpstreamTest[], control: readonly UpstreamTest[]): string {
  const passed = tests.filter(({ state }) => state === 'passed').length
  const toRow = ({ name, state, seconds }: UpstreamTest): string[] => [
    shortenName(name),
    state,
    seconds.toFixed(0),
  ]
  const selection =
    focus === undefined
      ? 'All tests of `[Feature:NetworkPolicy]` were selected, except the three that need SCTP.'
      : `Only tests that match \`${focus.replaceAll('|', ' or ')}\` were selected; the others were not run.`
  return `# Upstream's NetworkPolicy tests

Written by \`npx vitest run --project full test/full/network-policy-upstream.test.ts\` on ${new Date().toISOString().slice(0, 10)}:
upstream's e2e.test v1.37.1 against Kubernetes 1.37.1 with flannel and kube-router 2.10.0, ${shape} hosts of the lab, one test at a time.

**${passed} of ${tests.length} that ran passed.** ${selection} The suite has 49 such tests.

${renderTable(['test', 'result', 'seconds'], tests.map(toRow))}

## The same cluster with \`network.policy: none\`

Tests of policies that deny something must fail without an engine.

${control.length === 0 ? 'Not run.' : renderTable(['test', 'result', 'seconds'], control.map(toRow))}

Not shown here: IPv6, SCTP, and Windows nodes.
`
}

/** Removes the words that all names have. */
function shortenName(name: string): string {
  return name
    .replace('[sig-network] Netpol ', '')
    .replace('NetworkPolicy between server and client ', '')
    .replace(' [Feature:NetworkPolicy]', '')
}
