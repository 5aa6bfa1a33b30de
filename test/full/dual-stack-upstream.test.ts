import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conformanceParts } from '../../lab/components/parts.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import { setDualStack } from '../support/dual-stack.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { runUpstreamTests, type UpstreamTest } from '../support/upstream-tests.ts'

const shape = process.env['DUAL_STACK_SHAPE'] ?? '3+2'
const evidence = join(import.meta.dirname, '../../docs/evidence/dual-stack-upstream.md')
/** Regular expression of the tests to run. Without it, all that the lab's kernel supports run. */
const focus = process.env['DUAL_STACK_FOCUS']
const clusterNow = setUpCluster('dual-upstream', shape, '1.37.1', {
  parts: conformanceParts,
  beforeLock: setDualStack,
})

test('upstream’s dual-stack tests pass', { timeout: 7_200_000 }, async () => {
  const tests = await runUpstreamTests(clusterNow(), {
    focus: `Feature:IPv6DualStack.*(?:${focus ?? ''})`,
    // The kernel of the lab has no SCTP.
    skip: 'SCTPConnectivity',
  })
  await writeFile(evidence, formatEvidence(tests))
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(({ state }) => state !== 'passed')).toEqual([])
})

function formatEvidence(tests: readonly UpstreamTest[]): string {
  const passed = tests.filter(({ state }) => state === 'passed').length
  const rows = tests.map(({ name, state, seconds }) => [shortenName(name), state, seconds.toFixed(0)])
  const selection =
    focus === undefined
      ? 'All tests of `[Feature:IPv6DualStack]` were selected, except the one that needs SCTP.'
      : `Only tests that match \`${focus.replaceAll('|', ' or ')}\` were selected; the others were not run.`
  return `# Upstream's dual-stack tests

Written by \`npx vitest run --project full test/full/dual-stack-upstream.test.ts\` on ${new Date().toISOString().slice(0, 10)}:
upstream's e2e.test v1.37.1 against a dual-stack cluster with Kubernetes 1.37.1, flannel, kube-proxy (nftables) and kube-router 2.10.0, ${shape} hosts
of the lab, one test at a time.

**${passed} of ${tests.length} that ran passed.** ${selection}

${renderTable(['test', 'result', 'seconds'], rows)}

[Own tests of a dual-stack cluster](dual-stack.md)
`
}

/** Removes the words that all names have. */
function shortenName(name: string): string {
  return name.replace('[sig-network] ', '').replace('[Feature:IPv6DualStack] ', '')
}
