import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import type { EventBody } from '../agents/event-stream.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { resetHost } from './remove-host.ts'

const claim = { holder: 'ana', generation: 1 }
const op: Op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'remove',
  target: 'service',
  name: 'etcd.service',
  because: [],
}

async function reset(...events: readonly EventBody[]) {
  const requests: AgentRequest['body'][] = []
  const emitted: unknown[] = []
  async function* script(): AsyncGenerator<EventBody> {
    yield* events
    // The agent no longer exists at this point, so the test hangs if resetHost waits for more events.
    await new Promise(() => undefined)
  }
  const session = scriptedSession('cp1', { run: script, requests })
  const error: unknown = await resetHost(
    session,
    claim,
    (what, about) => void emitted.push([what.type, about]),
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { error, emitted, types: requests.map(({ type }) => type) }
}

test('a reset ends with the run-ended event, without further requests to the removed agent', async () => {
  const { error, emitted, types } = await reset(
    { type: 'run-started', command: 'reset' },
    { type: 'op-ended', op, result: { outcome: 'done' } },
    { type: 'run-ended', result: { outcome: 'done' } },
  )
  expect(error).toBeUndefined()
  expect(emitted).toEqual([['op-ended', { host: 'cp1', component: 'etcd' }]])
  expect(types).toEqual(['hello', 'reset', 'attach'])
})

test('a failed reset throws the error of the host', async () => {
  const failure = { code: 'APPLY_OP_FAILED', message: 'mounts could not be taken away', hint: 'inspect' }
  const { error } = await reset({ type: 'run-ended', result: { outcome: 'failed', failure } })
  expect(error).toMatchObject({ ...failure, host: 'cp1' })
})

test('an interrupted reset is an error', async () => {
  const { error } = await reset({ type: 'run-ended', result: { outcome: 'interrupted' } })
  expect(error).toMatchObject({ code: 'AGENT_INTERRUPTED', host: 'cp1' })
})
