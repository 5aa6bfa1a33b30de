import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requestHello, runHeartbeat, type Supervisor, systemdSupervisor } from './heartbeat.ts'

/** Runs the heartbeat until all results are used. Each result is the outcome of one check. */
async function beats(timeoutMs: number | undefined, results: readonly (() => Promise<void>)[]) {
  const [notified, complaints]: [string[], string[]] = [[], []]
  const stop = new AbortController()
  let checks = 0
  const supervisor: Supervisor = {
    watchdogTimeoutMs: timeoutMs,
    notify: async (state) => void notified.push(state),
  }
  await runHeartbeat({
    supervisor,
    async checkAgent() {
      const result = results[checks++]
      if (checks === results.length) stop.abort()
      await result?.()
    },
    log: (text) => void complaints.push(text),
    signal: stop.signal,
  })
  return { notified, complaints }
}

const succeed = async (): Promise<void> => undefined
const fail = async (): Promise<void> => Promise.reject(new Error('no agent listens'))

test('the supervisor is notified that the agent is ready, and then that it lives', async () => {
  expect(await beats(100, [succeed, succeed])).toEqual({
    notified: ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1'],
    complaints: [],
  })
})

test('an agent that does not respond sends no notification, until it does again', async () => {
  expect(await beats(100, [succeed, fail, succeed])).toEqual({
    notified: ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1'],
    complaints: ['the agent does not respond to its own check: no agent listens'],
  })
})

test('without a watchdog the agent is not checked', async () => {
  expect(await beats(undefined, [])).toEqual({ notified: ['READY=1'], complaints: [] })
})

test('a missing response is a failure', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'heartbeat-'))
  const path = join(directory, 'agent.sock')
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => void silent.listen(path, resolve))
  try {
    await expect(requestHello(path, AbortSignal.timeout(20))).rejects.toThrow(/aborted|no agent listens/)
    await expect(requestHello(join(directory, 'none'), AbortSignal.timeout(1000))).rejects.toThrow(
      'no agent listens',
    )
  } finally {
    silent.close()
    await rm(directory, { recursive: true })
  }
})

test('systemd sets a timeout, and a person does not', () => {
  expect(systemdSupervisor({})).toBeUndefined()
  expect(systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify' })?.watchdogTimeoutMs).toBeUndefined()
  expect(
    systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '100000000' })
      ?.watchdogTimeoutMs,
  ).toBe(100_000)
})
