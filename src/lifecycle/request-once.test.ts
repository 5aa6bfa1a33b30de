import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Remote } from '../ssh/remote.ts'
import { askOnce } from './request-once.ts'
import { scriptedSession, works } from './testing/scripted-agent.ts'

const { signal } = new AbortController()

function remoteOf(open?: Remote['open']): Remote {
  const { remote } = scriptedSession('cp1', {
    run: works,
    asked: [],
    ...(open === undefined ? {} : { remote: { open } }),
  })
  if (remote === undefined) throw new Error('no way to it')
  return remote
}

test('the answer is told', async () => {
  expect(await askOnce(remoteOf(), { type: 'hello' }, 'hello', signal)).toMatchObject({ version: '0.1.0' })
})

test('an agent that refuses is heard', async () => {
  await expect(askOnce(remoteOf(), { type: 'health' }, 'health', signal)).rejects.toMatchObject({
    code: 'TEST',
  })
})

test('an agent that hangs is not waited for', async () => {
  let isKilled = false
  const remote = remoteOf(async () => ({
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    ended: new Promise(() => undefined),
    kill: () => (isKilled = true),
  }))
  await expect(askOnce(remote, { type: 'hello' }, 'hello', signal, 20)).rejects.toMatchObject({
    code: 'TIMED_OUT',
    host: 'cp1',
  })
  expect(isKilled).toBe(true)
})
