import { expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import type { HostTrial } from '../../contract/provisional-change.ts'
import { digestOf } from '../../diff/digest.ts'
import { planFrom } from '../../lifecycle/build-proposal.ts'
import { planInput } from '../../plan/testing/fixtures.ts'
import { inMemory } from '../testing/run-in-memory.ts'
import { cluster, op, upTest } from '../up/testing/up-harness.ts'
import { askToKeep } from './ask-to-keep.ts'

const { wish, run } = await upTest()
const { plans } = planFrom(wish, planInput(cluster).facts, [])
const minute = 60_000
const trial = { time: 10 * minute, slot: 2 * minute }
const id = '22222222-2222-4222-8222-222222222222'

function planOf(host: string): NodePlan {
  const plan = plans.find((one) => one.host === host)
  if (plan === undefined) throw new Error(`no plan of ${host}`)
  return plan
}

/** What was there before: the same with another configuration of containerd. */
function before(plan: NodePlan): NodePlan {
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      files: component.files.map((file) =>
        file.path === op.name ? { ...file, content: { kind: 'text' as const, text: 'before' } } : file,
      ),
    })),
  }
}

type Ask = AgentRequest['ask']
type Answer = AgentResponse['answer'] | undefined

/** Hosts whose clock says noon, and that know what they were before. */
function answering(former = before) {
  return (ask: Ask, host: string): Answer => {
    switch (ask.type) {
      case 'former-plan':
        return { type: 'former-plan', plan: former(planOf(host)) }
      case 'clock':
        return { type: 'clock', time: Date.UTC(2026, 10, 15, 12) }
      case 'move-trial': {
        const { deadline } = ask
        return { type: 'trial', trial: { ...onTrial(host), deadline } }
      }
      default:
        return undefined
    }
  }
}

function onTrial(host: string): HostTrial {
  const [plan, deadline] = [digestOf(planOf(host)), '2026-11-15T12:10:00.000Z']
  return { id, plan, deadline, slot: 0, state: 'on-trial' }
}

const change: Op = { ...op, action: 'change' }
const usual = { ops: [change], trial, answer: answering() }

test('every host knows what it goes back to before anything is done, and counts from the end', async () => {
  const { verdict, said, asked, types } = await run({ ...usual, yes: true })
  expect(verdict).toEqual({
    code: 0,
    result: { outcome: 'done' },
    trial: { state: 'on-trial', until: '2026-11-15T12:10:00Z' },
  })
  expect(said).toContain(
    'on trial until 10 min 00 s after the last of it: unless it is kept, hosts go back one after the other (cp1, w2 and w1), which restarts containerd on cp1, w1 and w2\n',
  )
  const begun = asked.flatMap((ask) => (ask.type === 'begin-trial' ? [ask.trial] : []))
  expect(new Set(begun.map(({ slot }) => slot))).toEqual(new Set([0, 2 * minute, 4 * minute]))
  expect(new Set(begun.map(({ deadline }) => deadline))).toEqual(new Set(['2026-11-15T12:10:00.000Z']))
  expect(begun.map(({ plan }) => plan).toSorted()).toEqual(plans.map(digestOf).toSorted())
  expect(types.lastIndexOf('begin-trial')).toBeLessThan(types.indexOf('certificate-requests'))
  expect(types.indexOf('claim')).toBeLessThan(types.indexOf('begin-trial'))
  expect(types.lastIndexOf('apply')).toBeLessThan(types.indexOf('move-trial'))
})

test('somebody at a terminal is asked: yes keeps it, no goes back, and whoever leaves it leaves it on trial', async () => {
  const kept = await run({ ...usual, world: { answers: [true, true] } })
  expect(kept.verdict).toMatchObject({ code: 0, trial: { state: 'kept' } })
  expect(kept.types.filter((type) => type === 'keep-trial')).toHaveLength(3)
  expect(kept.types.at(-1)).toBe('release')
  const back = await run({ ...usual, world: { answers: [true, false] } })
  expect(back.verdict).toMatchObject({ code: 3, trial: { state: 'goes-back' } })
  const moved = back.asked.flatMap((ask) => (ask.type === 'move-trial' ? [ask.deadline] : []))
  expect(moved.slice(-3)).toEqual(moved.slice(-3).map(() => '2026-11-15T12:00:00.000Z'))
  const left = await run({ ...usual, world: { answers: [true] } })
  expect(left.verdict).toMatchObject({ code: 130, result: { outcome: 'done' }, trial: { state: 'on-trial' } })
  expect(left.types).not.toContain('keep-trial')
})

test('when the time is over nobody is asked any more', async () => {
  const { context } = inMemory({}, { answers: [true] })
  const options = { file: 'cluster.yml', output: 'table', input: true } as const
  expect(await askToKeep(context, options, context.now())).toBe('over')
  expect(await askToKeep(context, { ...options, yes: true }, new Date('2027-01-01'))).toBe('nobody')
})

test('what cannot be tried is refused before anything is done', async () => {
  const former = (plan: NodePlan): NodePlan => ({ ...plan, components: plan.components.slice(1) })
  const fresh = (ask: Ask): Answer => (ask.type === 'former-plan' ? { type: 'former-plan' } : undefined)
  for (const [answer, code] of [
    [answering(former), 'TRIAL_COMPONENTS'],
    [fresh, 'TRIAL_FIRST'],
  ] as const) {
    const { verdict, findings, types } = await run({ ...usual, answer, yes: true })
    expect(findings).toContain(`error ${code}`)
    expect(verdict).toMatchObject({ code: 1, result: { failure: { code } } })
    expect(types).not.toContain('claim')
  }
  const programs = await run({ ...usual, ops: [change, { ...op, target: 'artifact', name: 'etcd-4' }] })
  expect(programs.findings).toEqual(['error TRIAL_PROGRAMS'])
})

test('while something is on trial nothing else is done, and the same goes on with it', async () => {
  const trials = new Map(['cp1', 'w1'].map((host) => [host, onTrial(host)]))
  const plain = await run({ ops: [change], trials, yes: true })
  expect(plain.findings).toEqual(['error TRIAL_UNDER_WAY'])
  expect(plain).toMatchObject({ verdict: { code: 1 }, types: [] })
  const same = await run({ ...usual, trials, ops: [], yes: true })
  expect(same.verdict).toMatchObject({ code: 0, trial: { state: 'on-trial' } })
  const begun = same.asked.flatMap((ask) => (ask.type === 'begin-trial' ? [ask.trial.id] : []))
  expect(begun).toEqual([id, id])
  const other = new Map([...trials].map(([host, one]) => [host, { ...one, plan: 'f'.repeat(64) }]))
  const another = await run({ ...usual, trials: other, yes: true })
  expect(another.findings).toContain('error TRIAL_UNDER_WAY')
  expect(another.types).not.toContain('claim')
})

test('one that fails on the way says what becomes of it, and hosts keep their first deadline', async () => {
  const { verdict, said, types } = await run({
    ...usual,
    yes: true,
    async *script() {
      const failure = { code: 'SERVICE_FAILED', message: 'containerd does not start' }
      yield { type: 'run-ended', result: { outcome: 'failed', failure } }
    },
  })
  expect(verdict).toMatchObject({ error: expect.anything() })
  expect(said).toContain('hosts go back by themselves from 2026-11-15T12:10:00Z on')
  expect(types).not.toContain('move-trial')
})

test('where nothing is to be done nothing is tried', async () => {
  const { verdict, said } = await run({ ...usual, ops: [] })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'unchanged' } })
  expect(said).not.toContain('on trial')
})
