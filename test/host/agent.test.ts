/**
 * The tests use one host and its agent, from installation to reset. Each test continues where the previous
 * one ended.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type ComponentPlan, emptyComponent } from '../../src/contract/component-plan.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { AgentRelease } from '../../src/lifecycle/agents/agent-release.ts'
import type { ConnectedAgents } from '../../src/lifecycle/agents/connected-agents.ts'
import { applyPlanThrough } from '../../src/lifecycle/agents/run-on-agent.ts'
import type { Session } from '../../src/lifecycle/agents/session.ts'
import { resetHost } from '../../src/lifecycle/execute/remove-host.ts'
import { AgentHost, formatReleaseDirectory } from '../support/agent-host.ts'
import { type HostSnapshot, takeHostSnapshot } from '../support/host-snapshot.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { buildRelease, connectHost, createFakeRelease } from '../support/own-releases.ts'

const { signal } = new AbortController()
const claim = { holder: 'test', generation: 1 }
const services = {
  first: '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
  second: '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
}
const names = Object.keys(services)

let lab: Lab
let agentHost: AgentHost
let directory: string
let before: HostSnapshot
/** Two adjacent minor releases of hyperkube. */
let older: AgentRelease
let newer: AgentRelease

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  lab = await openFreshLab('agent')
  const host = await startOneHost(lab, 'h1', { disk: 'loop', diskGigabytes: 4 })
  agentHost = new AgentHost(host)
  before = await takeHostSnapshot(host)
  older = await buildRelease('0.1.0', directory)
  newer = await buildRelease('0.2.0', directory)
})
afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
  await lab.down()
})

/**
 * Connects to the host with a release, takes the operator lock, runs `work`, and disconnects, as a command
 * does.
 */
async function runCommand<T>(
  release: AgentRelease,
  work: (session: Session, connected: ConnectedAgents) => Promise<T>,
): Promise<T> {
  const connected = await connectHost(agentHost.host, release, { signal })
  try {
    const session = connected.sessions.get('h1')
    if (session === undefined) throw connected.unreachable.get('h1') ?? new Error('the host is unreachable')
    await session.request({ type: 'claim', claim, force: false }, 'claimed')
    return await work(session, connected)
  } finally {
    await connected.close()
  }
}

/** Applies a plan that names the installed release. */
async function apply(
  session: Session,
  { agents }: ConnectedAgents,
  more: Record<string, string> = {},
): Promise<void> {
  const unit = `${await agentHost.script('cat /etc/systemd/system/hyperkube-agent.service')}\n`
  const plan = buildSmallPlan('h1', { version: agents.get('h1') ?? '', unit }, { ...services, ...more })
  const delivery = { plan, claim, secrets: new Map(), certificates: {} }
  await applyPlanThrough(session, delivery, 'prepare', () => undefined)
}

test('a newer hyperkube replaces the agent, and no component restarts', async () => {
  await runCommand(older, apply)
  const processesBefore = await agentHost.readProcesses(names)
  expect(processesBefore).not.toMatch(/ 0( |$)/m)
  await runCommand(newer, async (session, connected) => {
    expect([await agentHost.readCurrentRelease(), await agentHost.listRollbackFiles()]).toEqual([
      formatReleaseDirectory(newer),
      '',
    ])
    expect(await agentHost.listReleases()).toContain(formatReleaseDirectory(older))
    await apply(session, connected)
  })
  // Applying the plan must have removed the previous release.
  expect(await agentHost.listReleases()).toEqual([formatReleaseDirectory(newer)])
  expect(await agentHost.readProcesses(names)).toBe(processesBefore)
})

test('a host rolls back to the previous agent if the new agent exits at once', async () => {
  const processesBefore = await agentHost.readProcesses(names)
  const broken = await createFakeRelease('0.3.1', directory, '#!/bin/sh\necho "no such luck" >&2\nexit 1\n')
  const error = (await connectHost(agentHost.host, broken, { signal })).unreachable.get('h1')
  expect(error).toMatchObject({ code: 'AGENT_NOT_STARTED', host: 'h1' })
  expect(error?.message).toContain('no such luck')
  expect(error?.message).toContain('rolling back to the previous agent')
  await pollUntil('the previous agent to answer', async () => agentHost.isReachable(), { timeoutMs: 20_000 })
  expect([await agentHost.readCurrentRelease(), await agentHost.listRollbackFiles()]).toEqual([
    formatReleaseDirectory(newer),
    '',
  ])
  expect(await agentHost.listReleases()).toEqual([
    formatReleaseDirectory(newer),
    formatReleaseDirectory(broken),
  ])
  expect(await agentHost.readProcesses(names)).toBe(processesBefore)
})

test('a hanging agent is restarted by the watchdog, and the next agent resumes its run', async () => {
  const dropIn = '/etc/systemd/system/hyperkube-agent.service.d'
  await agentHost.script(`mkdir ${dropIn}; printf '[Service]\\nWatchdogSec=3\\n' > ${dropIn}/test.conf
    systemctl daemon-reload; systemctl restart hyperkube-agent`)
  // The watchdog timeout is 3 s. During a run, the agent extends this timeout to 15 s.
  const [processesBefore, agent] = [await agentHost.readProcesses(names), await agentHost.readAgentPid()]
  // The service starts only when /run/go exists, so the test controls the duration of its start.
  const start = `until [ -e /run/go ]; do sleep 0.1; done; systemd-notify READY=1; exec sleep infinity`
  const slow = `[Service]\nType=notify\nNotifyAccess=all\nTimeoutStartSec=infinity\nExecStart=/bin/sh -c '${start}'\n[Install]\nWantedBy=multi-user.target\n`
  const runs = async (count: number): Promise<unknown> =>
    pollUntil(
      `${count} runs without an end`,
      async () =>
        (await agentHost.script('grep -L run-ended /var/lib/hyperkube/agent/runs/* | wc -l')) === `${count}`,
      { timeoutMs: 30_000 },
    )
  await runCommand(newer, async (session, connected) => {
    const applied = apply(session, connected, { slow })
    await pollUntil(
      'the slow start',
      async () => (await agentHost.script('systemctl is-active slow || true')) === 'activating',
      {
        timeoutMs: 20_000,
      },
    )
    await agentHost.script(`kill -STOP ${agent}`)
    await runs(2)
    await agentHost.script('touch /run/go')
    await applied
  })
  await runs(1)
  expect(await agentHost.script('systemctl is-active slow')).toBe('active')
  expect(await agentHost.readAgentPid()).not.toBe(agent)
  expect(await agentHost.script('journalctl -u hyperkube-agent')).toContain('Watchdog timeout')
  expect(await agentHost.readProcesses(names)).toBe(processesBefore)
  await agentHost.script(`rm -r ${dropIn}; systemctl daemon-reload; systemctl restart hyperkube-agent`)
})

test('an older hyperkube works with a newer agent and does not replace it', async () => {
  const [processesBefore, agent] = [await agentHost.readProcesses(names), await agentHost.readAgentPid()]
  await agentHost.script('systemctl stop slow')
  await runCommand(older, async (session, connected) => {
    expect(connected.agents.get('h1')).toBe(newer.version)
    await apply(session, connected)
  })
  // The last plan no longer contains the service, so it is removed.
  expect(await agentHost.script('systemctl list-units --all --plain --no-legend slow.service')).toBe('')
  expect([await agentHost.readCurrentRelease(), await agentHost.readAgentPid()]).toEqual([
    formatReleaseDirectory(newer),
    agent,
  ])
  // The release that never started must be removed too.
  expect(await agentHost.listReleases()).toEqual([formatReleaseDirectory(newer)])
  expect(await agentHost.readProcesses(names)).toBe(processesBefore)
})

test('a hyperkube that is too old for the agent is refused with AGENT_TOO_NEW', async () => {
  const { unreachable } = await connectHost(
    agentHost.host,
    { ...older, version: '0.0.9-aaaaaaaa' },
    { signal },
  )
  expect(unreachable.get('h1')).toMatchObject({ code: 'AGENT_TOO_NEW', host: 'h1' })
  expect(await agentHost.readCurrentRelease()).toBe(formatReleaseDirectory(newer))
})

test('a reset through the agent restores the initial state of the host', async () => {
  await runCommand(newer, async (session) => resetHost(session, claim, () => undefined))
  await pollUntil(
    'the agent to be removed',
    async () =>
      (await agentHost.script('systemctl list-units --all --plain --no-legend hyperkube-agent.service')) ===
      '',
    { timeoutMs: 10_000 },
  )
  expect(await agentHost.script('ls -d /run/hyperkube 2>/dev/null || true')).toBe('')
  expect(await takeHostSnapshot(agentHost.host)).toEqual(before)
})

test('a host rolls back an unresponsive new agent after a power cut', async () => {
  await runCommand(older, apply)
  const silentScript = '#!/bin/sh\n[ "$1" = agent ] || exit 1\nsystemd-notify READY=1\nexec sleep infinity\n'
  const silent = await createFakeRelease('0.3.0', directory, silentScript)
  const operator = new AbortController()
  const connecting = connectHost(agentHost.host, silent, {
    rollbackAfterMs: 3000,
    signal: operator.signal,
  }).catch(() => undefined)
  await pollUntil(
    'the new agent to be there',
    async () => (await agentHost.readCurrentRelease()) === formatReleaseDirectory(silent),
    {
      timeoutMs: 20_000,
    },
  )
  await agentHost.host.powerCut()
  operator.abort()
  await connecting
  await lab.start('h1')
  await pollUntil('the previous agent to answer', async () => agentHost.isReachable(), { timeoutMs: 30_000 })
  await pollUntil('the rollback to end', async () => (await agentHost.listRollbackFiles()) === '', {
    timeoutMs: 10_000,
  })
  expect(await agentHost.readCurrentRelease()).toBe(formatReleaseDirectory(older))
})

/** Release and unit of the agent on a host. */
interface InstalledAgent {
  readonly version: string
  readonly unit: string
}

/**
 * Builds a plan with the agent and services that consist only of a unit. `units` maps names to unit texts.
 */
function buildSmallPlan(
  host: string,
  agent: InstalledAgent,
  units: Readonly<Record<string, string>>,
): NodePlan {
  const { version, unit } = agent
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodePlan',
    cluster: { name: 'lab', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' },
    host,
    address: '192.0.2.1',
    os: 'linux',
    arch: process.arch === 'arm64' ? 'arm64' : 'amd64',
    roles: ['worker'],
    components: [
      {
        ...buildComponent('hyperkube-agent', unit),
        version,
        directories: [{ path: '/var/lib/hyperkube/agent', owner: 'root', mode: '0700' }],
        artifacts: [
          {
            from: 'this-release',
            name: 'hyperkube',
            version,
            directory: `/opt/hyperkube/hyperkube-${version}`,
          },
        ],
      },
      ...Object.entries(units).map(([name, text]) => buildComponent(name, text)),
    ],
  }
}

function buildComponent(name: string, unit: string): ComponentPlan {
  return {
    ...emptyComponent(),
    name,
    stage: 'prepare',
    service: { supervisor: 'systemd', name: `${name}.service`, unit },
  }
}
