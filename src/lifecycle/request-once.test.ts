import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Remote } from '../ssh/remote.ts'
import { requestOnce } from './request-once.ts'
import { scriptedSession, successfulRun } from './testing/scripted-agent.ts'

const { signal } = new AbortController()

function buildRemote(open?: Remote['open']): Remote {
  const { remote } = scriptedSession('cp1', {
    run: successfulRun,
    requests: [],
    ...(open === undefined ? {} : { remote: { open } }),
  })
  if (remote === undefined) throw new Error('no way to it')
  return remote
}

test('returns the response', async () => {
  expect(await requestOnce(buildRemote(), { type: 'hello' }, 'hello', signal)).toMatchObject({
    version: '0.1.0',
  })
})

test('throws the error of an agent that refuses', async () => {
  await expect(requestOnce(buildRemote(), { type: 'health' }, 'health', signal)).rejects.toMatchObject({
    code: 'TEST',
  })
})

test('an agent that hangs is not waited for', async () => {
  let isKilled = false
  const remote = buildRemote(async () => ({
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    ended: new Promise(() => undefined),
    kill: () => (isKilled = true),
  }))
  await expect(requestOnce(remote, { type: 'hello' }, 'hello', signal, 20)).rejects.toMatchObject({
    code: 'TIMED_OUT',
    host: 'cp1',
  })
  expect(isKilled).toBe(true)
})
