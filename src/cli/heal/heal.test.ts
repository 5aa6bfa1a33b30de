import { expect, test } from 'vitest'
import type { HealAction, HostHealth } from '../../contract/health.ts'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { scriptedSession, successfulRun } from '../../lifecycle/testing/scripted-agent.ts'
import { runHyperkube, createInMemoryContext, type InMemoryOptions } from '../testing/run-in-memory.ts'
import { pauseHealing, resumeHealing } from './pause.ts'
import { healFlags, type HealCommand } from './heal-command.ts'
import { showHealStatus } from './heal-status.ts'

const action: HealAction = {
  at: '2026-11-15T11:00:00.000Z',
  component: 'kubelet',
  action: 'restart',
  because: 'no answer from 127.0.0.1:10248',
  code: 'HEALTH_NO_RESPONSE',
  outcome: 'done',
  details: [],
}
const healthy: HostHealth = {
  at: '2026-11-15T12:00:00.000Z',
  plan: 'a'.repeat(64),
  healPolicy: 'default',
  budget: { used: 1, max: 10, windowMs: 600_000 },
  components: [],
  probes: [],
  actions: [action, { ...action, at: '2026-11-01T11:00:00.000Z', because: 'long ago' }],
}
const unhealthy: HostHealth = {
  ...healthy,
  paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana@host' },
  components: [{ component: 'flanneld', state: 'exhausted', since: healthy.at, drift: [] }],
  actions: [],
}

interface RunSetup {
  readonly flags?: object
  readonly yes?: true
  readonly output?: 'json'
  readonly hosts?: readonly string[]
  readonly deps?: InMemoryOptions
}

async function run(command: HealCommand, { flags = {}, yes, output, hosts, deps }: RunSetup = {}) {
  const requests: AgentRequest['body'][] = []
  const { context, collectResult } = createInMemoryContext({}, deps)
  const respond =
    (host: string) =>
    (request: AgentRequest['body']): AgentResponse['body'] | undefined => {
      if (request.type === 'health') return { type: 'health', health: host === 'w1' ? unhealthy : healthy }
      if (request.type !== 'pause-healing') return undefined
      const until = new Date(context.now().getTime() + request.for).toISOString()
      return { type: 'healing', ...(request.for === 0 ? {} : { paused: { until, by: request.by } }) }
    }
  const code = await command({
    context,
    options: { file: 'cluster.yml', output: output ?? 'table', input: true, ...(yes && { yes }) },
    flags: healFlags.parse(flags),
    cluster: 'shop',
    hosts: hosts ?? ['cp1', 'w1'],
    async connect(host) {
      const { remote } = scriptedSession(host, { run: successfulRun, requests, respond: respond(host) })
      if (remote === undefined || host === 'w9') throw new Error('no answer from 10.0.0.9')
      return remote
    },
  })
  return { ...collectResult(code), types: requests }
}

test('pause prints the consequence, then pauses the agents of all named hosts', async () => {
  const { code, stdout, stderr, types } = await run(pauseHealing, { flags: { for: 1_800_000 } })
  expect(types).toEqual(['cp1', 'w1'].map(() => ({ type: 'pause-healing', for: 1_800_000, by: 'me@here' })))
  expect(stderr).toMatch(/^agents of cp1 and w1 will not repair failures for 30 min 00 s, /)
  expect(stdout).toBe('cp1 and w1: healing is paused until 2026-11-15T12:30:00.000Z, by me@here\n')
  expect(code).toBe(0)
})

test('a dry run sends no request', async () => {
  for (const command of [pauseHealing, resumeHealing]) {
    const { code, types, stderr } = await run(command, { flags: { dryRun: true } })
    expect([code, types, stderr]).toEqual([
      3,
      [],
      expect.stringMatching(/^agents of cp1 and w1 would (not repair failures|resume healing)/),
    ])
  }
})

test('pausing all hosts needs a confirmation', async () => {
  const flags = { all: true }
  expect(await run(pauseHealing, { flags })).toMatchObject({ code: 2, types: [] })
  expect(await run(pauseHealing, { flags, deps: { replies: [false] } })).toMatchObject({ code: 3, types: [] })
  expect(await run(pauseHealing, { flags, yes: true })).toMatchObject({ code: 0 })
})

test('resuming needs no confirmation; an unreachable host is reported as a failure', async () => {
  const { code, stdout, types } = await run(resumeHealing, { hosts: ['cp1', 'w9'], flags: { all: true } })
  expect(types).toEqual([{ type: 'pause-healing', for: 0, by: 'me@here' }])
  expect(stdout).toBe('cp1: healing is on\nw9: unreachable, not changed: no answer from 10.0.0.9\n')
  expect(code).toBe(1)
})

test('status shows pauses, exhausted healing and recent actions', async () => {
  const { code, stdout } = await run(showHealStatus, { hosts: ['cp1', 'w1', 'w9'] })
  expect(stdout).toMatchInlineSnapshot(`
    "HOST  HEALING                                            UNHEALTHY             BUDGET               POLICY
    cp1   on                                                 -                     1/10 in 10 min 00 s  default
    w1    paused until 2026-11-15T13:00:00.000Z by ana@host  flanneld (exhausted)  1/10 in 10 min 00 s  default
    w9    unreachable                                        ?                     ?                    ?

    w9: no answer from 10.0.0.9

    2026-11-15T11:00:00.000Z cp1 kubelet: restart, because no answer from 127.0.0.1:10248 (HEALTH_NO_RESPONSE)
    "
  `)
  expect(code).toBe(1)
  expect((await run(showHealStatus, { hosts: ['cp1'] })).code).toBe(0)
})

test('status -o json prints a HealStatus document', async () => {
  const { stdout } = await run(showHealStatus, { hosts: ['w1', 'w9'], output: 'json' })
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'HealStatus',
    hosts: [
      { host: 'w1', paused: { by: 'ana@host' }, unhealthy: [{ component: 'flanneld' }], actions: [] },
      { host: 'w9', reason: 'no answer from 10.0.0.9' },
    ],
  })
})

test.each([
  ['heal', 'needs a subcommand: status, pause, resume'],
  ['heal pause', 'name hosts, or use --all'],
  ['heal pause cp1 --all', 'name hosts, or use --all'],
  ['heal resume', 'name hosts, or use --all'],
  ['heal pause cp1 --for 2d', 'from 1m to 24h'],
  ['heal pause cp1 --for ever', 'expected a duration such as 30m'],
])('%s is a usage error', async (args, message) => {
  const result = await runHyperkube(args)
  expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(message)])
})
