import { open, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { createWindowsWorker, createSharedFixture } from '../../../../lab/windows/simulator/planned-worker.ts'
import { maxLogBytes, createLogRotation } from './rotate-logs.ts'

test('a log that its program keeps open is copied and truncated, and one copy is kept', async () => {
  await using worker = await createWindowsWorker(await createSharedFixture())
  const { host, machine, plan, toLocalPath } = worker
  const log = String.raw`C:\hyperkube\logs\containerd.log`
  await host.files.makeDirectory(String.raw`C:\hyperkube\logs`, { uid: 0, gid: 0, mode: 0o700 })
  // Like containerd, the test keeps the log file open.
  await using file = await open(toLocalPath(log), 'a')
  const rotate = createLogRotation(host)
  await file.write('a'.repeat(maxLogBytes))
  await rotate(plan)
  expect((await host.files.stat(log))?.size).toBe(maxLogBytes)
  await file.write('b')
  await rotate(plan)
  // Less than one interval has passed since the last rotation, so the log is not rotated.
  expect((await host.files.stat(log))?.size).toBe(maxLogBytes + 1)
  advance(machine, 60_000)
  await rotate(plan)
  await file.write('next')
  expect(await readFile(toLocalPath(log), 'utf8')).toBe('next')
  expect((await host.files.read(`${log}.1`))?.toString().endsWith('ab')).toBe(true)
  expect((await host.files.stat(`${log}.1`))?.mode).toBe(0o600)
})
