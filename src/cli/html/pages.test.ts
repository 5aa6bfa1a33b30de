import { expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { emptyProposal } from '../../lifecycle/proposal/proposal.ts'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import { createOpFixture } from '../render/testing/fixtures.ts'
import { escapeHtml } from './page.ts'
import { renderPlanPage } from './plan-page.ts'
import { buildTimeline } from './timeline.ts'
import { renderTimelinePage } from './timeline-page.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'

function buildEvents(
  ...entries: readonly (readonly [seconds: number, body: Event['body'], host?: string])[]
): Event[] {
  return entries.map(([seconds, body, host], index) => ({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Event',
    run,
    sequence: index + 1,
    time: new Date(Date.UTC(2026, 10, 17, 12, 0, seconds)).toISOString(),
    ...(host === undefined ? {} : { host }),
    body,
  }))
}

const op = createOpFixture('etcd', 'create', 'file', '/etc/<etcd>')
const failure = { code: 'SERVICE_FAILED', message: 'etcd does not start', hint: 'hyperkube logs etcd' }
const events = buildEvents(
  [0, { type: 'run-started', command: 'up' }],
  [1, { type: 'steps-planned', steps: [{ step: 'etcd/cp1', title: 'etcd on cp1', hosts: ['cp1'] }] }],
  [2, { type: 'step-started', step: 'etcd/cp1' }],
  [2, { type: 'step-started', step: 'etcd/cp1' }, 'cp1'],
  [3, { type: 'op-started', op }, 'cp1'],
  [5, { type: 'op-ended', op, result: { outcome: 'done' } }, 'cp1'],
  [8, { type: 'step-ended', step: 'etcd/cp1', result: { outcome: 'failed', failure } }, 'cp1'],
  [10, { type: 'run-ended', result: { outcome: 'failed', failure } }],
)

test('a timeline has a lane per host, with the times of its steps and ops', () => {
  const { command, start, end, result, lanes, ops, failures } = buildTimeline(events)
  expect({ command, seconds: (end - start) / 1000, outcome: result?.outcome }).toEqual({
    command: 'up',
    seconds: 10,
    outcome: 'failed',
  })
  const [bar] = lanes.get('cp1') ?? []
  expect(bar).toEqual({ title: 'etcd on cp1', start: start + 2000, end: start + 8000, outcome: 'failed' })
  // The step of all hosts has no end event, because the run failed. Its bar therefore counts as interrupted.
  expect(lanes.get('all hosts')?.map(({ outcome }) => outcome)).toEqual(['interrupted'])
  expect(ops.map((one) => one.end - one.start)).toEqual([2000])
  expect(failures).toEqual([
    { host: 'cp1', text: 'SERVICE_FAILED: etcd does not start', hint: 'hyperkube logs etcd' },
  ])
})

test('a timeline page needs no network and no script, and escapes foreign text', () => {
  const page = renderTimelinePage('shop<script>', buildTimeline(events))
  expect(page).toContain('style="left:20.00%;width:60.00%"')
  expect(page).toContain('/etc/&lt;etcd&gt;')
  expect(page).not.toMatch(/<script|https?:|<link|@import|url\(/)
})

test('a plan page contains the summary, escaped findings and the time', () => {
  const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
  const finding = { code: 'HOST_SWAP', severity: 'warning', message: 'swap is <on>', host: 'cp1' } as const
  const proposal = { ...emptyProposal, findings: [finding] }
  const options = { wide: true, diff: true, hosts: new Set(['cp1']), previousPlans: new Map() }
  const page = renderPlanPage(cluster, proposal, options, new Date('2026-11-17T12:00:00Z'))
  expect(page).toContain('Nothing to do')
  expect(page).toContain('cp1: swap is &lt;on&gt;')
  expect(page).toContain('planned 2026-11-17 12:00 UTC')
})

test('control characters and HTML characters are escaped', () => {
  expect(escapeHtml('a\u001B[8m"b"')).not.toContain('\u001B')
  expect(escapeHtml('"&<>')).toBe('&quot;&amp;&lt;&gt;')
})
