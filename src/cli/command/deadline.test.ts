import { once } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { withDeadline } from './deadline.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

afterEach(() => void vi.useRealTimers())

const neverAborted = new AbortController().signal
const waitForAbort = async (signal: AbortSignal): Promise<never> => {
  if (!signal.aborted) await once(signal, 'abort')
  throw new Error('stopped', { cause: signal.reason })
}

test('a task that ends before the deadline keeps its result or its error', async () => {
  expect(await withDeadline(60_000, neverAborted, async () => 'done')).toBe('done')
  expect(await withDeadline(undefined, neverAborted, async (signal) => signal)).toBe(neverAborted)
  const failure = new Error('mine')
  await expect(withDeadline(60_000, neverAborted, async () => Promise.reject(failure))).rejects.toBe(failure)
})

test('a task that takes longer than the deadline is aborted with TIMEOUT and a hint', async () => {
  await expect(withDeadline(1, neverAborted, waitForAbort)).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'the command did not end within 1 ms',
    hint: expect.stringContaining('--timeout'),
  })
})

test('an interrupt keeps its own error', async () => {
  await expect(withDeadline(60_000, AbortSignal.abort(), waitForAbort)).rejects.toThrow('stopped')
})

const cluster = buildClusterFile('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')

test('a command that takes longer than --timeout fails with exit code 1', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const hang = async (_url: string, _limit: number, signal: AbortSignal): Promise<never> => {
    vi.advanceTimersByTime(300_000)
    return waitForAbort(signal)
  }
  const fetcher = { text: hang, sha256: hang }
  const late = await runHyperkube('lock --timeout 5m', { 'cluster.yml': cluster }, { fetcher })
  expect(late).toMatchObject({ code: 1, stdout: '' })
  expect(late.stderr).toContain(
    'TIMEOUT: the command did not end within 5 min 00 s\n  → run the same command with a longer --timeout',
  )
  expect(late.files.size).toBe(1)
})

test.each(['soon', '0s', '30', '999h', '-1s'])('--timeout %s is a usage error', async (text) => {
  expect(await runHyperkube(`--timeout ${text} validate`)).toMatchObject({ code: 2, stdout: '' })
})
