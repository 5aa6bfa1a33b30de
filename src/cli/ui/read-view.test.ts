import { describe, expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { clusterViews, viewSchemas } from '../../ui/views.ts'
import { buildPlanDocument } from '../../lifecycle/proposal/plan-approval.ts'
import { emptyProposal } from '../../lifecycle/proposal/proposal.ts'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import { buildStatusDocument, buildStatusReport } from '../../lifecycle/status/status-report.ts'
import { buildHealthyCluster, withLostHosts } from '../../lifecycle/observe/testing/cluster-fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import { buildDoctorDocument } from '../doctor/document.ts'
import { runFlags } from '../command/run-flags.ts'
import { readPlan } from '../plan/read-plan.ts'
import { createOpFixture } from '../render/testing/fixtures.ts'
import { type CommandContext, exitCodes, type LeafCommand } from '../command/command.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { PlanApplier } from './plan-applier.ts'
import { buildPlanView } from './read-plan-view.ts'
import { buildRunView } from './read-run-view.ts'
import { createViewReader, type ViewCommands } from './read-view.ts'

/** A command that prints the options that it got. */
const echo: LeafCommand = {
  examples: [],
  sharedFlags: [],
  configure: () => undefined,
  async run({ stdout }, { options }) {
    stdout.write(JSON.stringify(options))
    return exitCodes.failure
  },
}
const commands: ViewCommands = {
  ...{ fleet: echo, status: echo, doctor: echo, etcd: echo, certificates: echo, runs: echo },
  ...{ run: echo, logs: echo },
}
const clusters = [{ name: 'shop', file: 'clusters/shop/cluster.yml' }]

test('a view runs its command with the file of the cluster, without prompts', async () => {
  const { context } = createInMemoryContext({})
  const files = { file: 'cluster.yml', key: 'shop.key' }
  const read = createViewReader(context, files, { fleet: undefined, clusters }, commands)
  expect(await read({ view: 'status', cluster: 'shop' })).toEqual({
    ...{ file: 'clusters/shop/cluster.yml', key: 'shop.key' },
    ...{ output: 'json', input: false, quiet: true },
  })
})

test('clusters of a fleet do not use --key, and unknown clusters are refused', async () => {
  const { context } = createInMemoryContext({})
  const files = { file: 'fleet.yml', key: 'shop.key' }
  const read = createViewReader(context, files, { fleet: 'retail', clusters }, commands)
  expect(await read({ view: 'doctor', cluster: 'shop' })).not.toHaveProperty('key')
  expect(await read({ view: 'overview' })).toMatchObject({ fleet: 'retail', clusters })
  for (const cluster of ['other', '../shop', 'clusters/shop/cluster.yml'])
    await expect(read({ view: 'status', cluster })).rejects.toMatchObject({ code: 'UI_CLUSTER_UNKNOWN' })
})

test('suggested commands name the file of their cluster', async () => {
  const { context } = createInMemoryContext({})
  const doctor: LeafCommand = {
    ...echo,
    async run({ stdout }) {
      stdout.write(
        JSON.stringify({ findings: [{ command: 'hyperkube etcd rejoin cp1', what: 'hyperkube up' }] }),
      )
      return exitCodes.ok
    },
  }
  const failing: LeafCommand = {
    ...echo,
    run: async () => Promise.reject(new HyperkubeError('SSH_LOST', 'lost', { hint: 'hyperkube doctor' })),
  }
  const read = createViewReader(
    context,
    { file: 'fleet.yml' },
    { fleet: 'retail', clusters: [{ name: 'shop', file: 'my shop/cluster.yml' }] },
    { ...commands, doctor, status: failing },
  )
  expect(await read({ view: 'doctor', cluster: 'shop' })).toEqual({
    findings: [{ command: "hyperkube --file 'my shop/cluster.yml' etcd rejoin cp1", what: 'hyperkube up' }],
  })
  await expect(read({ view: 'status', cluster: 'shop' })).rejects.toMatchObject({
    code: 'SSH_LOST',
    hint: "hyperkube --file 'my shop/cluster.yml' doctor",
  })
})

test('a command without a result fails with what it printed', async () => {
  const { context } = createInMemoryContext({})
  const silent: LeafCommand = {
    ...echo,
    async run({ stderr }) {
      stderr.write('cluster.yml:3:1: error SPEC_UNKNOWN_KEY: hostz\n')
      return exitCodes.failure
    },
  }
  const read = createViewReader(
    context,
    { file: 'cluster.yml' },
    { fleet: undefined, clusters },
    { ...commands, status: silent },
  )
  await expect(read({ view: 'status', cluster: 'shop' })).rejects.toMatchObject({
    code: 'UI_VIEW_EMPTY',
    message: 'cluster.yml:3:1: error SPEC_UNKNOWN_KEY: hostz',
  })
})

test('the schemas accept what status and doctor print', () => {
  const observation = withLostHosts(buildHealthyCluster(), 'cp1')
  const report = buildStatusReport(observation, { kubernetes: '1.37.1' }, {})
  const printed: unknown = JSON.parse(JSON.stringify(buildStatusDocument('shop', report)))
  const status = viewSchemas.status.parse(printed)
  expect(status.hosts.map(({ host }) => host)).toEqual(['cp1', 'cp2', 'cp3', 'w1', 'w2'])
  expect(status.hosts[0]?.unreachable).toBe('connect ETIMEDOUT')
  const doctor = buildDoctorDocument('shop', observation.at, diagnose(observation))
  expect(viewSchemas.doctor.parse(JSON.parse(JSON.stringify(doctor))).findings).toEqual(doctor.findings)
})

test('the view of a plan has all ops and diffs of changed hosts, without secrets', () => {
  const cluster = buildTestCluster(
    '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
    '{ name: w1, address: 10.0.0.2, roles: [worker] }',
  )
  const { plans } = planCluster(buildPlanInput(cluster))
  const op = createOpFixture('etcd', 'restart', 'service', 'etcd.service')
  const proposal = { ...emptyProposal, plans, ops: new Map([['cp1', [op]]]) }
  const view = clusterViews.plan.parse(buildPlanView('test', proposal))
  expect(view.hosts.map(({ host, ops }) => [host, ops.length])).toEqual([['cp1', 1]])
  expect(view.hosts[0]?.diff).toContain('etcd')
  expect(JSON.stringify(view)).not.toContain('PRIVATE KEY')
})

test('a run without an end shows open steps, and what hosts wait for', () => {
  const event = (seconds: number, body: Event['body'], host?: string): Event => ({
    ...{ apiVersion: 'hyperkube.dev/v1', kind: 'Event', run: '6b1f0a52-8f0b-4a39-9d55-0a3f6d3f8f11' },
    sequence: seconds + 1,
    time: new Date(seconds * 1000).toISOString(),
    ...(host === undefined ? {} : { host }),
    body,
  })
  const since = new Date(2000).toISOString()
  const events = [
    event(0, { type: 'run-started', command: 'up' }),
    event(1, { type: 'step-started', step: 'etcd' }, 'cp1'),
    event(1, { type: 'step-started', step: 'etcd' }, 'cp2'),
    event(2, { type: 'waiting', for: 'quorum', since }, 'cp1'),
    event(2, { type: 'waiting', for: 'quorum', since }, 'cp2'),
    event(3, { type: 'step-ended', step: 'etcd', result: { outcome: 'done' } }, 'cp2'),
  ]
  const view = clusterViews.run.parse(buildRunView('name-up', events))
  expect(view).toMatchObject({ command: 'up', lastEvent: new Date(3000).toISOString() })
  expect(view.outcome).toBeUndefined()
  expect(view.waits).toEqual([{ host: 'cp1', for: 'quorum', since }])
  const outcomes = Object.fromEntries(view.hosts.map(({ host, steps }) => [host, steps[0]?.outcome]))
  expect(outcomes).toEqual({ cp1: 'not ended', cp2: 'done' })
  const ended = event(4, { type: 'run-ended', result: { outcome: 'interrupted' } })
  expect(buildRunView('name-up', [...events, ended])).toMatchObject({ outcome: 'interrupted', waits: [] })
})

test('logs keep the newest lines, and report hosts that were not read', async () => {
  const { context } = createInMemoryContext({})
  let given: unknown
  const logs: LeafCommand = {
    ...echo,
    async run({ stdout, stderr }, { args, options }) {
      given = { args, ...options }
      const line = { time: '2026-11-18T12:00:00Z', host: 'cp1', component: 'etcd', priority: 6 }
      for (let index = 0; index < 2500; index++)
        stdout.write(`${JSON.stringify({ ...line, message: String(index) })}\n`)
      stderr.write('error SSH_LOST w1: no route\n')
      return exitCodes.failure
    },
  }
  const shown = { fleet: undefined, clusters }
  const read = createViewReader(context, { file: 'cluster.yml' }, shown, { ...commands, logs })
  const search = { component: 'etcd', host: 'cp1', since: '1h', text: 'slow' } as const
  const view = clusterViews.logs.parse(await read({ view: 'logs', cluster: 'shop', search }))
  expect(view.lines).toHaveLength(1000)
  expect(view.lines.at(-1)?.message).toBe('2499')
  expect(view).toMatchObject({ isCut: true, problems: 'error SSH_LOST w1: no route' })
  expect(given).toMatchObject({ args: ['etcd'], grep: 'slow', limit: ['cp1'], since: { ago: 3_600_000 } })
})

describe('a shown plan', () => {
  const document = { ...buildPlanDocument({ ...emptyProposal, steps: [] }) }
  const upWith = (run: LeafCommand['run']): LeafCommand => ({ ...echo, run })
  const openLog = ({ commandLogs, now }: CommandContext): void =>
    commandLogs.open('shop', 'up', now()).close()

  test('is applied with up --plan, and the response names the run', async () => {
    const { context } = createInMemoryContext({})
    const open = { ...context.commandLogs.open('', '', new Date()), path: '/runs/shop/time-up.ndjson' }
    const logged = { ...context, commandLogs: { ...context.commandLogs, open: () => open } }
    let given: unknown
    const up = upWith(async (own, { options }) => {
      given = options
      // The flags that commander would fill in are complete.
      runFlags.parse(options)
      openLog(own)
      return exitCodes.ok
    })
    await using applier = new PlanApplier(logged, up)
    const digest = await applier.keep('shop', document)
    expect(await applier.apply('shop', { file: 'cluster.yml' }, digest)).toEqual({ run: 'time-up' })
    expect(given).toMatchObject({ yes: true, plan: '/home/me/.local/state/hyperkube/ui/shop.plan' })
  })

  test('is refused if it is not the newest plan, or was never shown', async () => {
    const { context } = createInMemoryContext({})
    await using applier = new PlanApplier(context, echo)
    const files = { file: 'cluster.yml' }
    await expect(applier.apply('shop', files, 'none')).rejects.toMatchObject({ code: 'UI_PLAN_REPLACED' })
    const digest = await applier.keep('shop', document)
    const finding = { code: 'HOST_SWAP', severity: 'warning', message: 'swap is on' } as const
    await applier.keep('shop', { ...document, findings: [finding] })
    await expect(applier.apply('shop', files, digest)).rejects.toMatchObject({ code: 'UI_PLAN_REPLACED' })
  })

  test('is applied even if another tab replaces the file before the run reads it', async () => {
    const { context } = createInMemoryContext({})
    let applied: unknown
    const up = upWith(async (own, { options }) => {
      // The view of a second tab ends while the run loads its files.
      await applier.keep('shop', {
        ...document,
        findings: [{ code: 'HOST_SWAP', severity: 'warning', message: 'swap is on' }],
      })
      applied = await readPlan(own, String(options['plan']))
      openLog(own)
      return exitCodes.ok
    })
    await using applier = new PlanApplier(context, up)
    const digest = await applier.keep('shop', document)
    await applier.apply('shop', { file: 'cluster.yml' }, digest)
    expect(applied).toMatchObject({ findings: [] })
  })

  test('a command that ends before its run starts is a failure', async () => {
    const { context } = createInMemoryContext({})
    const up = upWith(async ({ stderr }) => {
      stderr.write('error SPEC_UNKNOWN_KEY: hostz\n')
      return exitCodes.failure
    })
    await using applier = new PlanApplier(context, up)
    const digest = await applier.keep('shop', document)
    await expect(applier.apply('shop', { file: 'cluster.yml' }, digest)).rejects.toMatchObject({
      message: 'error SPEC_UNKNOWN_KEY: hostz',
    })
  })
})
