import { expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import { type ScriptedAgent, scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { acquireOperatorLock } from './hold-operator-lock.ts'
import type { Session } from './session.ts'

/** A host whose agent answers once, and then has removed itself. */
function hostWithoutAgent(name: string): Session {
  let isKnown = false
  const respond: ScriptedAgent['respond'] = () => {
    if (isKnown) return { type: 'refused', code: 'AGENT_NOT_THERE', message: 'none there' }
    isKnown = true
    return undefined
  }
  return scriptedSession(name, { run: successfulRun, requests: [], respond })
}

const options = {
  controlPlanes: 3,
  holder: 'ana',
  force: false,
  isGone: () => false,
}

test('the lock needs no answer of hosts whose agents have removed themselves since the connection', async () => {
  const requests: AgentRequest['body'][] = []
  const granters = ['cp1', 'cp2'].map((name) => scriptedSession(name, { run: successfulRun, requests }))
  const missing = [hostWithoutAgent('cp3'), hostWithoutAgent('w1')] as const
  const lock = await acquireOperatorLock({
    ...options,
    granters: [...granters, missing[0]],
    others: [missing[1]],
  })
  await lock.release()
  expect(lock.claim).toEqual({ holder: 'ana', generation: 1 })
  expect(requests.filter(({ type }) => type === 'claim')).toHaveLength(2)
})

test('the lock still needs a majority of the control planes', async () => {
  const granters = [
    scriptedSession('cp1', { run: successfulRun, requests: [] }),
    hostWithoutAgent('cp2'),
    hostWithoutAgent('cp3'),
  ]
  await expect(acquireOperatorLock({ ...options, granters, others: [] })).rejects.toMatchObject({
    code: 'AGENT_NOT_THERE',
  })
})

test('a rollback gets the lock after the agent of the only control plane has removed itself', async () => {
  const requests: AgentRequest['body'][] = []
  const lock = await acquireOperatorLock({
    ...options,
    controlPlanes: 1,
    allowMissing: true,
    granters: [hostWithoutAgent('cp1')],
    others: [scriptedSession('w1', { run: successfulRun, requests })],
  })
  await lock.release()
  expect(requests.filter(({ type }) => type === 'claim')).toHaveLength(1)
})

test.each(['cp3', 'w1'])(
  'a full disk of %s is reported, and the lock of the others is released',
  async (full) => {
    const requests: AgentRequest['body'][] = []
    const respond: ScriptedAgent['respond'] = ({ type }) =>
      type === 'claim' ? { type: 'refused', code: 'APPLY_DISK_FULL', message: 'the disk is full' } : undefined
    const connect = (name: string): Session =>
      scriptedSession(name, { run: successfulRun, requests, ...(name === full ? { respond } : {}) })
    await expect(
      acquireOperatorLock({
        ...options,
        granters: ['cp1', 'cp2', 'cp3'].map(connect),
        others: [connect('w1')],
      }),
    ).rejects.toMatchObject({ code: 'APPLY_DISK_FULL', host: full })
    expect(requests.filter(({ type }) => type === 'release')).toHaveLength(4)
  },
)
