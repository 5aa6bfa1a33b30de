import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventFormat } from '../../contract/event.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { toEvents } from '../render/testing/fixtures.ts'
import { failedRun } from '../render/testing/recordings.ts'
import type { CommandLogStore } from '../command/command.ts'
import { createCommandLogStore } from './command-log.ts'

let directory: string
let logs: CommandLogStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-run-log-'))
  logs = createCommandLogStore(() => join(directory, 'state'))
})
afterEach(async () => rm(directory, { recursive: true }))

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number, 12, 30))

test('every event is written at once and can be parsed again', async () => {
  const log = logs.open('shop', 'up', day(1))
  const events = toEvents(failedRun)
  for (const event of events) log.onEvent(event)
  expect(log.path).toBe(join(directory, 'state/hyperkube/runs/shop/2026-01-01T12-30-00.000Z-up.ndjson'))
  const text = await readFile(log.path ?? '', 'utf8')
  const read = text
    .trimEnd()
    .split('\n')
    .map((line) => readVersioned(eventFormat, JSON.parse(line)))
  expect(read).toEqual(events)
  log.close()
  log.close()
})

test('only the owner can read the log and its directories', async () => {
  const log = logs.open('shop', 'up', day(1))
  log.close()
  const modes = [
    'hyperkube',
    'hyperkube/runs',
    'hyperkube/runs/shop',
    log.path?.slice(`${directory}/state/`.length) ?? '',
  ]
  const found = await Promise.all(
    modes.map(async (path) => (await stat(join(directory, 'state', path))).mode & 0o777),
  )
  expect(found).toEqual([0o700, 0o700, 0o700, 0o600])
})

test('the newest 50 logs of a cluster are kept; other clusters and other files stay', async () => {
  for (let number = 1; number <= 60; number++) logs.open('shop', 'up', day(number)).close()
  const other = logs.open('other', 'up', day(1))
  other.close()
  const shop = join(directory, 'state/hyperkube/runs/shop')
  await writeFile(join(shop, 'notes.txt'), '')
  logs.open('shop', 'up', day(61)).close()
  const names = (await readdir(shop)).toSorted()
  expect(names).toHaveLength(51)
  expect(names[0]).toBe('2026-01-12T12-30-00.000Z-up.ndjson')
  expect(names.at(-1)).toBe('notes.txt')
  expect(await readFile(other.path ?? '', 'utf8')).toBe('')
})

test('a log that cannot be written reports the problem and ignores events', async () => {
  await writeFile(join(directory, 'state'), 'a file')
  const log = logs.open('shop', 'up', day(1))
  expect(log).toMatchObject({ path: undefined, problem: expect.stringContaining('state') })
  for (const event of toEvents(failedRun)) log.onEvent(event)
  log.close()
  const storeWithoutHome = createCommandLogStore(() => {
    throw new Error('no such user')
  })
  expect(storeWithoutHome.open('shop', 'up', day(1)).problem).toBe('no such user')
})
