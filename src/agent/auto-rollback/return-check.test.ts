import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import type { HeldOperatorLock } from '../operator-lock/operator-lock.ts'
import { ledgerPath } from '../records/ledger.ts'
import { RunEventLog } from '../runs/run-event-log.ts'
import type { TickResult } from '../runs/run-loop.ts'
import { Runs } from '../runs/runs.ts'
import { createReturnCheck } from './return-check.ts'

const minute = 60_000

test('unfinished moves return two minutes after the last operator, and are looked for after each change', async () => {
  await using host = await createTemporaryHost()
  const directory = await mkdtemp(join(tmpdir(), 'return-'))
  const ledger = host.toLocalPath(ledgerPath(host))
  await mkdir(dirname(ledger), { recursive: true })
  await writeFile(ledger, '{}')
  let [unfinished, returned, reads] = [['etcd'], 0, 0]
  let held: HeldOperatorLock | undefined
  const runs = new Runs('a', new RunEventLog(directory), () => host.clock.now())
  const tick = createReturnCheck({
    host,
    runs,
    claims: {
      get held() {
        return held
      },
    },
    work: {
      activeRestore: async () => undefined,
      unfinishedMoves: async () => {
        reads++
        return unfinished
      },
      returnUnfinishedMoves: async () => {
        returned++
        unfinished = []
      },
    },
    log: () => undefined,
    signal: new AbortController().signal,
  })
  const check = async (): Promise<TickResult> => {
    const result = await tick()
    // A run emits its end before it is removed from `runs`.
    await pollUntil('the run to be over', async () => !runs.busy, { timeoutMs: 5000, intervalMs: 1 })
    return result
  }
  try {
    host.clock.time += minute
    held = { holder: 'ana', generation: 1, lastHeartbeat: host.clock.time, released: false }
    await check()
    host.clock.time += 1.5 * minute
    await check()
    expect({ returned, reads }).toEqual({ returned: 0, reads: 0 })
    host.clock.time += 2 * minute
    expect(await check()).toEqual({ nextMs: 30_000, problems: [] })
    expect(returned).toBe(1)
    await check()
    await check()
    expect({ returned, reads }).toEqual({ returned: 1, reads: 2 })
    unfinished = ['kubelet']
    await rm(ledger)
    await writeFile(ledger, '{}')
    await check()
    expect(returned).toBe(2)
  } finally {
    await rm(directory, { recursive: true })
  }
})
