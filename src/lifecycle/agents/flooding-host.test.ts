import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { countFlood, createFlood, type Flood } from '../../kit/testing/flood.ts'
import type { Remote, RunningProgram } from '../../ssh/remote.ts'
import { callHost, streamHostResponses } from '../../ssh/windows/call-host.ts'
import { readHostLog } from '../logs/host-log.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { AgentLink } from './agent-link.ts'

const { signal } = new AbortController()
const size = 512 << 20

/** A program that writes one line of 512 MiB, and counts how often it was killed. */
function buildProgram({ stream: stdout }: Pick<Flood, 'stream'>): RunningProgram & { kills: number } {
  const program = {
    stdin: new PassThrough().resume(),
    stdout,
    ended: new Promise<never>(() => undefined),
    kills: 0,
    kill: () => void program.kills++,
  }
  return program
}

function buildRemote(program: RunningProgram): Remote {
  const { remote } = scriptedSession('w1', {
    run: successfulRun,
    requests: [],
    remote: { open: async () => program },
  })
  if (remote === undefined) throw new Error('there is no remote')
  return remote
}

test('a line of 512 MiB from one agent is an error of that host only', async () => {
  const flood = createFlood(size)
  const program = buildProgram(flood)
  const scripted = { run: successfulRun, requests: [] }
  const flooding = scriptedSession('w1', { ...scripted, remote: { open: async () => program } })
  const healthy = scriptedSession('w2', scripted)
  const { read, memory } = await countFlood(flood, async () => {
    const results = await Promise.allSettled(
      [flooding, healthy].map(async (session) => session.request({ type: 'hello' }, 'hello')),
    )
    expect(results).toMatchObject([
      {
        reason: {
          code: 'SSH_OUTPUT_TOO_LONG',
          message: 'the agent wrote a line of more than 32 MiB and was stopped',
          host: 'w1',
          hint: 'on the host: systemctl status hyperkube-agent',
        },
      },
      { value: { version: '0.1.0' } },
    ])
  })
  expect(program.kills).toBeGreaterThan(0)
  expect(read).toBeLessThan(33 << 20)
  expect(memory).toBeLessThan(200 << 20)
})

test('the maximum length of an agent line can be set', async () => {
  const flood = createFlood(size)
  const link = new AgentLink('w1', buildProgram(flood), 'check it', 1 << 20)
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toThrow('more than 1 MiB')
  expect(flood.read()).toBeLessThan(2 << 20)
})

test('a response that is not JSON names the host', async () => {
  const stdout = new PassThrough().end('Welcome\u001B[2J to w1\n')
  const link = new AgentLink('w1', buildProgram({ stream: stdout }), 'check it')
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toMatchObject({
    code: 'AGENT_PROTOCOL_ERROR',
    message: String.raw`the agent sent an unexpected response: Welcome\u001b[2J to w1`,
    host: 'w1',
  })
})

test('a line of 512 MiB from a journal ends the log of that host', async () => {
  const flood = createFlood(size)
  const program = buildProgram(flood)
  const { read, memory } = await countFlood(flood, async () => {
    const log = readHostLog(buildRemote(program), { components: [] }, { mask: createSecretMask(), signal })
    await expect(Array.fromAsync(log)).rejects.toMatchObject({ code: 'SSH_OUTPUT_TOO_LONG', host: 'w1' })
  })
  expect(program.kills).toBeGreaterThan(0)
  expect([read < 33 << 20, memory < 200 << 20]).toEqual([true, true])
})

test('a journal that sends too many lines is stopped, in order and in reverse', async () => {
  const entry = `${JSON.stringify({ __REALTIME_TIMESTAMP: '1', MESSAGE: 'x', UNIT: 'etcd.service' })}\n`
  const options = {
    mask: createSecretMask(),
    signal,
    limits: { maxLineBytes: 1 << 20, maxReversedBytes: 1 << 20 },
  }
  const read = async (query: object): Promise<number> => {
    const stdout = new PassThrough().end(entry.repeat(50_000))
    const log = readHostLog(
      buildRemote(buildProgram({ stream: stdout })),
      { components: [], ...query },
      options,
    )
    return (await Array.fromAsync(log)).length
  }
  expect(await read({ lines: 7 })).toBe(7)
  await expect(read({ lines: 7, since: { ago: 1000 } })).rejects.toMatchObject({
    code: 'SSH_OUTPUT_TOO_LONG',
    host: 'w1',
  })
})

test('a line of 512 MiB from a host call is an error of that host', async () => {
  const flood = createFlood(size)
  const program = buildProgram(flood)
  const target = { host: 'w1', base: 'C:', program: 'hyperkube.exe', open: async () => program }
  const { read, memory } = await countFlood(flood, async () => {
    await expect(callHost(target, { type: 'inspect' }, 'done', signal)).rejects.toMatchObject({
      code: 'SSH_OUTPUT_TOO_LONG',
      host: 'w1',
    })
  })
  expect(program.kills).toBeGreaterThan(0)
  expect([read < 33 << 20, memory < 200 << 20]).toEqual([true, true])
  const smaller = { ...target, open: async () => buildProgram(createFlood(size)) }
  const responses = streamHostResponses(smaller, { type: 'inspect' }, signal, 1 << 20)
  await expect(Array.fromAsync(responses)).rejects.toThrow('more than 1 MiB')
})
