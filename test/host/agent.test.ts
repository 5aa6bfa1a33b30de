import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { OwnRelease } from '../../src/lifecycle/agent-install.ts'
import { applyThrough } from '../../src/lifecycle/apply-plan.ts'
import type { Crew } from '../../src/lifecycle/connected-agents.ts'
import { resetHost } from '../../src/lifecycle/reset.ts'
import type { Session } from '../../src/lifecycle/session.ts'
import { AgentHost, directoryOf } from '../support/agent-host.ts'
import { type HostSnapshot, snapshot } from '../support/host-snapshot.ts'
import { freshLab, oneHost } from '../support/lab.ts'
import { imposter, meet, releaseOf } from '../support/own-releases.ts'
import { smallPlan } from '../support/small-plan.ts'

/** One host and its agent, from the first to the last: each test goes on where the one before it ended. */
const { signal } = new AbortController()
const claim = { holder: 'test', generation: 1 }
const services = {
  first: '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
  second: '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
}
const names = Object.keys(services)

let lab: Lab
let at: AgentHost
let directory: string
let before: HostSnapshot
/** Two neighbouring minors of hyperkube. */
let older: OwnRelease
let newer: OwnRelease

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  lab = await freshLab('agent')
  const host = await oneHost(lab, 'h1', { disk: 'loop', diskGigabytes: 4 })
  at = new AgentHost(host)
  before = await snapshot(host)
  older = await releaseOf('0.1.0', directory)
  newer = await releaseOf('0.2.0', directory)
})
afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
  await lab.down()
})

/** As a command does: reaches the host with a release, takes the claim, does something, and goes. */
async function command<T>(
  release: OwnRelease,
  work: (session: Session, crew: Crew) => Promise<T>,
): Promise<T> {
  const crew = await meet(at.host, release, { signal })
  try {
    const session = crew.sessions.get('h1')
    if (session === undefined) throw crew.missing.get('h1') ?? new Error('nobody answers')
    await session.ask({ type: 'claim', claim, force: false }, 'claimed')
    return await work(session, crew)
  } finally {
    await crew.close()
  }
}

/** Brings a plan to the host that names the release which it has. */
async function apply(session: Session, { agents }: Crew, more: Record<string, string> = {}): Promise<void> {
  const unit = `${await at.script('cat /etc/systemd/system/hyperkube-agent.service')}\n`
  const plan = smallPlan('h1', { version: agents.get('h1') ?? '', unit }, { ...services, ...more })
  const delivery = { plan, claim, secrets: new Map(), certificates: {} }
  await applyThrough(session, delivery, 'prepare', () => undefined)
}

test('a newer hyperkube replaces the agent, and no component restarts', async () => {
  await command(older, apply)
  const was = await at.processes(names)
  expect(was).not.toMatch(/ 0( |$)/m)
  await command(newer, async (session, crew) => {
    expect([await at.current(), await at.trial()]).toEqual([directoryOf(newer), ''])
    expect(await at.releases()).toContain(directoryOf(older))
    await apply(session, crew)
  })
  // The former one went with the plan.
  expect(await at.releases()).toEqual([directoryOf(newer)])
  expect(await at.processes(names)).toBe(was)
})

test('from an agent that ends at once the host goes back by itself', async () => {
  const was = await at.processes(names)
  const broken = await imposter('0.3.1', directory, '#!/bin/sh\necho "no such luck" >&2\nexit 1\n')
  const error = (await meet(at.host, broken, { signal })).missing.get('h1')
  expect(error).toMatchObject({ code: 'AGENT_NOT_STARTED', host: 'h1' })
  expect(error?.message).toContain('no such luck')
  expect(error?.message).toContain('the former one runs again')
  await until('the former agent to answer', async () => at.answers(), { within: 20_000 })
  expect([await at.current(), await at.trial()]).toEqual([directoryOf(newer), ''])
  expect(await at.releases()).toEqual([directoryOf(newer), directoryOf(broken)])
  expect(await at.processes(names)).toBe(was)
})

test('an agent that hangs is replaced, and the next one goes on with its work', async () => {
  const drop = '/etc/systemd/system/hyperkube-agent.service.d'
  await at.script(`mkdir ${drop}; printf '[Service]\\nWatchdogSec=3\\n' > ${drop}/test.conf
    systemctl daemon-reload; systemctl restart hyperkube-agent`)
  const [was, agent] = [await at.processes(names), await at.agentPid()]
  // It lasts as long as we like.
  const start = `until [ -e /run/go ]; do sleep 0.1; done; systemd-notify READY=1; exec sleep infinity`
  const slow = `[Service]\nType=notify\nNotifyAccess=all\nTimeoutStartSec=infinity\nExecStart=/bin/sh -c '${start}'\n[Install]\nWantedBy=multi-user.target\n`
  const runs = async (count: number): Promise<unknown> =>
    until(
      `${count} runs without an end`,
      async () =>
        (await at.script('grep -L run-ended /var/lib/hyperkube/agent/runs/* | wc -l')) === `${count}`,
      { within: 30_000 },
    )
  await command(newer, async (session, crew) => {
    const applied = apply(session, crew, { slow })
    await until(
      'the slow start',
      async () => (await at.script('systemctl is-active slow || true')) === 'activating',
      {
        within: 20_000,
      },
    )
    await at.script(`kill -STOP ${agent}`)
    await runs(2)
    await at.script('touch /run/go')
    await applied
  })
  await runs(1)
  expect(await at.script('systemctl is-active slow')).toBe('active')
  expect(await at.agentPid()).not.toBe(agent)
  expect(await at.script('journalctl -u hyperkube-agent')).toContain('Watchdog timeout')
  expect(await at.processes(names)).toBe(was)
  await at.script(`rm -r ${drop}; systemctl daemon-reload; systemctl restart hyperkube-agent`)
})

test('an older hyperkube works with the newer agent, and leaves it as it is', async () => {
  const [was, agent] = [await at.processes(names), await at.agentPid()]
  await at.script('systemctl stop slow')
  await command(older, async (session, crew) => {
    expect(crew.agents.get('h1')).toBe(newer.version)
    await apply(session, crew)
  })
  // It left the plan.
  expect(await at.script('systemctl list-units --all --plain --no-legend slow.service')).toBe('')
  expect([await at.current(), await at.agentPid()]).toEqual([directoryOf(newer), agent])
  // Nor is there anything left of a release that never came to anything.
  expect(await at.releases()).toEqual([directoryOf(newer)])
  expect(await at.processes(names)).toBe(was)
})

test('one that is too old for it says so', async () => {
  const { missing } = await meet(at.host, { ...older, version: '0.0.9-aaaaaaaa' }, { signal })
  expect(missing.get('h1')).toMatchObject({ code: 'AGENT_TOO_NEW', host: 'h1' })
  expect(await at.current()).toBe(directoryOf(newer))
})

test('a reset through the agent leaves the host as it was', async () => {
  await command(newer, async (session) => resetHost(session, claim, () => undefined))
  await until(
    'the agent to be gone',
    async () =>
      (await at.script('systemctl list-units --all --plain --no-legend hyperkube-agent.service')) === '',
    { within: 10_000 },
  )
  expect(await at.script('ls -d /run/hyperkube 2>/dev/null || true')).toBe('')
  expect(await snapshot(at.host)).toEqual(before)
})

test('a power cut does not leave a host with an agent that does not answer', async () => {
  await command(older, apply)
  const mute = '#!/bin/sh\n[ "$1" = agent ] || exit 1\nsystemd-notify READY=1\nexec sleep infinity\n'
  const silent = await imposter('0.3.0', directory, mute)
  const operator = new AbortController()
  const met = meet(at.host, silent, { trial: 3000, signal: operator.signal }).catch(() => undefined)
  await until('the new agent to be there', async () => (await at.current()) === directoryOf(silent), {
    within: 20_000,
  })
  await at.host.powerCut()
  operator.abort()
  await met
  await lab.start('h1')
  await until('the former agent to answer', async () => at.answers(), { within: 30_000 })
  await until('the end of the trial', async () => (await at.trial()) === '', { within: 10_000 })
  expect(await at.current()).toBe(directoryOf(older))
})
