import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askHello, heartbeat } from './heartbeat.ts'
import type { Supervisor } from './supervisor.ts'
import { systemdSupervisor } from './supervisor.ts'

/** Beats until it was asked so often; each answer is what asking comes to. */
async function beats(patience: number | undefined, answers: readonly (() => Promise<void>)[]) {
  const [told, complaints]: [string[], string[]] = [[], []]
  const stop = new AbortController()
  let asked = 0
  const supervisor: Supervisor = { patience, tell: async (state) => void told.push(state) }
  await heartbeat({
    supervisor,
    async ask() {
      const answer = answers[asked++]
      if (asked === answers.length) stop.abort()
      await answer?.()
    },
    complain: (text) => void complaints.push(text),
    signal: stop.signal,
  })
  return { told, complaints }
}

const well = async (): Promise<void> => undefined
const unwell = async (): Promise<void> => Promise.reject(new Error('no agent listens'))

test('it is told that the agent is there, and then that it lives', async () => {
  expect(await beats(100, [well, well])).toEqual({
    told: ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1'],
    complaints: [],
  })
})

test('an agent that does not answer itself gives no sign of life, until it does again', async () => {
  expect(await beats(100, [well, unwell, well])).toEqual({
    told: ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1'],
    complaints: ['it does not answer itself: no agent listens'],
  })
})

test('nobody is asked where nobody waits', async () => {
  expect(await beats(undefined, [])).toEqual({ told: ['READY=1'], complaints: [] })
})

test('an answer that does not come is none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'heartbeat-'))
  const path = join(directory, 'agent.sock')
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => void silent.listen(path, resolve))
  try {
    await expect(askHello(path, AbortSignal.timeout(20))).rejects.toThrow(/aborted|no agent listens/)
    await expect(askHello(join(directory, 'none'), AbortSignal.timeout(1000))).rejects.toThrow(
      'no agent listens',
    )
  } finally {
    silent.close()
    await rm(directory, { recursive: true })
  }
})

test('systemd says how long it waits, and a person does not', () => {
  expect(systemdSupervisor({})).toBeUndefined()
  expect(systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify' })?.patience).toBeUndefined()
  expect(
    systemdSupervisor({ NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '100000000' })?.patience,
  ).toBe(100_000)
})
