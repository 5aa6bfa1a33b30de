import { open, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { windowsWorker, windowsWorld } from '../../../../lab/windows/simulator/planned-worker.ts'
import { largestLog, logRotation } from './rotate-logs.ts'

test('a log that its program never ends is kept once, and goes on at its beginning', async () => {
  await using worker = await windowsWorker(await windowsWorld())
  const { host, machine, plan, place } = worker
  const log = String.raw`C:\hyperkube\logs\containerd.log`
  await host.files.makeDirectory(String.raw`C:\hyperkube\logs`, { uid: 0, gid: 0, mode: 0o700 })
  // As containerd has it open all the time.
  await using file = await open(place(log), 'a')
  const rotate = logRotation(host)
  await file.write('a'.repeat(largestLog))
  await rotate(plan)
  expect((await host.files.stat(log))?.size).toBe(largestLog)
  await file.write('b')
  await rotate(plan)
  // It has just looked.
  expect((await host.files.stat(log))?.size).toBe(largestLog + 1)
  advance(machine, 60_000)
  await rotate(plan)
  await file.write('next')
  expect(await readFile(place(log), 'utf8')).toBe('next')
  expect((await host.files.read(`${log}.1`))?.toString().endsWith('ab')).toBe(true)
  expect((await host.files.stat(`${log}.1`))?.mode).toBe(0o600)
})
