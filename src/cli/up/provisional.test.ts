import { expect, test } from 'vitest'
import { promptProvisional } from '../command/confirm.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { computeDigest } from '../../diff/resource.ts'
import { planFromInputs } from '../../lifecycle/proposal/proposal.ts'
import { buildPlanInput } from '../../plan/testing/fixtures.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { createUpHarness, sampleOp, upTestCluster } from './testing/up-harness.ts'

const { inputs, run } = await createUpHarness()
const { plans } = planFromInputs(inputs, buildPlanInput(upTestCluster).facts, [])
const minute = 60_000
const provisional = { durationMs: 10 * minute, rollbackIntervalMs: 2 * minute }
const id = '22222222-2222-4222-8222-222222222222'

function findPlan(host: string): NodePlan {
  const plan = plans.find((one) => one.host === host)
  if (plan === undefined) throw new Error(`no plan of ${host}`)
  return plan
}

/** Returns the plan with another containerd configuration, as the previous plan. */
function withPreviousConfig(plan: NodePlan): NodePlan {
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      files: component.files.map((file) =>
        file.path === sampleOp.name ? { ...file, content: { kind: 'text' as const, text: 'before' } } : file,
      ),
    })),
  }
}

type RequestBody = AgentRequest['body']
type ResponseBody = AgentResponse['body'] | undefined

/** Creates responses of hosts whose clock is at noon and that have a previous plan. */
function respondAtNoon(previousPlan = withPreviousConfig) {
  return (request: RequestBody, host: string): ResponseBody => {
    switch (request.type) {
      case 'previous-plan':
        return { type: 'previous-plan', plan: previousPlan(findPlan(host)) }
      case 'clock':
        return { type: 'clock', time: Date.UTC(2026, 10, 15, 12) }
      case 'move-provisional': {
        const { deadline } = request
        return { type: 'provisional', provisional: { ...buildProvisional(host), deadline } }
      }
      default:
        return undefined
    }
  }
}

function buildProvisional(host: string): HostProvisionalChange {
  const [plan, deadline] = [computeDigest(findPlan(host)), '2026-11-15T12:10:00.000Z']
  return { id, plan, deadline, rollbackDelayMs: 0, state: 'provisional' }
}

const change: Op = { ...sampleOp, action: 'change' }
const defaultSetup = { ops: [change], provisional, respond: respondAtNoon() }

test('every host begins the provisional change before any apply, and the deadline moves after the last step', async () => {
  const { result, output, requests, types } = await run({ ...defaultSetup, yes: true })
  expect(result).toEqual({
    code: 0,
    result: { outcome: 'done' },
    provisional: { state: 'provisional', until: '2026-11-15T12:10:00Z' },
  })
  expect(output).toContain(
    'provisional for 10 min 00 s after the last step; unless confirmed, hosts roll back one after the other: cp1, w2 and w1\nthe rollback restarts containerd on cp1, w1 and w2\n',
  )
  const started = requests.flatMap((request) =>
    request.type === 'begin-provisional' ? [request.provisional] : [],
  )
  expect(new Set(started.map(({ rollbackDelayMs }) => rollbackDelayMs))).toEqual(
    new Set([0, 2 * minute, 4 * minute]),
  )
  expect(new Set(started.map(({ deadline }) => deadline))).toEqual(new Set(['2026-11-15T12:10:00.000Z']))
  expect(started.map(({ plan }) => plan).toSorted()).toEqual(plans.map(computeDigest).toSorted())
  expect(types.lastIndexOf('begin-provisional')).toBeLessThan(types.indexOf('certificate-requests'))
  expect(types.indexOf('claim')).toBeLessThan(types.indexOf('begin-provisional'))
  expect(types.lastIndexOf('apply')).toBeLessThan(types.indexOf('move-provisional'))
})

test('at the prompt yes confirms, no rolls back, and an interrupt leaves the change provisional', async () => {
  const confirmed = await run({ ...defaultSetup, environment: { replies: [true, true] } })
  expect(confirmed.result).toMatchObject({ code: 0, provisional: { state: 'confirmed' } })
  expect(confirmed.types.filter((type) => type === 'confirm-provisional')).toHaveLength(3)
  expect(confirmed.types.at(-1)).toBe('release')
  const rolledBack = await run({ ...defaultSetup, environment: { replies: [true, false] } })
  expect(rolledBack.result).toMatchObject({ code: 3, provisional: { state: 'rolling-back' } })
  const deadlines = rolledBack.requests.flatMap((request) =>
    request.type === 'move-provisional' ? [request.deadline] : [],
  )
  expect(deadlines.slice(-3)).toEqual(deadlines.slice(-3).map(() => '2026-11-15T12:00:00.000Z'))
  const interrupted = await run({ ...defaultSetup, environment: { replies: [true] } })
  expect(interrupted.result).toMatchObject({
    code: 130,
    result: { outcome: 'done' },
    provisional: { state: 'provisional' },
  })
  expect(interrupted.types).not.toContain('confirm-provisional')
})

test('there is no prompt after the deadline or with --yes', async () => {
  const { context } = createInMemoryContext({}, { replies: [true] })
  const options = { file: 'cluster.yml', output: 'table', input: true } as const
  expect(await promptProvisional(context, options, context.now())).toBe('over')
  expect(await promptProvisional(context, { ...options, yes: true }, new Date('2027-01-01'))).toBe(
    'no-prompt',
  )
})

test('a change that cannot be provisional is refused before the operator lock is taken', async () => {
  const previousPlan = (plan: NodePlan): NodePlan => ({ ...plan, components: plan.components.slice(1) })
  const withoutPreviousPlan = (request: RequestBody): ResponseBody =>
    request.type === 'previous-plan' ? { type: 'previous-plan' } : undefined
  for (const [respond, code] of [
    [respondAtNoon(previousPlan), 'PROVISIONAL_COMPONENTS'],
    [withoutPreviousPlan, 'PROVISIONAL_NO_PREVIOUS_PLAN'],
  ] as const) {
    const { result, findings, types } = await run({ ...defaultSetup, respond, yes: true })
    expect(findings).toContain(`error ${code}`)
    expect(result).toMatchObject({ code: 1, result: { failure: { code } } })
    expect(types).not.toContain('claim')
  }
  const programs = await run({
    ...defaultSetup,
    ops: [change, { ...sampleOp, target: 'artifact', name: 'etcd-4' }],
  })
  expect(programs.findings).toEqual(['error PROVISIONAL_PROGRAMS'])
})

test('while a provisional change is pending, other changes are refused, and the same command resumes', async () => {
  const provisionalChanges = new Map(['cp1', 'w1'].map((host) => [host, buildProvisional(host)]))
  const plain = await run({ ops: [change], provisionalChanges, yes: true })
  expect(plain.findings).toEqual(['error PROVISIONAL_PENDING'])
  expect(plain).toMatchObject({ result: { code: 1 }, types: [] })
  const same = await run({ ...defaultSetup, provisionalChanges, ops: [], yes: true })
  expect(same.result).toMatchObject({ code: 0, provisional: { state: 'provisional' } })
  const started = same.requests.flatMap((request) =>
    request.type === 'begin-provisional' ? [request.provisional.id] : [],
  )
  expect(started).toEqual([id, id])
  const other = new Map(
    [...provisionalChanges].map(([host, one]) => [host, { ...one, plan: 'f'.repeat(64) }]),
  )
  const another = await run({ ...defaultSetup, provisionalChanges: other, yes: true })
  expect(another.findings).toContain('error PROVISIONAL_PENDING')
  expect(another.types).not.toContain('claim')
})

test('after a failed run hosts keep their first deadline, and the output contains the rollback time', async () => {
  const { result, output, types } = await run({
    ...defaultSetup,
    yes: true,
    async *script() {
      const failure = { code: 'SERVICE_FAILED', message: 'containerd does not start' }
      yield { type: 'run-ended', result: { outcome: 'failed', failure } }
    },
  })
  expect(result).toMatchObject({ error: expect.anything() })
  expect(output).toContain('hosts start to roll back at 2026-11-15T12:10:00Z\n')
  expect(types).not.toContain('move-provisional')
})

test('without changes there is no provisional change', async () => {
  const { result, output } = await run({ ...defaultSetup, ops: [] })
  expect(result).toEqual({ code: 0, result: { outcome: 'unchanged' } })
  expect(output).not.toContain('provisional')
})
