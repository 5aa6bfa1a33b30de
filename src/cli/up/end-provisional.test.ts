import { expect, test } from 'vitest'
import { formatNotice } from '../text/notice-text.ts'
import { exitCodeByStatus } from '../run/run-action.ts'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { scriptedSession } from '../../lifecycle/testing/scripted-agent.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { createUpHarness } from './testing/up-harness.ts'
import { endProvisionalChange } from '../../actions/provisional.ts'

const { inputs } = await createUpHarness()
const change = {
  id: '22222222-2222-4222-8222-222222222222',
  plan: 'c'.repeat(64),
  deadline: '2026-11-15T12:10:00.000Z',
  rollbackDelayMs: 0,
}
const provisional: HostProvisionalChange = { ...change, state: 'provisional' }
const rolledBack: HostProvisionalChange = { ...change, state: 'rolled-back', at: '2026-11-15T12:12:03.000Z' }

interface EndSetup {
  readonly action: 'confirm' | 'rollback'
  readonly changes: Readonly<Record<string, HostProvisionalChange>>
  readonly unreachable?: readonly string[]
  readonly respond?: (request: AgentRequest['body']) => AgentResponse['body'] | undefined
}

async function endChange({ action, changes, unreachable = [], respond = () => undefined }: EndSetup) {
  const requests: AgentRequest['body'][] = []
  const messages: string[] = []
  const names = ['cp1', 'w1', 'w2'].filter((name) => !unreachable.includes(name))
  const noScript = async function* (): AsyncGenerator<never> {}
  const buildError = (host: string): HyperkubeError =>
    new HyperkubeError('SSH_UNREACHABLE', 'no answer', { host })
  const { status, result, hosts } = await endProvisionalChange({
    action,
    context: createInMemoryContext({}).context,
    inputs,
    connected: {
      sessions: new Map(
        names.map((name) => [name, scriptedSession(name, { run: noScript, requests, respond })]),
      ),
      agents: new Map(),
      unreachable: new Map(unreachable.map((host) => [host, buildError(host)])),
      restores: new Map(),
      provisionalChanges: new Map(Object.entries(changes)),
      close: async () => undefined,
    },
    run: {
      emit: () => undefined,
      show: (notice) => void messages.push(formatNotice(notice, (_colour, text) => text)),
    },
    forceUnlock: false,
    deferAbort: () => undefined,
  })
  const types = requests.map(({ type }) => type)
  return {
    code: exitCodeByStatus[status],
    outcome: result.outcome,
    hosts,
    requests,
    types,
    output: messages.join(''),
  }
}

test('only hosts with a provisional change get the request, under the operator lock', async () => {
  const confirmed = await endChange({
    action: 'confirm',
    changes: { cp1: provisional, w1: provisional, w2: rolledBack },
  })
  expect(confirmed).toMatchObject({ code: 0, outcome: 'done', hosts: ['cp1', 'w1'] })
  expect(confirmed.types.filter((type) => type === 'confirm-provisional')).toHaveLength(2)
  expect(confirmed.types.indexOf('claim')).toBeLessThan(confirmed.types.indexOf('confirm-provisional'))
  expect(confirmed.types.at(-1)).toBe('release')
  const rolledBackNow = await endChange({
    action: 'rollback',
    changes: { w1: provisional },
    respond: (request) => (request.type === 'clock' ? { type: 'clock', time: 0 } : undefined),
  })
  expect(rolledBackNow.requests.find(({ type }) => type === 'move-provisional')).toMatchObject({
    id: change.id,
    deadline: '1970-01-01T00:00:00.000Z',
  })
})

test('hosts that already rolled back are listed, and with unreachable hosts the exit code is 3', async () => {
  const alreadyRolledBack = await endChange({
    action: 'confirm',
    changes: { cp1: provisional },
    respond: (request) =>
      request.type === 'confirm-provisional' ? { type: 'provisional', provisional: rolledBack } : undefined,
  })
  expect(alreadyRolledBack).toMatchObject({
    code: 3,
    hosts: [],
    output: expect.stringContaining('already rolled back: cp1;'),
  })
  expect(
    await endChange({ action: 'confirm', changes: { cp1: provisional }, unreachable: ['w2'] }),
  ).toMatchObject({ code: 3 })
})

test.each([['cp1', 'w1', 'w2'], ['w2']])(
  'if %s is unreachable, ending a change without known pending changes fails',
  async (...unreachable) => {
    for (const action of ['confirm', 'rollback'] as const)
      expect(await endChange({ action, changes: {}, unreachable })).toMatchObject({
        code: 1,
        outcome: 'failed',
        types: [],
        output: '',
      })
  },
)

test('confirming a rolled back change is an error; without any change both actions succeed', async () => {
  expect(await endChange({ action: 'confirm', changes: { w1: rolledBack } })).toMatchObject({
    code: 1,
    outcome: 'failed',
  })
  for (const action of ['confirm', 'rollback'] as const) {
    const { code, types } = await endChange({ action, changes: {} })
    expect({ code, types }).toEqual({ code: 0, types: [] })
  }
})
