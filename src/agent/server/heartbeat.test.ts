import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requestHello, runHeartbeat, type Supervisor, systemdSupervisor } from './heartbeat.ts'

interface BeatOptions {
  readonly timeoutMs?: number
  readonly isBusy?: () => boolean
}

/** Runs the heartbeat until all results are used. Each result is the outcome of one check. */
async function beats(
  results: readonly (() => Promise<void>)[],
  { timeoutMs = 30, isBusy = () => false }: BeatOptions = {},
) {
  const [notified, complaints]: [string[], string[]] = [[], []]
  const stop = new AbortController()
  let checks = 0
  const supervisor: Supervisor = {
    watchdogTimeoutMs: timeoutMs,
    notify: async (variables) => void notified.push(variables.join(' ')),
  }
  await runHeartbeat({
    supervisor,
    async checkAgent() {
      const result = results[checks++]
      if (checks === results.length) stop.abort()
      await result?.()
    },
    isBusy,
    log: (text) => void complaints.push(text),
    signal: stop.signal,
  })
  return { notified, complaints }
}

const succeed = async (): Promise<void> => undefined
const fail = async (): Promise<void> => Promise.reject(new Error('no agent listens'))
const alive = 'WATCHDOG=1 WATCHDOG_USEC=30000'

test('the supervisor is notified that the agent is ready, and then that it is alive', async () => {
  expect(await beats([succeed, succeed])).toEqual({ notified: ['READY=1', alive, alive], complaints: [] })
})

test('after four timeouts with failed checks, the supervisor is not notified until a check succeeds', async () => {
  const { notified, complaints } = await beats([...Array.from({ length: 14 }, () => fail), succeed, succeed])
  // Twelve beats cover four timeouts. The supervisor restarts the agent at the end of the fifth timeout.
  expect(notified).toEqual(['READY=1', ...Array.from({ length: 12 }, () => alive), alive])
  expect(complaints).toHaveLength(14)
  expect(complaints[0]).toBe('the agent does not respond to its own check: no agent listens')
})

test('a check that gets no response delays no notification', async () => {
  const order: string[] = []
  const silent = async (deadline: AbortSignal): Promise<void> => {
    await new Promise((resolve) => deadline.addEventListener('abort', resolve))
    order.push('check failed')
    throw new Error('timed out')
  }
  const stop = new AbortController()
  await runHeartbeat({
    supervisor: {
      watchdogTimeoutMs: 30,
      async notify([variable = '']) {
        order.push(variable)
        if (order.length === 4) stop.abort()
      },
    },
    checkAgent: silent,
    isBusy: () => false,
    log: () => undefined,
    signal: stop.signal,
  })
  expect(order.slice(0, 4)).toEqual(['READY=1', 'WATCHDOG=1', 'check failed', 'WATCHDOG=1'])
})

test('the watchdog timeout is five times longer during a run', async () => {
  const runs = [true, false]
  const { notified } = await beats([succeed, succeed], { isBusy: () => runs.shift() ?? false })
  expect(notified).toEqual(['READY=1', 'WATCHDOG=1 WATCHDOG_USEC=150000', alive])
})

test('a lost notification does not end the heartbeat', async () => {
  const stop = new AbortController()
  const complaints: string[] = []
  let sent = 0
  await runHeartbeat({
    supervisor: {
      watchdogTimeoutMs: 30,
      async notify(variables) {
        if (variables[0] === 'READY=1') return
        if (++sent === 2) stop.abort()
        throw new Error('systemd-notify: timed out')
      },
    },
    checkAgent: succeed,
    isBusy: () => false,
    log: (text) => void complaints.push(text),
    signal: stop.signal,
  })
  expect(complaints).toEqual(Array(2).fill('systemd got no notification: systemd-notify: timed out'))
})

test('without a watchdog the agent is not checked', async () => {
  const notified: string[] = []
  await runHeartbeat({
    supervisor: { watchdogTimeoutMs: undefined, notify: async (some) => void notified.push(...some) },
    checkAgent: fail,
    isBusy: () => false,
    log: (text) => void notified.push(text),
    signal: new AbortController().signal,
  })
  expect(notified).toEqual(['READY=1'])
})

test('a hello request without a response fails', async () => {
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

test('the watchdog timeout comes from the environment that systemd sets', () => {
  expect(systemdSupervisor({})).toBeUndefined()
  expect(systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify' })?.watchdogTimeoutMs).toBeUndefined()
  expect(
    systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '100000000' })
      ?.watchdogTimeoutMs,
  ).toBe(100_000)
})
