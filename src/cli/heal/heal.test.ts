import { expect, test } from 'vitest'
import type { HealAction, HostHealth } from '../../contract/health.ts'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { scriptedSession, works } from '../../lifecycle/testing/scripted-agent.ts'
import { hyperkube, inMemory, type World } from '../testing/run-in-memory.ts'
import { pause, resume } from './pause.ts'
import { healFlags, type HealCommand } from './heal-command.ts'
import { status } from './heal-status.ts'

const action: HealAction = {
  at: '2026-11-15T11:00:00.000Z',
  component: 'kubelet',
  action: 'restart',
  because: 'nobody answers at 127.0.0.1:10248',
  code: 'HEALTH_NO_ANSWER',
  outcome: 'done',
  details: [],
}
const well: HostHealth = {
  at: '2026-11-15T12:00:00.000Z',
  plan: 'a'.repeat(64),
  ladder: 'usual',
  budget: { spent: 1, most: 10, within: 600_000 },
  components: [],
  probes: [],
  actions: [action, { ...action, at: '2026-11-01T11:00:00.000Z', because: 'long ago' }],
}
const unwell: HostHealth = {
  ...well,
  paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana@desk' },
  components: [{ component: 'flanneld', state: 'given-up', since: well.at, drift: [] }],
  actions: [],
}

interface Wish {
  readonly flags?: object
  readonly yes?: true
  readonly output?: 'json'
  readonly hosts?: readonly string[]
  readonly world?: World
}

async function run(command: HealCommand, { flags = {}, yes, output, hosts, world }: Wish = {}) {
  const asked: AgentRequest['ask'][] = []
  const { context, ended } = inMemory({}, world)
  const answer =
    (host: string) =>
    (ask: AgentRequest['ask']): AgentResponse['answer'] | undefined => {
      if (ask.type === 'health') return { type: 'health', health: host === 'w1' ? unwell : well }
      if (ask.type !== 'pause-healing') return undefined
      const until = new Date(context.now().getTime() + ask.for).toISOString()
      return { type: 'healing', ...(ask.for === 0 ? {} : { paused: { until, by: ask.by } }) }
    }
  const code = await command({
    context,
    options: { file: 'cluster.yml', output: output ?? 'table', input: true, ...(yes && { yes }) },
    flags: healFlags.parse(flags),
    cluster: 'shop',
    hosts: hosts ?? ['cp1', 'w1'],
    async remoteOf(host) {
      const { remote } = scriptedSession(host, { run: works, asked, answer: answer(host) })
      if (remote === undefined || host === 'w9') throw new Error('nobody answers at 10.0.0.9')
      return remote
    },
  })
  return { ...ended(code), types: asked }
}

test('agents are asked to pause, and it is said before what that means', async () => {
  const { code, stdout, stderr, types } = await run(pause, { flags: { for: 1_800_000 } })
  expect(types).toEqual(['cp1', 'w1'].map(() => ({ type: 'pause-healing', for: 1_800_000, by: 'me@here' })))
  expect(stderr).toMatch(/^for 30 min 00 s the agents of cp1 and w1 heal nothing: /)
  expect(stdout).toBe('cp1 and w1: healing is paused until 2026-11-15T12:30:00.000Z, by me@here\n')
  expect(code).toBe(0)
})

test('a dry run asks nobody', async () => {
  for (const command of [pause, resume]) {
    const { code, types, stderr } = await run(command, { flags: { dryRun: true } })
    expect([code, types, stderr]).toEqual([3, [], expect.stringContaining('would heal')])
  }
})

test('all hosts are paused only by a yes', async () => {
  const flags = { all: true }
  expect(await run(pause, { flags })).toMatchObject({ code: 2, types: [] })
  expect(await run(pause, { flags, world: { answers: [false] } })).toMatchObject({ code: 3, types: [] })
  expect(await run(pause, { flags, yes: true })).toMatchObject({ code: 0 })
})

test('resuming needs no yes; who is not reached is said, and is no success', async () => {
  const { code, stdout, types } = await run(resume, { hosts: ['cp1', 'w9'], flags: { all: true } })
  expect(types).toEqual([{ type: 'pause-healing', for: 0, by: 'me@here' }])
  expect(stdout).toBe('cp1: heals\nw9: not reached, and as it was: nobody answers at 10.0.0.9\n')
  expect(code).toBe(1)
})

test('what is paused, given up and was done lately', async () => {
  const { code, stdout } = await run(status, { hosts: ['cp1', 'w1', 'w9'] })
  expect(stdout).toMatchInlineSnapshot(`
    "HOST  HEALING                                            NOT WELL             SPENT                LADDER
    cp1   on                                                 -                    1/10 in 10 min 00 s  usual
    w1    paused until 2026-11-15T13:00:00.000Z by ana@desk  flanneld (given-up)  1/10 in 10 min 00 s  usual
    w9    no answer                                          ?                    ?                    ?

    w9: nobody answers at 10.0.0.9

    2026-11-15T11:00:00.000Z cp1 kubelet: restart, because nobody answers at 127.0.0.1:10248 (HEALTH_NO_ANSWER)
    "
  `)
  expect(code).toBe(1)
  expect((await run(status, { hosts: ['cp1'] })).code).toBe(0)
})

test('the same for programs', async () => {
  const { stdout } = await run(status, { hosts: ['w1', 'w9'], output: 'json' })
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'HealStatus',
    hosts: [
      { host: 'w1', paused: { by: 'ana@desk' }, unwell: [{ component: 'flanneld' }], actions: [] },
      { host: 'w9', reason: 'nobody answers at 10.0.0.9' },
    ],
  })
})

test.each([
  ['heal', "missing required argument 'action'"],
  ['heal pause', 'on which hosts?'],
  ['heal pause cp1 --all', 'on which hosts?'],
  ['heal resume', 'on which hosts?'],
  ['heal pause cp1 --for 2d', 'a day the most'],
  ['heal pause cp1 --for ever', 'write it as 30m'],
])('%s is not right', async (words, wrong) => {
  const ran = await hyperkube(words)
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(wrong)])
})
